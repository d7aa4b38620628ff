package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// turnedAway is how soon a request that no worker can serve must be answered (clause RES-007).
const turnedAway = 2 * time.Second

// emptied lets all workers leave, sends requests of every shape, keyless, of the bound
// sessions and of new ones, and lets all come back. It says who they were.
func emptied(ctx context.Context, r *bench.Run, bound, fresh int) {
	all := r.LeaveAll(ctx)
	until(ctx, r, func(q history.Request, served string) bool { return served == "" && q.Status/100 == 5 })
	r.Parallel(len(bench.Shapes()), 8, func(i int) {
		r.Do(ctx, bench.Req{Phase: "empty"}.In(bench.Shapes()[i]))
	})
	r.Parallel(bound+fresh, 8, func(s int) {
		r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "empty"}.In(bench.Shapes()[s%8]))
	})
	r.Return(ctx, all...)
	until(ctx, r, func(q history.Request, served string) bool { return q.OK() })
}

// until sends keyless requests, which count for nothing, until one has gone as it must,
// for the convergence time at most.
func until(ctx context.Context, r *bench.Run, over func(q history.Request, served string) bool) {
	ctx, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	for i := 0; ctx.Err() == nil; i++ {
		q := bench.Req{Key: r.Key(), Phase: "converging", Deadline: time.Second}.In(bench.Shapes()[i%8])
		if done := r.Do(ctx, q); over(done, r.Served(q.Key)) {
			return
		}
		r.Pause(ctx, 10*time.Millisecond) // a pace, so that the history stays short
	}
}

// RES007Empty: nobody is left for a while.
func (Cases) RES007Empty() bench.Case {
	const bound, fresh, turns = 16, 16, 3
	const sessions = bound + fresh
	return bench.Case{
		ID:          "RES-007/no-worker",
		Stimulus:    "bound sessions; all workers leave; keyless requests, turns of the bound sessions and first turns of new ones, in every shape; all come back; three turns of every session",
		Requirement: "while there is no worker each is answered 5xx within 2 s and reaches none; afterwards all are served, and the sessions stick",
		Alone:       true, Cost: 200 * time.Millisecond, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(bound, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "before"}.In(bench.Shapes()[s%8]))
			})
			emptied(ctx, r, bound, fresh)
			for t := range turns {
				r.Parallel(sessions, 8, func(s int) {
					// A session that still initializes shows soon enough.
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1 + t, Phase: "back", Deadline: 4 * time.Second}.In(bench.Shapes()[(s+3*t)%8]))
				})
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := []judge.Judge{judge.Served(bound, "before"), judge.Unavailable(len(bench.Shapes())+sessions, turnedAway, "empty"), judge.Served(turns*sessions, "back")}
			if h.Session.Kind != target.KindNone {
				all = append(all, judge.Settled(sessions, "back"))
			}
			return judge.All(all...)(h)
		},
	}
}

// RTE006Empty: how the router says it.
func (Cases) RTE006Empty() bench.Case {
	const bound, fresh = 8, 8
	return bench.Case{
		ID:          "RTE-006/no-worker",
		Stimulus:    "bound sessions; all workers leave; keyless requests, turns of the bound sessions and first turns of new ones, in every shape",
		Requirement: "each is answered 503 with Retry-After and an error object whose code is unavailable",
		Claims:      []string{"scaling.empty"},
		Alone:       true, Cost: 200 * time.Millisecond, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(bound, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "before"}.In(bench.Shapes()[s%8]))
			})
			emptied(ctx, r, bound, fresh)
			return nil
		},
		Judge: judge.All(judge.Served(bound, "before"), judge.RouterError(len(bench.Shapes())+bound+fresh, 503, "unavailable", "empty")),
	}
}
