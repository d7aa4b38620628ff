package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// RES007Phase: nobody is left in one of two phases.
func (Cases) RES007Phase() bench.Case {
	const bound, fresh = 4, 4
	const sessions = bound + fresh
	return bench.Case{
		ID:          "RES-007/one-phase",
		Stimulus:    "prefill and decode workers; bound sessions; all prefill workers leave, later all decode workers; keyless requests, turns of the bound sessions and first turns of new ones; they come back; a turn of every session",
		Requirement: "while one phase has no worker each is answered within 2 s; afterwards all are served",
		Claims:      []string{"affinity.key", "pds.split"},
		Fleet:       bench.Split, Alone: true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for k, role := range []bench.Role{bench.Prefill, bench.Decode} {
				id := func(s int) string { return r.SessionID(k*sessions + s) }
				send := func(n, t int, phase string) {
					r.Parallel(n, n, func(s int) {
						r.Do(ctx, bench.Req{Session: id(s), Turn: t, Phase: phase, Tokens: 1, Deadline: 2 * turnedAway}.In(bench.Shapes()[(s+3*t)%8]))
					})
				}
				send(bound, 0, "before")
				gone := r.WorkersOf(role)
				for _, w := range gone {
					r.Leave(ctx, w)
				}
				for i := range 2 {
					r.Do(ctx, bench.Req{Phase: "empty", Tokens: 1, Deadline: 2 * turnedAway}.In(bench.Shapes()[3*i]))
				}
				send(sessions, 1, "empty")
				r.Return(ctx, gone...)
				until(ctx, r, func(q history.Request, _ string) bool { return q.OK() })
				send(sessions, 2, "back")
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*bound, "before"), judge.Within(turnedAway, "empty"), judge.Served(2*sessions, "back")),
	}
}
