package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF005Returns: a worker that leaves, as an operator wants it, and is back.
func (Cases) AFF005Returns() bench.Case {
	const sessions = 32
	return bench.Case{
		ID:          "AFF-005/returns",
		Stimulus:    "32 bound sessions; the worker with most of them leaves, which goes on running; a turn of each session; it is back; two turns more of each",
		Requirement: "its sessions move once (from a table: for good), nobody else's move",
		Claims:      []string{"affinity.rebind", "scaling.live"},
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(t int, phase string) {
				for _, s := range r.Rand().Perm(sessions) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				}
			}
			round(0, "before")
			leaver := fullest(r, r.Workers())
			if leaver == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Leave(ctx, leaver)
			untilGone(ctx, r, leaver)
			round(1, "after")
			r.Return(ctx, leaver)
			round(2, "back")
			round(3, "back")
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.Served(sessions, "after"), judge.Served(2*sessions, "back"),
			judge.Moves("before", "after", sessions, func(h *history.History, home string) bool { return home != judge.Marked("leave")(h) }),
			judge.Moves("after", "back", sessions, inTable),
			// The fullest of four workers has at least a quarter of the sessions.
			judge.Elsewhere("before", "after", sessions/bench.DefaultWorkers, func(h *history.History) judge.Finding {
				if !inTable(h, "") {
					return judge.Finding{}
				}
				return judge.Settled(sessions/bench.DefaultWorkers, "after", "back")(h)
			})),
	}
}
