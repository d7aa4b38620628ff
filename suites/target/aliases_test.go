package target

import (
	"errors"
	"strings"
	"testing"
)

func TestAliasesAndFinalAreReadStrictly(t *testing.T) {
	parse := func(old, new string) (*Manifest, error) {
		return Parse("m.yaml", []byte(strings.Replace(string(Reference(nil).Source()), old, new, 1)), nil)
	}
	m, err := parse("", "")
	if err != nil || m.Aliases["another"] != "other" || m.Session.Final != FinalIgnore {
		t.Fatalf("%v: aliases %v, final %q", err, m.Aliases, m.Session.Final)
	}
	if m, err = parse("kind: table", "kind: table, final: release"); err != nil || m.Session.Final != FinalRelease {
		t.Errorf("final: release is %v", err)
	}
	for _, c := range []struct{ name, old, new, problem string }{
		{"an alias of no model", "another: other", "another: others", "none of the models"},
		{"an alias that is a model", "another: other", "other: mock", "is a model itself"},
		{"a list of aliases", "aliases: {", "aliases: [", ""},
		{"an unknown word", "kind: table", "kind: table, final: maybe", "final"},
		{"release without a table", "kind: table", "kind: hash, final: release", "only a table"},
	} {
		_, err := parse(c.old, c.new)
		var bad *ManifestError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)
		}
	}
}
