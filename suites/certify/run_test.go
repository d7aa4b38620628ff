package certify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

func TestCasesRunInShardsAndAreReported(t *testing.T) {
	o := options(t, "good")
	p := &heard{}
	o.Progress = p
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitOK || verdicts(r)[report.Pass] != len(quick) || len(r.Problems) > 0 {
		t.Fatalf("exit %d, %v, problems %v\n%s", r.ExitCode, verdicts(r), r.Problems, logs(t, o))
	}
	if p.starts != len(quick) || p.ends != len(quick) {
		t.Errorf("heard of %d starts and %d ends of %d cases", p.starts, p.ends, len(quick))
	}
	if r.Shards != 2 || r.Seed != 7 || r.Mode != report.Run || r.Target.Project != "reference" {
		t.Errorf("shards %d, seed %d, mode %s, target %v", r.Shards, r.Seed, r.Mode, r.Target)
	}
	for _, c := range r.Cases {
		if want := "routeproof run --seed 7 " + c.ID; c.Reproduce != want {
			t.Errorf("%s: reproduce %q, want %q", c.ID, c.Reproduce, want)
		}
		if want := suites.JobSeed(7, suites.Job{Case: c.ID}); c.Seed != want {
			t.Errorf("%s: seed %d, want %d", c.ID, c.Seed, want)
		}
		for _, e := range c.Evidence {
			if _, err := os.Stat(filepath.Join(o.ReportDir, e.File)); err != nil {
				t.Error(err)
			}
		}
		if len(c.Evidence) == 0 {
			t.Errorf("%s: no evidence", c.ID)
		}
	}
	for _, p := range r.Profiles {
		if p.Result == report.Certified {
			t.Errorf("a run certified %s", p.Name)
		}
	}
	if _, err := os.Stat(filepath.Join(o.ReportDir, report.JUnitFile)); err != nil {
		t.Error(err)
	}
}

func TestAMutantFailsWithItsNaturalVerdict(t *testing.T) {
	o := options(t, "good")
	o.Jobs = []suites.Job{{Case: "RTE-003/request", Mutant: "rte/reencodes-body"}}
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitFailure || r.Cases[0].Verdict != report.Fail {
		t.Errorf("exit %d, %s", r.ExitCode, r.Cases[0].Verdict)
	}
	if want := "routeproof run --mutant rte/reencodes-body --seed 7 RTE-003/request"; r.Cases[0].Reproduce != want {
		t.Errorf("reproduce %q", r.Cases[0].Reproduce)
	}
	if !strings.Contains(r.Target.Version, "rte/reencodes-body") {
		t.Errorf("the target is called %q", r.Target.Version)
	}
}

