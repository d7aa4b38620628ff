package bench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/affinity"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component/conversation"
)

// TestWhatWentWrongIsShrunkAndCanBePlayedAgain: to the wrong library, which gives the
// wrong answer again, and to the reference, which gives the right one.
func TestWhatWentWrongIsShrunkAndCanBePlayedAgain(t *testing.T) {
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	for id, most := range map[string]int{"aff/keeps-on-failure": 6, "aff/two-initializers": 3, "pin/ignored-when-bound": 5, "aff/early-end-unbinds": 8, "aff/tick-late": 8,
		"wire/batch-drops-pin": 5, "wire/batch-questions-first": 5, "wire/batch-leaves-waiter": 6, "wire/cancel-ends-lease": 5} {
		t.Run(id, func(t *testing.T) {
			c := random(150)
			if strings.HasPrefix(id, "wire/batch") {
				c = few(affinity.Cases{}.AFF020Batches(), 150)
			}
			x, _ := cat.Mutant(id)
			shrinks(t, x, bench.ComponentClaim, c, most, func(h *history.History) int { return len(h.Held[len(h.Held)-1].Script.Steps) })
		})
	}
}

// shrinks wants the case to fail on the mutant with at most so many steps left, and what
// is left to go wrong with it again, and right with the reference.
func shrinks(t *testing.T, x mutants.Mutant, claim string, c bench.Case, most int, steps func(*history.History) int) {
	t.Helper()
	pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{claim}), Component: x.Component()})
	var h *history.History
	out := pool.Exec(t.Context(), c, 7, func(saved *history.History) error { h = saved; return nil })
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Verdict != report.Fail || len(out.Finding.Violations) != 1 || !strings.Contains(out.Finding.Violations[0].Observed, "it was asked, with ") {
		t.Fatalf("%s %s %+v", out.Verdict, out.Detail, out.Finding)
	}
	if n := steps(h); n > most {
		t.Errorf("%d steps are left, want %d at most: %s", n, most, out.Finding.Violations[0])
	}
	v, err := conversation.Parse("replay.jsonl", []byte(strings.Join(h.Replay(), "\n")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, opt := range []target.ComponentOptions{x.Component(), {}} {
		c := target.ReferenceComponent(opt)
		err := v.Play(ctx, c)
		if closed := c.Close(ctx); closed != nil {
			t.Error(closed)
		}
		var d *conversation.Difference
		if wrong := !opt.None(); wrong != (err != nil) || err != nil && !errors.As(err, &d) && !strings.Contains(err.Error(), "should be parked") {
			t.Errorf("wrong library: %v; Play = %v\n%s", wrong, err, strings.Join(h.Replay(), "\n"))
		}
	}
}
