package certify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/report"
)

// meddler is a progress that spoils the evidence of the first cases that end.
type meddler struct {
	heard
	dir  string
	hurt []func(path string) error
	done []report.CaseResult
}

func (m *meddler) Finished(r report.CaseResult) {
	if n := len(m.done); n < len(m.hurt) && len(r.Evidence) > 0 {
		if err := m.hurt[n](filepath.Join(m.dir, r.Evidence[0].File)); err != nil {
			panic(err)
		}
		m.done = append(m.done, r)
	}
}

func TestEvidenceThatIsNotAsItWasLeftIsAFinding(t *testing.T) {
	o := options(t, "good")
	m := &meddler{dir: o.ReportDir, hurt: []func(string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, []byte("nothing to see here"), 0o644) },
		func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		},
	}}
	o.Progress = m
	r := reported(t, context.Background(), o)
	if r.ExitCode != report.ExitHarness || len(r.Problems) != 3 || len(m.done) != 3 {
		t.Fatalf("exit %d, %v", r.ExitCode, r.Problems)
	}
	for i, want := range []string{"is gone", "was changed", "no file"} {
		found := false
		for _, p := range r.Problems {
			found = found || p.Kind == report.ProblemHarness && p.Subject == m.done[i].Evidence[0].File &&
				strings.Contains(p.Text, want) && strings.Contains(p.Text, m.done[i].Name())
		}
		if !found {
			t.Errorf("none of %v says that the evidence of %s %s", r.Problems, m.done[i].Name(), want)
		}
	}
}

func TestManyLostFilesAreCounted(t *testing.T) {
	cases := make([]report.CaseResult, maxLost+5)
	for i := range cases {
		cases[i].Evidence = []report.Evidence{{File: "evidence/" + strings.Repeat("x", i+1)}}
	}
	p := lost(cases, t.TempDir())
	if len(p) != maxLost+1 || !strings.Contains(p[maxLost].Text, "5 more files") {
		t.Errorf("%v", p)
	}
}

func TestAProfileIsHeldAgainstItsPartOfTheExpectations(t *testing.T) {
	o := options(t, "good")
	o.Mode, o.Profile, o.Jobs = report.Certify, "routing", nil
	wanted := report.Wanted{Verdict: report.Declined, Why: "w"}
	o.Expected = &report.Expected{Default: report.Wanted{Verdict: report.Pass},
		Cases:    map[string]report.Wanted{"RTE-003/request": wanted, "AFF-001/turns": wanted},
		Declines: map[string]report.Wanted{"routing.models": wanted, "affinity.idleTTL": wanted, "component.affinity": wanted}}
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	r := begin(&o)
	finish(r, &o, newCollector(nil))
	for _, p := range r.Problems {
		t.Errorf("%v, which is of no concern to the profile", p)
	}
	if n := len(r.Cases); n == 0 || r.Expected.Differences != n {
		t.Errorf("%d differences in %d cases, none of which ran", r.Expected.Differences, n)
	}
	if len(o.Expected.Cases) != 2 || len(o.Expected.Declines) != 3 {
		t.Errorf("the caller's expectations were changed: %+v", o.Expected)
	}
}