func TestASelfTestTurnsVerdictsRound(t *testing.T) {
	o := options(t, "good")
	o.Jobs = []suites.Job{{Case: "RTE-003/request"}, {Case: "RTE-003/request", Mutant: "rte/reencodes-body"},
		{Case: "RTE-004/response", Mutant: "rte/reencodes-body"}} // which it cannot kill
	r, err := SelfTest(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	n := r.SelfTest
	if r.ExitCode != report.ExitHarness || n.Mutants != 1 || n.Killed != 0 || n.Cases != 2 ||
		!slices.Equal(n.Survived, []string{"rte/reencodes-body: RTE-004/response"}) {
		t.Errorf("exit %d, %+v", r.ExitCode, n)
	}
	o.Jobs = o.Jobs[:2]
	if r, err = SelfTest(context.Background(), o); err != nil || r.ExitCode != report.ExitOK || r.SelfTest.Killed != 1 {
		t.Errorf("%v: exit %d, %+v, %v", err, r.ExitCode, r.SelfTest, r.Problems)
	}
}

func TestCertifyRefusesLessThanEverything(t *testing.T) {
	o := options(t, "good")
	o.Mode = report.Certify
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitRefused || len(r.Cases) != len(o.Catalogue.Cases) || verdicts(r)[report.NotRun] != len(o.Catalogue.Cases)-len(quick) {
		t.Errorf("exit %d, %v", r.ExitCode, verdicts(r))
	}
}

func TestAShardThatMisbehavesIsAFinding(t *testing.T) {
	for _, c := range []struct {
		shard  string
		want   string // in the problem
		shards int
		pass   int
	}{
		{"crash", "SIGSEGV", 1, 0},
		{"killed", "signal: killed", 1, 0},
		{"killed", "last words", 1, 0},
		{"panic", "lost my mind", 1, 0},
		{"leaves", "ended before its work did", 1, 0},
		{"liar", "says it is done", 1, 0},
		{"garbage", "cannot be read", 1, 0},
		{"stranger", "XXX-001/unknown, which it was not given", 1, 0},
		{"twice", "twice", 1, -1},
		{"mute", "no sign of life", 1, 0},
		{"halted", "stopped it with a signal", 1, 0},
		{"first-crashes", "shard 1", 2, 2},
	} {
		t.Run(c.shard+" "+c.want, func(t *testing.T) {
			if c.shard == "halted" && runtime.GOOS != "linux" {
				t.Skip("only Linux tells a stop apart from an end")
			}
			o := options(t, c.shard)
			o.Shards = c.shards
			if c.shard == "garbage" || c.shard == "mute" {
				o.Silence = time.Second
			}
			r, err := Run(context.Background(), o)
			if r == nil {
				t.Fatal(err)
			}
			if r.ExitCode != report.ExitHarness {
				t.Errorf("exit %d", r.ExitCode)
			}
			if c.pass >= 0 && verdicts(r)[report.Pass] != c.pass {
				t.Errorf("verdicts %v", verdicts(r))
			}
			if verdicts(r)[report.Pass]+verdicts(r)[report.NotRun] != len(quick) {
				t.Errorf("verdicts %v", verdicts(r))
			}
			text := fmt.Sprint(r.Problems)
			if !strings.Contains(text, c.want) {
				t.Errorf("problems: %s\nwant %q", text, c.want)
			}
			if c.want == "signal: killed" && (!strings.Contains(text, "while case ") || !strings.Contains(text, "shard-1.log")) {
				t.Errorf("names neither case nor log: %s", text)
			}
		})
	}
}

func TestAShardThatCannotStartIsAFinding(t *testing.T) {
	o := options(t, "good")
	o.Command = []string{"/no/such/program"}
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitHarness || !strings.Contains(fmt.Sprint(r.Problems), "/no/such/program") {
		t.Errorf("exit %d, %v", r.ExitCode, r.Problems)
	}
}

func TestAnInterruptStillGivesAReport(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := options(t, "good")
	o.Jobs = append(o.Jobs, suites.Job{Case: "AFF-006/slides"}, suites.Job{Case: "AFF-006/lapses"}, suites.Job{Case: "AFF-007/in-flight"})
	o.Shards = 1
	o.Progress = &heard{after: 2, then: cancel}
	began := time.Now()
	r := reported(t, ctx, o)
	if r.ExitCode != report.ExitInterrupted || !r.Interrupted {
		t.Errorf("exit %d", r.ExitCode)
	}
	n := verdicts(r)
	if n[report.NotRun] == 0 || n[report.Pass] == 0 || n[report.Pass]+n[report.NotRun] != len(o.Jobs) || len(r.Problems) > 0 {
		t.Errorf("verdicts %v, problems %v", n, r.Problems)
	}
	if d := time.Since(began); d > stopGrace {
		t.Errorf("took %v", d)
	}
}

func TestASecondInterruptKillsAtOnceAndStillGivesAReport(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	kill := make(chan struct{})
	o := options(t, "deaf")
	o.Kill = kill
	var once sync.Once
	o.Progress = &heard{onStart: func() { once.Do(func() { cancel(); close(kill) }) }}
	began := time.Now()
	r := reported(t, ctx, o)
	if r.ExitCode != report.ExitInterrupted || verdicts(r)[report.NotRun] != len(quick) {
		t.Errorf("exit %d, %v", r.ExitCode, verdicts(r))
	}
	if d := time.Since(began); d > stopGrace {
		t.Errorf("took %v", d)
	}
}

func TestARunThatIsOverBeforeItBeginsRunsNothing(t *testing.T) {
	r := reported(t, ended(), options(t, "good"))
	if r.ExitCode != report.ExitInterrupted || verdicts(r)[report.NotRun] != len(quick) {
		t.Errorf("exit %d, %v", r.ExitCode, verdicts(r))
	}
}

const manifest = `apiVersion: routeproof/v1
implementation: {organization: o, project: played, version: "1", url: "http://example.org"}
launch:
  exec:
    command: [%s]
    env: {TOLD: "{{.Session.Capacity}} {{.Store}} {{range .Workers}}{{.Role}} {{end}}"}
    ready: {http: "{{.BaseURL}}/health", timeout: 5s}
wiring:
  workers: static
  stores:
    etcd: {key: "/{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 2s}
    file: {key: "{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 2s}
endpoint: {openai: "{{.BaseURL}}"}
session: {carrier: {header: X-Session-ID}, kind: table, idleTTL: 1s}
variants: {shortTTL: {session: {idleTTL: 1s}}, smallCapacity: {session: {capacity: 64, atCapacity: evict}}}
claims:
`

// played is a manifest of a target with a command; scaling is all that it does not claim.
func played(t *testing.T, o *Options, command string) {
	t.Helper()
	text := fmt.Sprintf(manifest, command)
	claims := o.Catalogue.Spec.ClaimNames()
	for _, c := range claims {
		answer := "yes"
		if strings.HasPrefix(c, "scaling.") {
			answer = "no"
		}
		text += "  " + c + ": " + answer + "\n"
	}
	m, err := target.Parse("played.yaml", []byte(text), claims)
	if err != nil {
		t.Fatal(err)
	}
	o.Manifest, o.ManifestPath = m, "played.yaml"
}

func TestATargetThatCannotStartEndsTheRunBeforeItsFirstCase(t *testing.T) {
	o := options(t, "good")
	played(t, &o, `sh, -c, "echo no such model; exit 3"`)
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitTarget || verdicts(r)[report.NotRun] != len(quick) {
		t.Errorf("exit %d, %v", r.ExitCode, verdicts(r))
	}
	if text := fmt.Sprint(r.Problems); len(r.Problems) != 1 || !strings.Contains(text, "no such model") || !strings.Contains(text, "exit status 3") {
		t.Errorf("problems: %v", r.Problems)
	}
}

func TestAProgramThatDoesNotExistIsTheManifestsError(t *testing.T) {
	o := options(t, "good")
	played(t, &o, `no-such-router, "{{.Port}}"`)
	r, err := Run(context.Background(), o)
	var bad *target.ManifestError
	if r != nil || !errors.As(err, &bad) || !strings.Contains(err.Error(), "no-such-router") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestATargetThatStopsStartingIsGivenUpAfterThreeTries(t *testing.T) {
	o := options(t, "good")
	o.Shards = 1
	o.Jobs = append(o.Jobs, suites.Job{Case: "SCL-002/join"})
	played(t, &o, fmt.Sprintf(`%q, play-target, "{{.Host}}:{{.Port}}", %q`, os.Args[0], filepath.Join(t.TempDir(), "started")))
	r := reported(t, context.Background(), o)
	n := verdicts(r)
	if r.ExitCode != report.ExitTarget || n[report.Fail] != 3 || n[report.NotRun] != 1 || n[report.Declined] != 1 {
		t.Errorf("exit %d, %v, %v\n%s", r.ExitCode, n, r.Problems, logs(t, o))
	}
	if len(r.Problems) != 3 {
		t.Errorf("problems %v", r.Problems)
	}
	if r.Target.Binary == "" || r.Target.BinarySHA256 == "" || r.Timeouts["ready"] != report.Seconds(5*time.Second) {
		t.Errorf("target %+v, timeouts %v", r.Target, r.Timeouts)
	}
}

// heard is a progress that counts.
type heard struct {
	starts, ends, after int
	then, onStart       func()
}

func (h *heard) Started(string) {
	h.starts++
	if h.onStart != nil {
		h.onStart()
	}
}

func (h *heard) Finished(report.CaseResult) {
	h.ends++
	if h.then != nil && h.ends == h.after {
		h.then()
	}
}

func logs(t *testing.T, o Options) string {
	var all string
	for n := 1; n <= o.Shards; n++ {
		b, _ := os.ReadFile(filepath.Join(o.ReportDir, logName(n)))
		all += string(b)
	}
	return all
}
