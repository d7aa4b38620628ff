package report

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/routeproof/routeproof/suites/judge"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// sample is a run with every verdict, in which the router also sent what a
// terminal or an XML parser must not get.
func sample() *Report {
	sha := strings.Repeat("ab", 32)
	mk := func(id string, v Verdict) CaseResult {
		return CaseResult{
			ID: id, Clause: id, Level: Must, Profile: "routing", Verdict: v, Seed: 1<<63 + 7,
			Claims: []string{"routing.spread"}, Title: "a title for " + id, Why: "A router MUST do what " + id + " says.",
			Started: noon, Duration: Seconds(1250 * time.Millisecond),
			Reproduce: "routeproof run --target haproxy.yaml --seed 42 --focus " + id,
		}
	}
	pass := mk("RTE-001", Pass)
	pass.Permutation = "stream"
	declined := mk("RTE-002", Declined)
	declined.Detail = "claim routing.weights is answered no"
	failed := mk("AFF-012", Fail)
	failed.Profile, failed.Permutation, failed.Title = "affinity", "chat,stream", "a session stays on its worker"
	failed.Why = "All requests of one session MUST reach the worker that served its first request, for as long as that worker lives, whatever else is added to or taken from the fleet in the meantime and however long the session's turns are."
	failed.LogTail = "proxy started\nGET /health 200\n"
	failed.Evidence = []Evidence{{"evidence/AFF-012/chat,stream/history.json", sha}, {"evidence/AFF-012/chat,stream/target.log", sha}}
	failed.Judged(judge.Finding{Violations: []judge.Violation{
		{Expected: "every turn of session s-07 on worker w1",
			Observed: "turn 3 reached w2; headers sent: Authorization: Bearer sk-verysecret123\nanswer body: \x1b[2J\x00<b>&\xff]]> \u202etxt",
			Keys:     []string{"k-01", "k-02", "k-03", "k-04", "k-05", "k-06", "k-07"}},
		{Expected: "every turn of session s-09 on worker w3", Observed: "turn 1 reached w1", Keys: []string{"k-07", "k-11"}},
	}})
	failed.Example = []string{"session s-07: 7 of its 12 requests; the first of 2 sessions"}
	for i := range 7 {
		failed.Example = append(failed.Example, fmt.Sprintf("k-0%d  turns  0.%d00-0.%d50 s  200  w%d\x1b[2J", i+1, i, i, 1+i/3))
	}
	broken := mk("AFF-013", Error)
	broken.Profile, broken.Detail = "affinity", "could not listen on 127.0.0.1:0: too many open files"
	vague := mk("STR-004", Inconclusive)
	vague.Detail = "no request was in flight when the worker was killed"
	exempt := mk("AFF-031", Exempt)
	exempt.Profile, exempt.Detail = "affinity", "exempt until 2027-03-31: known (https://example.org/1)"
	exempt.Expected, exempt.Observed = "503", "200"
	surprise := mk("RES-002", UnexpectedPass)
	surprise.Detail = "passes, yet is exempt; remove the exemption"
	missing := mk("RES-003", NotRun)
	missing.Started, missing.Duration = time.Time{}, 0
	should := mk("RES-009", Fail)
	should.Level, should.Expected, should.Observed = Should, "Retry-After: 1", "no Retry-After"
	r := &Report{
		Tool: Tool{"routeproof", "0.1.0"}, Suite: Source{"0.1.0", sha}, Spec: Source{"1.0", sha},
		Target: Target{Organization: "HAProxy Technologies", Project: "haproxy", Version: "2.6", URL: "https://www.haproxy.org",
			Manifest: "haproxy.yaml", ManifestSHA256: sha, Binary: "/usr/sbin/haproxy", BinarySHA256: sha},
		Environment: Environment{"linux", "amd64", 2, "go1.26.8"},
		Mode:        Certify, Seed: 42, Shards: 2, Started: noon, Duration: Seconds(41 * time.Second),
		Timeouts: map[string]Seconds{"convergence": Seconds(5 * time.Second)},
		Problems: []Problem{{ProblemExemption, "AFF-040", "has expired on 2026-01-31; fix the target or renew it"}},
		Cases:    []CaseResult{pass, declined, failed, broken, vague, exempt, surprise, missing, should},
	}
	r.Conclude([]string{"routing", "affinity", "kv"})
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := writeAtomic(path, got); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got); if the change is meant, run with -update\n%s", path, d)
	}
}

func TestTheSampleHasEveryVerdict(t *testing.T) {
	seen := map[Verdict]bool{}
	for _, c := range sample().Cases {
		seen[c.Verdict] = true
	}
	for _, v := range Verdicts {
		if !seen[v] {
			t.Errorf("no case with verdict %s", v)
		}
	}
	if Verdict("passed").Valid() || Verdict("").Valid() || Level("must").Valid() {
		t.Error("a made-up verdict or level counts as valid")
	}
}

func TestAFindingBecomesAVerdict(t *testing.T) {
	v := func(n int) judge.Violation {
		return judge.Violation{Expected: "e", Observed: fmt.Sprint("o", n), Keys: []string{"k", fmt.Sprint("k", n)}}
	}
	for name, c := range map[string]struct {
		finding judge.Finding
		want    CaseResult
	}{
		"nothing found passes": {judge.Finding{}, CaseResult{Verdict: Pass}},
		"undecided is inconclusive with its reason": {judge.Finding{Inconclusive: "why"},
			CaseResult{Verdict: Inconclusive, Detail: "why"}},
		"a violation fails even where the rest is undecided": {judge.Finding{Violations: []judge.Violation{v(1)}, Inconclusive: "why"},
			CaseResult{Verdict: Fail, Expected: "e", Observed: "o1", Keys: []string{"k", "k1"}, Violations: []judge.Violation{v(1)}}},
		"several violations show the first and count the rest": {judge.Finding{Violations: []judge.Violation{v(1), v(2), v(3)}},
			CaseResult{Verdict: Fail, Expected: "e", Observed: "o1 (and 2 more in report.json)", Keys: []string{"k", "k1", "k2", "k3"},
				Violations: []judge.Violation{v(1), v(2), v(3)}}},
	} {
		var got CaseResult
		got.Judged(c.finding)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
