package spec

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheEmbeddedSpecificationParses(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Clauses) < 20 || len(s.Claims) == 0 || len(s.Profiles) == 0 {
		t.Fatalf("got %d clauses, %d claims, %d profiles", len(s.Clauses), len(s.Claims), len(s.Profiles))
	}
	c, ok := s.Clause("RTE-001")
	if !ok || c.Level != Must || c.Profile != "routing" || len(c.Claims) != 1 || !strings.Contains(c.Text, "four workers gets between") {
		t.Fatalf("RTE-001 parsed as %+v", c)
	}
	if strings.Contains(c.Text, "Why") || strings.Contains(c.Why, "\n") {
		t.Fatalf("text and why run into each other: %q / %q", c.Text, c.Why)
	}
}

func TestABadSpecificationNamesFileAndLine(t *testing.T) {
	claims := "|claim|text|\n|---|---|\n| a.b | text |\n"
	profiles := "|p|areas|text|\n|---|---|---|\n| routing | RTE | text |\n"
	for name, tc := range map[string]struct{ area, want string }{
		"a heading without claims":        {"## RTE-001 MUST Title\n", "RTE.md:1: heading"},
		"a clause in another area's file": {"## STR-001 MUST [a.b] T\n\nText.\n\nWhy: x\n", "RTE.md:1: clause STR-001 stands in another area's file"},
		"an unknown claim":                {"\n## RTE-001 MUST [a.c] T\n\nText.\n\nWhy: x\n", "RTE.md:2: clause RTE-001 needs claim a.c"},
		"an ID given twice":               {"## RTE-001 MUST [a.b] T\n\nText.\n\nWhy: x\n\n## RTE-001 MUST [a.b] T\n\nText.\n\nWhy: x\n", "stands twice"},
		"a clause without a why":          {"## RTE-001 MUST [a.b] T\n\nText.\n", "RTE.md:1: clause RTE-001 needs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(fstest.MapFS{
				"RTE.md": {Data: []byte(tc.area)}, "claims.md": {Data: []byte(claims)}, "profiles.md": {Data: []byte(profiles)},
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
		})
	}
}
