package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF005Ranks: sessions that were bound to a rank of the worker that dies.
func (Cases) AFF005Ranks() bench.Case {
	const ranks, sessions = 4, 48
	return bench.Case{
		ID:          "AFF-005/ranks",
		Stimulus:    "workers of four ranks; 48 sessions bound to rank 3 of one by their pin; it crashes; three unpinned turns of each",
		Requirement: "every turn is answered, the sessions stay where they go, and do not all get the rank that they had",
		Claims:      []string{"pins.worker", "pins.rank"},
		Fleet:       bench.Fleet{Ranks: ranks}, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.Workers()[1]
			pin := script.On(victim, ranks-1)
			for _, s := range r.Rand().Perm(sessions) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Pin: &pin, Phase: "before", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			r.Crash(victim)
			for t := 1; t < 4; t++ {
				for _, s := range r.Rand().Perm(sessions) {
					between(ctx, r)
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: "after", Tokens: 1}.In(bench.Shapes()[(s+t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.AsPinned(sessions, "before"), judge.Served(3*sessions, "after"),
			judge.Settled(sessions, "after"), judge.RankAnew(sessions, "before", "after")),
	}
}
