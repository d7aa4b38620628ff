package mutants

import (
	"strings"
)

// AFFNumericIDs reads ids as numbers.
func (Catalogue) AFFNumericIDs() Mutant {
	return rekey("aff/numeric-ids", "session ids of digits alone are read as numbers, so that zeros at their front do not count", []string{"AFF-002/distinct-ids"},
		func(id string) string {
			if strings.Trim(id, "0123456789") != "" {
				return id
			}
			return strings.TrimLeft(id, "0")
		})
}

// AFFCutsIDs reads ids as the paths of URLs.
func (Catalogue) AFFCutsIDs() Mutant {
	return rekey("aff/cuts-ids", "session ids count up to the first hash alone", []string{"AFF-002/distinct-ids"},
		func(id string) string { before, _, _ := strings.Cut(id, "#"); return before })
}

// AFFSqueezesIDs takes two blanks for one.
func (Catalogue) AFFSqueezesIDs() Mutant {
	return rekey("aff/squeezes-blanks", "several blanks in a session id count as one", []string{"AFF-002/distinct-ids"},
		func(id string) string { return strings.Join(strings.Fields(id), " ") })
}
