package main

import (
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/near"
)

// nearMutants lists the mutants whose names are nearest to a wrong one.
func nearMutants(cat *suites.Catalogue, name string) string {
	ids := make([]string, len(cat.Mutants))
	for i, m := range cat.Mutants {
		ids[i] = m.ID
	}
	return near.List(ids, name)
}

// names are those of everything that can be explained: areas, clauses, cases, claims,
// profiles and mutants.
func names(cat *suites.Catalogue) (ids []string) {
	for _, cl := range cat.Spec.Clauses {
		if !slices.Contains(ids, cl.Area()) {
			ids = append(ids, cl.Area())
		}
	}
	for _, cl := range cat.Spec.Clauses {
		ids = append(ids, cl.ID)
	}
	ids = slices.Concat(ids, cat.CaseIDs(""), cat.Spec.ClaimNames(), cat.Spec.ProfileNames())
	for _, m := range cat.Mutants {
		ids = append(ids, m.ID)
	}
	return ids
}

// canonical spells the name of anything that can be explained as the catalogue does,
// whatever its case; anything else stays as it is.
func canonical(cat *suites.Catalogue, name string) string {
	ids := names(cat)
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, name) }); i >= 0 {
		return ids[i]
	}
	return name
}
