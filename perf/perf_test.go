package perf

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/perf/compare"
	"github.com/routeproof/routeproof/perf/complexity"
	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// with is the reference with another index, or its own (nil), in this process.
func with(index target.IndexFactory) Source {
	return Source{
		Target: record.Target{Project: "reference", InProcess: true},
		Open: func(context.Context) (*component.Client, error) {
			return target.ReferenceComponent(target.ComponentOptions{Index: index}), nil
		},
	}
}

func run(t *testing.T, s Source, suite string, ladders ...string) *record.File {
	t.Helper()
	f, err := Run(t.Context(), s, Options{Suite: suite, Only: ladders, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestACostlyIndexFails(t *testing.T) {
	for law, ladders := range map[string][]string{"quadratic": {"k/new", "N/append", "d/append"}, "n log n": {"k/new"}, "n^1.2": {"d/match"}} {
		for _, l := range run(t, with(mutants.CostlyIndex(mutants.Laws[law])), complexity.SuiteShort, ladders...).Ladders {
			if l.Judged == nil || l.Judged.Verdict != record.Fail || l.Judged.Steps.Verdict != record.Fail {
				t.Errorf("%s under the law %s: %+v", l.Name, law, l.Judged)
			}
		}
	}
}

func TestASlowIndexIsARegression(t *testing.T) {
	slow := mutants.SlowIndex(4) // five times as slow: seen on any machine
	base := run(t, with(nil), complexity.SuiteSpeed, "d/match")
	if bad := compare.Files(base, run(t, with(slow), complexity.SuiteSpeed, "d/match"), compare.Saved).Regressions(); len(bad) != 1 {
		t.Errorf("five times as slow: %+v", bad)
	}
	old, new, err := RunPair(t.Context(), with(nil), with(slow), Options{Only: []string{"d/match"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if bad := compare.SideBySide(old, new, compare.Pairs).Regressions(); len(bad) != 1 {
		t.Errorf("five times as slow, side by side: %+v", bad)
	}
	if bad := compare.SideBySide(new, old, compare.Pairs).Regressions(); len(bad) != 0 {
		t.Errorf("five times as fast: %+v", bad)
	}
}

// A target that counts no steps is held to a coarser limit, and told what that means.
func TestWhatIsNotClaimedIsDeclinedOrJudgedByTime(t *testing.T) {
	f := run(t, with(nil), complexity.SuiteShort, "d/match")
	l := complexity.Ladders()
	for _, ladder := range l {
		if ladder.Name != "d/match" {
			continue
		}
		bare := make([]record.Sample, len(f.Ladders[0].Samples))
		for i, s := range f.Ladders[0].Samples {
			s.Steps = nil
			bare[i] = s
		}
		j := ladder.Judge(bare, stats.DefaultLooks)
		if j.Steps != nil || j.Time.Limit != complexity.SlackCoarse || len(j.Notes) != 1 || !strings.Contains(j.Notes[0], "n^1.2") {
			t.Errorf("without steps: %+v", j)
		}
	}
}

func TestATargetThatCannotBeMeasuredIsSaid(t *testing.T) {
	s := with(nil)
	s.Open = func(context.Context) (*component.Client, error) { return nil, &target.UnreachableError{Reason: "gone"} }
	var gone *target.UnreachableError
	if _, err := Run(t.Context(), s, Options{Suite: complexity.SuiteShort}); !errors.As(err, &gone) {
		t.Errorf("error %v", err)
	}
	m := &target.Manifest{File: "x.yaml"}
	var bad *target.ManifestError
	if _, err := FromManifest(m); !errors.As(err, &bad) || !strings.Contains(err.Error(), "declares no component") {
		t.Errorf("error %v", err)
	}
}

func TestAnInterruptionKeepsWhatThereIs(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Suite: complexity.SuiteShort, Only: []string{"d/match", "d/replay"}, Seed: 1, Progress: func(_ string, done *record.Ladder) {
		if done != nil {
			stop()
		}
	}}
	f, err := Run(ctx, with(nil), o)
	if !errors.Is(err, context.Canceled) || f == nil || f.Complete || len(f.Ladders) == 0 {
		t.Errorf("error %v, file %+v", err, f)
	}
}
