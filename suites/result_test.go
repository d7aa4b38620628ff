package suites

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/spec"
	"github.com/routeproof/routeproof/suites/target"
)

func TestASelfTestPassesOnlyWhenTheCaseFailed(t *testing.T) {
	j := Job{Case: "RTE-001/bursts", Mutant: "rte/herd"}
	for was, want := range map[report.Verdict]report.Verdict{
		report.Fail: report.Pass, report.Pass: report.Fail, report.Error: report.Error, report.Inconclusive: report.Inconclusive,
	} {
		res := report.CaseResult{Verdict: was}
		killed(&res, j)
		if res.Verdict != want {
			t.Errorf("a case that ended %s on a mutant counts as %s, want %s", was, res.Verdict, want)
		}
		if was == report.Pass && !strings.Contains(res.Observed, "survived") {
			t.Errorf("a survivor is reported as %q", res.Observed)
		}
	}
}

func TestOnlyAPassMatches(t *testing.T) {
	for _, v := range report.Verdicts {
		res := &report.CaseResult{ID: "RTE-001/bursts", Verdict: v, Why: "why", Detail: "detail"}
		ok, err := Pass().Match(res)
		if err != nil || ok != (v == report.Pass) {
			t.Errorf("%s: matches %v, %v", v, ok, err)
		}
		if msg := Pass().FailureMessage(res); !strings.Contains(msg, string(v)) || !strings.Contains(msg, "detail") {
			t.Errorf("%s: message %q", v, msg)
		}
	}
	if _, err := Pass().Match("no result"); err == nil {
		t.Error("a string matches")
	}
}

func TestEvidenceCanBeReadAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evidence")
	h := &history.History{Case: "AFF-001/turns", Requests: []history.Request{{Key: "k", End: history.Complete}}}
	files, err := save(dir, Job{Case: "AFF-001/turns", Mutant: "aff/x"}, h)
	if err != nil || len(files) != 1 || files[0].File != "evidence/AFF-001_turns_aff_x.json.gz" || len(files[0].SHA256) != 64 {
		t.Fatalf("got %+v, %v", files, err)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), files[0].File))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var back history.History
	if err := json.NewDecoder(r).Decode(&back); err != nil || len(back.Requests) != 1 || back.Requests[0].Key != "k" {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestAJobsSeedDependsOnItsNameAndTheBaseAlone(t *testing.T) {
	a := JobSeed(1, Job{Case: "a"})
	if a != JobSeed(1, Job{Case: "a"}) || a == JobSeed(2, Job{Case: "a"}) || a == JobSeed(1, Job{Case: "b"}) || a == JobSeed(1, Job{Case: "a", Mutant: "m"}) {
		t.Error("seeds collide or wander")
	}
}

// broken is the catalogue with one thing changed.
func broken(t *testing.T, change func(c *Catalogue)) error {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	s := *c.Spec
	s.Clauses = append([]spec.Clause{}, s.Clauses...)
	c = &Catalogue{Spec: &s, Cases: append([]bench.Case{}, c.Cases...), Mutants: append([]mutants.Mutant{}, c.Mutants...)}
	change(c)
	return c.check()
}

func TestACatalogueThatBreaksItsRulesIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *Catalogue)
		want   string
	}{
		"a case twice":           {func(c *Catalogue) { c.Cases = append(c.Cases, c.Cases[0]) }, "defined twice"},
		"a case of no clause":    {func(c *Catalogue) { c.Cases[0].ID = "ZZZ-001/x" }, "checks clause ZZZ-001"},
		"a case without a judge": {func(c *Catalogue) { c.Cases[0].Judge = nil }, "lacks a stimulus"},
		"a MUST without a case": {func(c *Catalogue) {
			c.Spec.Clauses = append(c.Spec.Clauses, spec.Clause{ID: "RTE-999", Level: spec.Must})
		}, "RTE-999 (:0) is a MUST without a case"},
		"a tested untestable clause":  {func(c *Catalogue) { c.Spec.Clauses[0].Untestable = "because" }, "said to be untestable and has a case"},
		"a mutant twice":              {func(c *Catalogue) { c.Mutants = append(c.Mutants, c.Mutants[0]) }, "defined twice"},
		"a mutant that nothing kills": {func(c *Catalogue) { c.Mutants[0].KilledBy = nil }, "or the cases that kill it"},
		"a mutant killed by no case":  {func(c *Catalogue) { c.Mutants[0].KilledBy = []string{"RTE-001/none"} }, "which is no case"},
		"a case that kills nobody":    {func(c *Catalogue) { c.Mutants = c.Mutants[:1] }, "kills no mutant"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := broken(t, tc.change); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAnUnknownCaseNamesNearOnes(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"RTE-099": "RTE-0", "rte": "RTE, ", "AFF-003/togther": "near: AFF-003/together, ", "nonsense": "near: "} {
		if _, err := c.Match([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for arg, n := range map[string]int{"RTE-001": 4, "RTE-001/bursts": 1} {
		if got, err := c.Match([]string{arg, arg}); err != nil || len(got) != n {
			t.Errorf("%s: %d cases, %v", arg, len(got), err)
		}
	}
}

func TestAManifestThatLacksWhatItsClaimsCallForIsRefusedAtItsLine(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	good := string(target.Reference(c.Spec.ClaimNames()).Source())
	for name, tc := range map[string]struct{ old, new, want string }{
		"no variant with a short time": {"  shortTTL: {session: {idleTTL: 2s}}\n", "", `key "variants.shortTTL": missing`},
		"a table too large to fill":    {"{capacity: 64}", "{capacity: 64000}", "m.yaml:25:19"},
		"an idle time of hours":        {"idleTTL: 2s", "idleTTL: 2h", "m.yaml:24:14"},
		"a variant of no case":         {"  shortTTL:", "  shortTtl: {}\n  shortTTL:", `"variants.shortTtl"`},
		"no idle time":                 {"idleTTL: 60s, ", "", "idleTTL"},
		"no component":                 {"component: {inprocess: reference}\n", "", `key "component": missing`},
		"no header for a pin":          {"pins: {worker: X-Dynamo-Worker-Instance-ID, rank: X-Dynamo-DP-Rank, prefillWorker: X-Dynamo-Prefill-Instance-ID, prefillRank: X-Dynamo-Prefill-DP-Rank}\n", "", `key "pins.worker": missing`},
		"no header for a rank":         {"rank: X-Dynamo-DP-Rank, ", "", `key "pins.rank": missing`},
		"no header for prefill":        {", prefillRank: X-Dynamo-Prefill-DP-Rank", "", `key "pins.prefillWorker": missing`},
		"a claim that needs another":   {`"affinity.key": yes`, `"affinity.key": no`, `is answered no, which every case of it needs; answer affinity.key with yes, or this one with no`},
		"a rank of no worker":          {`"pins.worker": yes`, `"pins.worker": no`, `"claims.pins.rank": answered yes, but pins.worker`},
		"one model alone":              {"models: [mock, other]\naliases: {mock-latest: mock, \"org/mock\": mock, another: other}\n", "aliases: {mock-latest: mock}\n", `key "models": missing`},
		"no alias":                     {"aliases: {mock-latest: mock, \"org/mock\": mock, another: other}\n", "", `key "aliases": missing`},
		"no short wait for headers":    {"  shortHeaderTimeout: {timeouts: {headers: 1s}}\n", "", `key "variants.shortHeaderTimeout": missing`},
		"a wait for headers too long":  {"{headers: 1s}", "{headers: 3s}", `declare at most 2s`},
		"no wait for headers declared": {"{timeouts: {headers: 1s}}", "{timeouts: {}}", `declare at most 2s`},
		"no header for questions":      {", query: X-Routeproof-Query", "", `key "session.query": missing`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, tc.old, tc.new, 1)
			if text == good {
				t.Fatalf("%q is not in the manifest:\n%s", tc.old, good)
			}
			m, err := target.Parse("m.yaml", []byte(text), c.Spec.ClaimNames())
			if err == nil {
				err = c.Fits(m, all(c))
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func all(c *Catalogue) (jobs []Job) {
	for _, x := range c.Cases {
		jobs = append(jobs, Job{Case: x.ID})
	}
	return jobs
}
