package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var known = []string{"AFF-012", "AFF-013", "RTE-001", "STR-004"}

var knownClaims = []string{"component.affinity", "routing.models"}

const goodExpect = `# comments are welcome
apiVersion: routeproof/v1
target: HAProxy 2.6 with a stick table
default: pass
declines:
  component.affinity: it is no library
cases:
  AFF-012: {verdict: fail, why: "moves a session back: its worker returned"}
  RTE-001: {verdict: pass}
  STR-004/chunked:
    verdict: declined
    why: buffers answers
`

func TestExpectationsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.yaml")
	if err := os.WriteFile(path, []byte(goodExpect), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := LoadExpected(path, known, knownClaims)
	if err != nil {
		t.Fatal(err)
	}
	want := &Expected{File: path, Target: "HAProxy 2.6 with a stick table", Default: Wanted{Verdict: Pass}, Cases: map[string]Wanted{
		"AFF-012":         {Fail, "moves a session back: its worker returned", 8},
		"RTE-001":         {Pass, "", 9},
		"STR-004/chunked": {Declined, "buffers answers", 10},
	}, Declines: map[string]Wanted{"component.affinity": {Declined, "it is no library", 6}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := LoadExpected(path+".none", known, knownClaims); err == nil {
		t.Error("a missing file is read")
	}
}

func TestTheDefaultMayBeLeftOutAndNoCaseListed(t *testing.T) {
	for _, text := range []string{"apiVersion: routeproof/v1\ntarget: t\n", "apiVersion: routeproof/v1\ntarget: t\ncases:\n", "apiVersion: routeproof/v1\ntarget: t\ncases: {}\n"} {
		e, err := parseExpected("e.yaml", []byte(text), known, knownClaims)
		if err != nil || e.For(&CaseResult{ID: "AFF-012"}).Verdict != Pass {
			t.Errorf("%q: %v", text, err)
		}
	}
	e, err := parseExpected("e.yaml", []byte("apiVersion: routeproof/v1\ntarget: t\ndefault: declined\n"), known, knownClaims)
	if err != nil || e.For(&CaseResult{ID: "AFF-012"}).Verdict != Declined {
		t.Errorf("default: %v", err)
	}
}

func TestExpectationErrorsNameFileAndLine(t *testing.T) {
	head := "apiVersion: routeproof/v1\ntarget: t\n"
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key":               {head + "colour: red\n", `e.yaml:3: unknown key "colour"`},
		"an unknown key of a case":     {head + "cases:\n  AFF-012: {verdict: fail, why: w, until: x}\n", `e.yaml:4: case AFF-012: unknown key "until"`},
		"an unknown case":              {head + "cases:\n  AFF-099: {verdict: fail, why: w}\n", `e.yaml:4: unknown case "AFF-099"; near: AFF-0`},
		"an unknown permuted case":     {head + "cases:\n  AFF-099/x: {verdict: fail, why: w}\n", `e.yaml:4: unknown case "AFF-099/x"`},
		"an unknown verdict":           {head + "cases:\n  AFF-012: {verdict: failed, why: w}\n", `e.yaml:4: verdict: "failed" cannot be expected; use one of pass, fail`},
		"an error cannot be expected":  {head + "cases:\n  AFF-012: {verdict: error, why: w}\n", `e.yaml:4: verdict: "error" cannot be expected`},
		"a default of not-run":         {head + "default: not-run\n", `e.yaml:3: default: "not-run" cannot be expected`},
		"a default of nothing":         {head + "default:\n", `e.yaml:3: default: nothing cannot be expected`},
		"a failure without why":        {head + "cases:\n  AFF-012: {verdict: fail}\n", `e.yaml:4: case AFF-012: fail without why; say in one line`},
		"a blank why":                  {head + "cases:\n  AFF-012: {verdict: fail, why: ' '}\n", `e.yaml:4: case AFF-012: fail without why`},
		"a why of several lines":       {head + "cases:\n  AFF-012: {verdict: fail, why: \"a\\nb\"}\n", `e.yaml:4: why: want one line, found several`},
		"a case without verdict":       {head + "cases:\n  AFF-012: {why: w}\n", `e.yaml:4: case AFF-012: no verdict`},
		"a case that is a bare word":   {head + "cases:\n  AFF-012: fail\n", `e.yaml:4: case AFF-012: want keys and values, found string`},
		"a case given twice":           {head + "cases:\n  AFF-012: {verdict: pass}\n  AFF-012: {verdict: pass}\n", `AFF-012`},
		"cases as a list":              {head + "cases: [AFF-012]\n", `e.yaml:3: cases: want keys and values, found sequence`},
		"a target that is a number":    {"apiVersion: routeproof/v1\ntarget: 2.6\n", `e.yaml:2: target: want one line of text, found float; put it in quotes`},
		"no target":                    {"apiVersion: routeproof/v1\n", `e.yaml:1: no target`},
		"no apiVersion":                {"target: t\n", `e.yaml:1: no apiVersion`},
		"another apiVersion":           {"apiVersion: routeproof/v2\ntarget: t\n", `e.yaml:1: apiVersion "routeproof/v2" is not known`},
		"an empty file":                {"", `e.yaml:1: want one YAML document`},
		"two documents":                {head + "---\n" + head, `e.yaml:1: want one YAML document`},
		"a list":                       {"- a\n", `e.yaml:1: the document: want keys and values`},
		"no YAML":                      {"{", `e.yaml:1: `},
		"a key given twice":            {head + "cases: {}\ncases: {}\n", `e.yaml:4: mapping key "cases" already defined`},
		"a tab":                        {head + "cases:\n\tAFF-012: {verdict: pass}\n", `e.yaml:4: `},
		"no end of brackets":           {strings.Repeat("[", 200_000), `e.yaml:1: is nested more than 64 deep`},
		"a huge file":                  {"#" + strings.Repeat("x", 300_000), `e.yaml:1: the file is larger than`},
		"what is not UTF-8":            {head + "cases:\n  AFF-012: {verdict: fail, why: \"\xff\"}\n", `e.yaml:4: byte 0xff`},
		"a merge key is not read over": {head + "x: &x {verdict: pass}\ncases:\n  <<: *x\n", `e.yaml`},
	} {
		_, err := parseExpected("e.yaml", []byte(c.text), known, knownClaims)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	_, err := parseExpected("e.yaml", []byte("apiVersion: v0\ndeclines: {x.y: w, routing.models: \"\"}\ncases:\n  A: {verdict: x}\n  B: {verdict: fail}\n"), known, knownClaims)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"apiVersion", "no target", `unknown case "A"`, `"x"`, `unknown case "B"`, "fail without why", `unknown claim "x.y"`, "routing.models: declined without why"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("lacks %q:\n%v", want, err)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfAKey(t *testing.T) {
	if _, err := parseExpected("e.yaml", []byte("\ufeff"+goodExpect), known, knownClaims); err != nil {
		t.Error(err)
	}
}

func TestManyFaultsAreCountedAndTakeNoTime(t *testing.T) {
	text := "apiVersion: routeproof/v1\ntarget: t\ncases:\n"
	for i := range 1000 {
		text += fmt.Sprintf("  AFF-9%d: {verdict: pass}\n", i)
	}
	_, err := parseExpected("e.yaml", []byte(text), known, knownClaims)
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxFaults+1 || lines[maxFaults] != fmt.Sprintf("and %d more", 1000-maxFaults) {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func FuzzExpectationsNeverPanic(f *testing.F) {
	f.Add(goodExpect)
	f.Add("a: &a [*a]\n? - b\n: c\n<<: *a")
	f.Add("apiVersion: !!str x\ncases: {? [x] : y}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := parseExpected("e.yaml", []byte(text), known, knownClaims); (e == nil) == (err == nil) {
			t.Errorf("%v and %v", e, err)
		}
	})
}

func TestCompare(t *testing.T) {
	e, err := parseExpected("e.yaml", []byte(goodExpect), known, knownClaims)
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Mode: Certify, Cases: []CaseResult{
		{ID: "AFF-012", Permutation: "a", Verdict: Fail},
		{ID: "AFF-012", Permutation: "b", Verdict: Pass},
		{ID: "AFF-013", Verdict: Pass},
		{ID: "STR-004", Permutation: "chunked", Verdict: Declined},
		{ID: "STR-004", Permutation: "plain", Verdict: Declined},
		{ID: "AFF-020", Claims: []string{"affinity.key", "component.affinity"}, Verdict: Declined},
		{ID: "AFF-021", Claims: []string{"component.affinity"}, Verdict: Pass},
	}}
	Compare(r, e)
	want := []Expectation{
		{Fail, "moves a session back: its worker returned", true},
		{Fail, "moves a session back: its worker returned", false},
		{Pass, "", true},
		{Declined, "buffers answers", true},
		{Pass, "", false},
		{Declined, "it is no library", true},
		{Declined, "it is no library", false},
	}
	for i, w := range want {
		if got := *r.Cases[i].Expectation; got != w {
			t.Errorf("%s: %+v, want %+v", r.Cases[i].Name(), got, w)
		}
	}
	if d := cmp.Diff(&Comparison{"e.yaml", "HAProxy 2.6 with a stick table", 7, 4}, r.Expected); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(r.Problems) != 1 || r.Problems[0].Subject != "RTE-001" || r.Problems[0].Kind != ProblemExpectation {
		t.Errorf("problems %v, want one for RTE-001, which did not run", r.Problems)
	}
}

func TestAClaimThatNobodyNeedsIsNoExpectation(t *testing.T) {
	e := &Expected{Default: Wanted{Verdict: Pass}, Declines: map[string]Wanted{"gone": {Verdict: Declined, Why: "w"}}}
	for mode, problems := range map[Mode]int{Certify: 1, Run: 0} {
		r := &Report{Mode: mode, Cases: []CaseResult{{ID: "RTE-001", Claims: []string{"routing.spread"}, Verdict: Pass}}}
		Compare(r, e)
		if len(r.Problems) != problems || r.Expected.Differences != problems {
			t.Errorf("%s: %v, %+v", mode, r.Problems, r.Expected)
		}
	}
}

func TestARunMayLeaveExpectedCasesOut(t *testing.T) {
	e := &Expected{Default: Wanted{Verdict: Pass}, Cases: map[string]Wanted{"AFF-012": {Verdict: Fail, Why: "w"}, "STR-004/gone": {Verdict: Fail, Why: "w"}}}
	r := &Report{Mode: Run, Cases: []CaseResult{{ID: "RTE-001", Verdict: Pass}}}
	Compare(r, e)
	if len(r.Problems) != 0 || r.Expected.Differences != 0 {
		t.Errorf("problems %v for cases that a filter left out", r.Problems)
	}
	r = &Report{Mode: Run, Cases: []CaseResult{{ID: "STR-004", Permutation: "plain", Verdict: Pass}}}
	Compare(r, e)
	if len(r.Problems) != 1 || r.Problems[0].Subject != "STR-004/gone" {
		t.Errorf("problems %v, want one for the permutation that its case does not have", r.Problems)
	}
}

func TestWhatIsExpectedOfSomeCasesSpeaksOfNoOthers(t *testing.T) {
	e := &Expected{Target: "t", Default: Wanted{Verdict: Pass},
		Cases: map[string]Wanted{"RTE-001": {Verdict: Fail}, "RTE-001/a": {Verdict: Pass}, "AFF-001": {Verdict: Fail}},
		Declines: map[string]Wanted{"routing.models": {Verdict: Declined}, "affinity.idleTTL": {Verdict: Declined},
			"surface.http": {Verdict: Declined}, "surface.component": {Verdict: Declined}}}
	cases := []CaseResult{{ID: "RTE-001", Permutation: "a", Surface: HTTP, Claims: []string{"routing.models"}, Verdict: Pass}}
	some := e.Of(cases)
	if len(some.Cases) != 2 || len(some.Declines) != 2 || some.Target != "t" {
		t.Errorf("%+v", some)
	}
	r := &Report{Mode: Certify, Cases: cases}
	Compare(r, some)
	if len(r.Problems) > 0 || r.Expected.Differences > 0 {
		t.Errorf("%v, %+v", r.Problems, r.Expected)
	}
	if len(e.Cases) != 3 || len(e.Declines) != 4 {
		t.Errorf("the expectation itself was changed: %+v", e)
	}
}
