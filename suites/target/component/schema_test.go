package component

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is what the tests look at in the schema.
type document struct {
	Defs map[string]json.RawMessage `json:"$defs"`
}

func read(t *testing.T) (d document) {
	t.Helper()
	if err := json.Unmarshal(Schema, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// column lists the code words in the first column of tables, below a heading of a page.
func column(t *testing.T, page, heading string) (words []string) {
	t.Helper()
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("no %q in %s", heading, page)
	}
	section, _, _ = strings.Cut(section, "\n#")
	for _, cell := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(section, -1) {
		for _, word := range strings.Split(cell[1], ", ") {
			words = append(words, strings.Trim(word, "`"))
		}
	}
	slices.Sort(words)
	return words
}

// enum lists the values of an enumeration in the schema.
func enum(t *testing.T, path ...string) (values []string) {
	t.Helper()
	var at any
	if err := json.Unmarshal(Schema, &at); err != nil {
		t.Fatal(err)
	}
	for _, p := range append([]string{"$defs"}, path...) {
		at = at.(map[string]any)[p]
	}
	for _, v := range at.([]any) {
		values = append(values, v.(string))
	}
	slices.Sort(values)
	return values
}

func TestPageSchemaAndCodeNameTheSame(t *testing.T) {
	var ops []string
	for def := range read(t).Defs {
		if op, ok := strings.CutSuffix(def, ".ok"); ok {
			ops = append(ops, op)
		}
	}
	slices.Sort(ops)
	claims := []Claim{ClaimClock, ClaimRanks, ClaimTenant, ClaimPhases, ClaimCount, ClaimBatch, ClaimSteps, ClaimConcurrency, ClaimDump,
		ClaimLifecycle, ClaimAdmission, ClaimPhysical, ClaimBarrier}
	kinds := []Kind{InvalidArgument, ResourceExhausted, Unavailable, Cancelled, Stale, Unsupported, Internal, CyclicParent, ConflictingParent, UnknownParent, UnknownAnchor}
	const page, index = "component.md", "sessionindex.md"
	pages := sorted(append(column(t, page, "## Operations"), append(column(t, index, "## Operations"), column(t, index, "## Lifecycle")...)...)...)
	own := slices.DeleteFunc(column(t, index, "## Operations"), func(w string) bool { return !strings.Contains(w, "_") })
	pages = slices.DeleteFunc(pages, func(w string) bool { return strings.Contains(w, "_") })
	states := []State{Initializer, Bound, Unpinned}
	for name, c := range map[string]struct{ page, schema, code string }{
		"operations": {fmt.Sprint(pages), fmt.Sprint(ops), fmt.Sprint(sorted(OpHello, OpNew, OpClose, OpSync, OpCancel, OpAdvance, OpSetWorkers,
			OpBatch, OpAcquire, OpQuery, OpCommit, OpRelease, OpInvalidate, OpCount, OpStore, OpMatch, OpRemove, OpClear, OpFrontiers, OpLineages, OpSize, OpDump,
			OpRegister, OpWorkerRemove, OpStoreAdmit, OpStoreApply, OpMatchAdmit, OpMatchApply, OpRemoveBegin, OpRemoveAwait, OpPhysicalSet, OpPhysicalFail, OpFlush))},
		"claims": {fmt.Sprint(column(t, page, "## Claims")), fmt.Sprint(enum(t, "claims", "items", "enum")), fmt.Sprint(sorted(claims...))},
		"kinds":  {fmt.Sprint(column(t, page, "## Errors")), fmt.Sprint(enum(t, "error", "properties", "kind", "enum")), fmt.Sprint(sorted(kinds...))},
		"states": {fmt.Sprint(column(t, page, "### Affinity")), fmt.Sprint(sorted(states...)), fmt.Sprint(sorted(states...))},
		"kinds that name a block": {fmt.Sprint(own), fmt.Sprint(enum(t, "error", "if", "properties", "kind", "enum")),
			fmt.Sprint(sorted(CyclicParent, ConflictingParent, UnknownParent, UnknownAnchor))},
	} {
		if c.page != c.schema || c.schema != c.code {
			t.Errorf("%s\n  page   %s\n  schema %s\n  code   %s", name, c.page, c.schema, c.code)
		}
	}
}

func sorted[S ~string](all ...S) []S {
	slices.Sort(all)
	return all
}

func TestTheSchemaTakesEitherDirection(t *testing.T) {
	const key = `"instance":"i","model":"m","session":"s"`
	for text, good := range map[string]bool{
		`{"id":1,"op":"sync"}`:                                                       true,
		`{"id":1,"op":"sync","args":{}}`:                                             true,
		`{"id":"a","op":"later.thing","args":{"hash":"00ff00ff00ff00ff"}}`:           true,
		`{"id":1,"op":"new","args":{"component":"kvindex","config":{"x":1}}}`:        true,
		`{"id":1,"op":"acquire","args":{` + key + `,"pin":{"rank":0}}}`:              true,
		`{"id":1,"op":"acquire","args":{` + key + `,"phase":"prefill"}}`:             true,
		`{"id":1,"op":"batch","args":{"ops":[{"op":"release","args":{"lease":0}}]}}`: true,
		`{"id":1,"ok":{"anything":["at",{"all":1}]}}`:                                true,
		`{"id":null,"error":{"kind":"internal","message":"m"}}`:                      true,

		`{"op":"sync"}`:                       false,
		`{"id":null,"op":"sync"}`:             false,
		`{"id":1.5,"op":"sync"}`:              false,
		`{"id":"","op":"sync"}`:               false,
		`{"id":1,"op":"Sync"}`:                false,
		`{"id":1,"op":"sync","x":1}`:          false,
		`{"id":1,"op":"hello"}`:               false,
		`{"id":1,"op":"sync","ok":{}}`:        false,
		`{"id":9007199254740992,"op":"sync"}`: false,
		`{"id":1,"op":"new","args":{"component":"affinity","config":{"ttl":1}}}`:                         false,
		`{"id":1,"op":"new","args":{"component":"affinity","config":{"idleTTL":"1s"}}}`:                  false,
		`{"id":1,"op":"new","args":{"component":"affinity","config":{"idleTTL":1,"atCapacity":"drop"}}}`: false,
		`{"id":1,"op":"acquire","args":{` + key + `,"pin":{}}}`:                                          false,
		`{"id":1,"op":"acquire","args":{` + key + `,"phase":"warm"}}`:                                    false,
		`{"id":1,"op":"acquire","args":{"instance":"i","session":"s"}}`:                                  false,
		`{"id":1,"op":"commit","args":{"lease":"l","target":{"rank":0}}}`:                                false,
		`{"id":1,"op":"release","args":{"lease":0}}`:                                                     false,
		`{"id":1,"op":"clock.advance","args":{"instance":"i","by":-1}}`:                                  false,
		`{"id":1,"op":"workers.set","args":{"instance":"i","workers":[{"id":"w"}]}}`:                     false,
		`{"id":1,"op":"batch","args":{"ops":[{"op":"sync"}]}}`:                                           false,
		`{"id":1,"op":"batch","args":{"ops":[{"op":"release","args":{}}]}}`:                              false,
		`{"id":1,"op":"batch","args":{"ops":[{"op":"release","args":{"lease":-1}}]}}`:                    false,
		`{}`: false,
	} {
		if err := Validate([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
		if !strings.Contains(text, `"op":`) {
			continue
		}
		if err := checkRequest([]byte(text)); (err == nil) != good { // a shorter way to the same
			t.Errorf("as a request of ours, %s: %v", text, err)
		}
	}
}

func TestAResultIsCheckedByItsOperation(t *testing.T) {
	for _, c := range []struct {
		op, ok string
		good   bool
	}{
		{OpCount, `{"sessions":0,"leases":0}`, true},
		{OpCount, `{"sessions":0}`, false},
		{OpQuery, `{"bound":false}`, true},
		{OpQuery, `{"bound":false,"target":{"worker":"w"}}`, false},
		{OpQuery, `{"bound":true}`, false},
		{OpCommit, `{}`, true},
		{OpCommit, `{"target":{"worker":"w"}}`, false},
		{"later.thing", `{"x":1}`, true},
	} {
		if err := ValidateOK(c.op, []byte(c.ok)); (err == nil) != c.good {
			t.Errorf("%s %s: %v", c.op, c.ok, err)
		}
	}
}

// Of several states only the one that an answer names is held against it.
func TestAWrongAnswerIsHeldAgainstTheStateThatItNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"state":"bound","lease":"l","target":{"worker":"w"},"traget":1}`: "additional properties 'traget' not allowed",
		`{"state":"bound","lease":"l"}`:                                    "missing property 'target'",
		`{"state":"initializer"}`:                                          "missing property 'lease'",
	} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		err := checkOK(OpAcquire, doc)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "must be") || strings.Contains(err.Error(), "oneOf") {
			t.Errorf("%s: %v; want %q and nothing of the other states", text, err, want)
		}
	}
	if err := checkOK(OpAcquire, map[string]any{"state": "bond"}); err == nil || !strings.Contains(err.Error(), "bound") || !strings.Contains(err.Error(), "unpinned") {
		t.Errorf("a state that there is not: %v; want those that there are", err)
	}
}
