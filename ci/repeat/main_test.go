package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/report"
)

// The test binary also stands in for the command that is run again and again.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// play writes the report of a run; how says what becomes of it.
func play(how string, args []string) int {
	after := func(flag string) string { return args[slices.Index(args, flag)+1] }
	later := after("--seed") != "1"
	sum := strings.Repeat("0", 64)
	source := report.Source{Version: "1", SHA256: sum}
	c := report.CaseResult{ID: "RTE-001", Clause: "RTE-001", Level: report.Must, Profile: "routing", Surface: report.HTTP,
		Title: "t", Why: "w", Reproduce: "r", Expected: "e", Observed: "o", Detail: "d", Started: time.Unix(1, 0).UTC(), Verdict: report.Pass}
	r := &report.Report{Mode: report.Run, Cases: []report.CaseResult{c}, Suite: source, Spec: source, Shards: 1,
		Tool: report.Tool{Name: "routeproof", Version: "1"}, Target: report.Target{Organization: "o", Project: "p", Version: "1", URL: "u", Manifest: "m", ManifestSHA256: sum},
		Environment: report.Environment{OS: "linux", Arch: "amd64", CPUs: 1, Go: "go"}}
	problem := func(kind report.ProblemKind) {
		r.Problems = append(r.Problems, report.Problem{Kind: kind, Subject: "s", Text: after("--seed")})
	}
	switch how {
	case "leaves nothing":
		return 4
	case "fails":
		r.Cases[0].Verdict = report.Fail
		problem(report.ProblemExemption)
	case "fails later":
		if later {
			r.Cases[0].Verdict = report.Fail
		}
	case "has a problem later":
		r.Cases[0].Verdict = report.Fail
		if later {
			problem(report.ProblemExemption)
		}
	case "loses a case later":
		r.Cases = append(r.Cases, c)
		r.Cases[1].ID = "RTE-002"
		if later {
			r.Cases = r.Cases[:1]
		}
	case "dies":
		r.Cases[0].Verdict = report.NotRun
		problem(report.ProblemTarget)
	case "errs":
		r.Cases[0].Verdict, r.Cases[0].Level = report.Error, report.Should
	case "cannot tell":
		r.Cases[0].Verdict = report.Inconclusive
	}
	r.Conclude(nil)
	if how == "ends otherwise later" && later {
		r.ExitCode = 1
	}
	if _, err := r.WriteJSON(after("--report-dir")); err != nil {
		panic(err)
	}
	return r.ExitCode
}

func TestOnlyWholeRunsThatAgreeAreARepetition(t *testing.T) {
	for how, c := range map[string]struct{ said, wrong string }{
		"passes":               {"2 runs, 0 differ, 0 broken", ""},
		"fails":                {"2 runs, 0 differ, 0 broken", ""},
		"fails later":          {"RTE-001: fail, first run: pass", "1 differ"},
		"has a problem later":  {"problem exemption: s: 1, first run: none", "1 differ"},
		"loses a case later":   {"RTE-002: none, first run: pass", "1 differ"},
		"ends otherwise later": {"exit status 1, first run: 0", "1 differ"},
		"dies":                 {"RTE-001: not-run", "2 are broken"},
		"errs":                 {"RTE-001: error", "2 are broken"},
		"cannot tell":          {"exit status 4", "2 are broken"},
		"leaves nothing":       {"", "run 1 ended with exit status 4 and left no report"},
	} {
		t.Run(how, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			var out strings.Builder
			err := repeat(&out, 2, []string{os.Args[0], "play", how})
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
			if !strings.Contains(out.String(), c.said) {
				t.Errorf("said %s\nwant %q", out.String(), c.said)
			}
			left, _ := filepath.Glob(filepath.Join(temp, "*"))
			if kept := err != nil && how != "leaves nothing"; kept != (len(left) > 0) {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAProgramThatIsNotThereLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	if err := repeat(&strings.Builder{}, 2, []string{"/no/such/program"}); err == nil {
		t.Error("no error")
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
