package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites"
)

// ran runs a command line inside the test.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestTheJSONListHasExactlyThePromisedKeys(t *testing.T) {
	code, out, errs := ran(t, "list", "--json")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	var doc map[string][]map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(doc) != 1 || len(doc["clauses"]) != len(cat.Spec.Clauses) {
		t.Fatalf("%d keys and %d clauses, want one and %d", len(doc), len(doc["clauses"]), len(cat.Spec.Clauses))
	}
	want := []string{"cases", "claims", "id", "level", "mutants", "profile", "text", "untestable"}
	cases := 0
	for _, c := range doc["clauses"] {
		if got := slices.Sorted(maps.Keys(c)); !slices.Equal(got, want) {
			t.Fatalf("%v: keys %v", c["id"], got)
		}
		for _, k := range want {
			_, text := c[k].(string)
			_, list := c[k].([]any)
			if isList := slices.Contains([]string{"cases", "claims", "mutants"}, k); list != isList || text == isList {
				t.Errorf("%v: %s is a %T", c["id"], k, c[k])
			}
		}
		n := len(c["cases"].([]any))
		cases += n
		if (n == 0) == (c["untestable"] == "") && c["level"] == "MUST" {
			t.Errorf("%v: %d cases and untestable %q", c["id"], n, c["untestable"])
		}
		if n > 0 && len(c["mutants"].([]any)) == 0 {
			t.Errorf("%v: no mutants", c["id"])
		}
	}
	if cases != len(cat.Cases) {
		t.Errorf("%d cases, want %d", cases, len(cat.Cases))
	}
}

func TestEveryNameCanBeExplained(t *testing.T) {
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	ids := cat.CaseIDs("")
	for _, c := range cat.Spec.Clauses {
		ids = append(ids, c.ID)
	}
	ids = slices.Concat(ids, cat.Spec.ClaimNames(), cat.Spec.ProfileNames())
	for _, m := range cat.Mutants {
		ids = append(ids, m.ID)
	}
	for _, id := range ids {
		code, out, errs := ran(t, "explain", id)
		if code != 0 || errs != "" || !strings.HasPrefix(out, id[:7]) && !strings.Contains(out, " "+id+"\n") {
			t.Errorf("%s: %d %s", id, code, errs)
		}
		for _, line := range strings.Split(out, "\n") {
			if len(line) > 120 {
				t.Errorf("%s: a line of %d columns: %s", id, len(line), line)
			}
		}
	}
}

func TestTheMatrixNamesEveryMutant(t *testing.T) {
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := ran(t, "list", "--matrix")
	words := strings.Fields(out)
	for _, m := range cat.Mutants {
		if !slices.Contains(words, m.ID) {
			t.Errorf("mutant %s is missing", m.ID)
		}
	}
}
