package bench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
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
	for id, most := range map[string]int{"aff/keeps-on-failure": 6, "aff/two-initializers": 3, "pin/ignored-when-bound": 5, "aff/early-end-unbinds": 8, "aff/tick-late": 8} {
		t.Run(id, func(t *testing.T) {
			x, _ := cat.Mutant(id)
			pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{bench.ComponentClaim}), Coordinator: x.Coordinator})
			var h *history.History
			out := pool.Exec(t.Context(), random(150), 7, func(saved *history.History) error { h = saved; return nil })
			if err := pool.Close(); err != nil {
				t.Fatal(err)
			}
			if out.Verdict != report.Fail || len(out.Finding.Violations) != 1 || !strings.Contains(out.Finding.Violations[0].Observed, "it was asked, with idleTTL") {
				t.Fatalf("%s %s %+v", out.Verdict, out.Detail, out.Finding)
			}
			if n := len(h.Held[len(h.Held)-1].Script.Steps); n > most {
				t.Errorf("%d steps are left, want %d at most: %s", n, most, out.Finding.Violations[0])
			}
			v, err := conversation.Parse("replay.jsonl", []byte(strings.Join(h.Replay(), "\n")))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for _, factory := range []target.CoordinatorFactory{x.Coordinator, nil} {
				c := target.ReferenceComponent(target.ComponentOptions{Coordinator: factory})
				err := v.Play(ctx, c)
				if closed := c.Close(ctx); closed != nil {
					t.Error(closed)
				}
				var d *conversation.Difference
				if wrong := factory != nil; wrong != (err != nil) || err != nil && !errors.As(err, &d) && !strings.Contains(err.Error(), "should be parked") {
					t.Errorf("wrong library: %v; Play = %v\n%s", wrong, err, strings.Join(h.Replay(), "\n"))
				}
			}
		})
	}
}
