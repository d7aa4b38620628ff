package linear_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// variable asks for the long runs: how many operations are to be checked.
const variable = "ROUTEPROOF_LINEAR"

func operations(t *testing.T) int {
	t.Helper()
	v := os.Getenv(variable)
	if v == "" {
		t.Skipf("%s asks for no long run; for one write %s=1000000", variable, variable)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q; write a number of operations", variable, v)
	}
	return n
}

// crowds are the cases that are made of them.
func crowds(t *testing.T, cat *suites.Catalogue) (all []bench.Case) {
	t.Helper()
	for _, c := range cat.Cases {
		if _, ok := c.Talk.(bench.Crowd); ok {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		t.Fatal("no case is a crowd")
	}
	return all
}

func catalogue(t *testing.T) *suites.Catalogue {
	t.Helper()
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func TestAMillionOperationsOfCrowdsAreLinearizable(t *testing.T) {
	want := operations(t)
	all := crowds(t, catalogue(t))
	var checked, rounds int
	var talking, checking time.Duration
	for began := time.Now(); checked < want; rounds++ {
		c := all[rounds%len(all)]
		live := c.Talk.(bench.Crowd).Workers
		var v linear.Verdict
		var from time.Time
		c.Judge = func(h *history.History) judge.Finding {
			from = time.Now()
			v = linear.Check(h.Ops, live, time.Minute)
			checking += time.Since(from)
			return judge.Finding{}
		}
		pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{bench.ComponentClaim})}) // a fresh adapter: lines are kept
		out := pool.Exec(t.Context(), c, uint64(rounds), nil)
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
		if out.Verdict != report.Pass || v.Bad != "" || v.Unknown > 0 || v.Checked == 0 {
			t.Fatalf("round %d (%s): %s %s, bad %q, unknown %d, checked %d\n%v", rounds, c.ID, out.Verdict, out.Detail, v.Bad, v.Unknown, v.Checked, v.Around)
		}
		checked += v.Checked
		talking = time.Since(began) - checking
	}
	t.Logf("%d operations of %d crowds: 0 violations, 0 unknown; %.1f s of talk, %.1f s of checks", checked, rounds, talking.Seconds(), checking.Seconds())
}

// mutantLimit is within what time crowds must find a fault of concurrency.
const mutantLimit = time.Minute

func TestCrowdsFindTheFaultsOfConcurrency(t *testing.T) {
	operations(t)
	cat := catalogue(t)
	all := crowds(t, cat)
	for _, id := range []string{"race/two-initializers", "race/lost-wake-up", "race/ends-newer", "race/stale-view", "aff/two-initializers"} {
		x, ok := cat.Mutant(id)
		if !ok {
			t.Fatalf("no mutant %s", id)
		}
		t.Run(id, func(t *testing.T) {
			began, rounds := time.Now(), 0
			for {
				c := all[rounds%len(all)]
				rounds++
				pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{bench.ComponentClaim}), Component: x.Component()})
				out := pool.Exec(t.Context(), c, uint64(rounds), nil)
				_ = pool.Close() // of a mutant that may hang
				took := time.Since(began)
				if out.Verdict == report.Fail && took < mutantLimit {
					t.Logf("found after %v, in crowd %d (%s): %.160s", took.Round(time.Millisecond), rounds, c.ID, out.Finding.Violations[0])
					return
				}
				if took > mutantLimit {
					t.Fatalf("not found within %v, in %d crowds; the last: %s %s", took, rounds, out.Verdict, out.Detail)
				}
			}
		})
	}
}
