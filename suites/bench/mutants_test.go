package bench_test

import (
	"os"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// hangs are mutants that die of an operation that never ends: each death takes the time
// that an adapter has for an answer, and some leave what they hang in behind.
var hangs = map[string]bool{"aff/deaf-waiters": true, "aff/query-ends": true, "aff/stale-commit": true, "pin/dead-binding-blocks": true}

// TestWhichMutantsConversationsAtRandomKill prints, for each wrong table of sessions, how
// many of so many seeds kill it, and after how many conversations.
func TestWhichMutantsConversationsAtRandomKill(t *testing.T) {
	if os.Getenv("ROUTEPROOF_RANDOM_MUTANTS") == "" {
		t.Skip("ROUTEPROOF_RANDOM_MUTANTS names no number of seeds")
	}
	seeds := asked(t, "ROUTEPROOF_RANDOM_MUTANTS", 0)
	m := target.Reference([]string{bench.ComponentClaim})
	c := random(150)
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range cat.Mutants {
		if x.Component().None() || hangs[x.ID] {
			continue
		}
		killed, sum, most, steps := 0, 0, 0, 0
		began := time.Now()
		for seed := range seeds {
			pool := bench.NewPool(bench.Env{Manifest: m, Component: x.Component()})
			held := 0
			out := pool.Exec(t.Context(), c, uint64(1000+seed), func(h *history.History) error {
				held = len(h.Held)
				if held > 0 && h.Held[held-1].Replay != nil {
					steps += len(h.Held[held-1].Script.Steps)
					held--
				}
				return nil
			})
			if err := pool.Close(); err != nil {
				t.Logf("%s: %v", x.ID, err)
			}
			if out.Verdict == report.Fail {
				killed++
				sum += held
				most = max(most, held)
			} else if out.Verdict != report.Pass {
				t.Errorf("%s: %s %s %+v", x.ID, out.Verdict, out.Detail, out.Finding)
			}
			if seed == 0 && len(out.Finding.Violations) > 0 {
				t.Logf("%s: %.600s", x.ID, out.Finding.Violations[0])
			}
		}
		n := max(1, killed)
		t.Logf("MUTANT | %s | %d of %d | %.1f | %d | %.1f | %v", x.ID, killed, seeds, float64(sum)/float64(n), most, float64(steps)/float64(n), (time.Since(began) / time.Duration(seeds)).Round(time.Millisecond))
	}
}
