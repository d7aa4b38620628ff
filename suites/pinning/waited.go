package pinning

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// PIN003HTTP: pins of turns that a router makes wait.
func (Cases) PIN003HTTP() bench.Case {
	const sessions = 8
	return bench.Case{
		ID:          "PIN-003/http",
		Stimulus:    "new sessions whose first turn is held, in every shape; a turn pinned to each worker; the first is answered; then an unpinned turn",
		Requirement: "the turn that is pinned to the first one's worker is served there, the others are answered 4xx and reach no worker, and the session stays",
		Claims:      []string{"affinity.concurrentFirst"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, sessions, func(s int) {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(bench.Shapes()[s])
				h := r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				all := []*bench.Pending{r.Start(ctx, q)}
				r.Arrived(ctx, q.Key, soon)
				home := r.Served(q.Key)
				for i, w := range r.Workers() {
					p := bench.Req{Session: q.Session, Turn: 1 + i, Pin: at(w), Phase: "contradicts", Tokens: 1}.In(bench.Shapes()[(s+3*i)%8])
					if w == home {
						p.Phase = "agrees"
					}
					all = append(all, r.Start(ctx, p))
				}
				r.Pause(ctx, 50*time.Millisecond) // so that most have come to the router; one that has not is refused all the same
				h.Release()
				for _, p := range all {
					p.Wait()
				}
				r.Do(ctx, bench.Req{Session: q.Session, Turn: 9, Phase: "bound", Tokens: 1}.In(bench.Shapes()[(s+5)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*sessions, "bound"), judge.Served(sessions, "agrees"), judge.AsPinned(sessions, "agrees"),
			judge.Refused("contradicts"), judge.Sticks(sessions, "bound", "agrees")),
	}
}

// PIN002Lapsed: a pin in a session that was away for too long.
func (Cases) PIN002Lapsed() bench.Case {
	const sessions = 12
	return bench.Case{
		ID:          "PIN-002/lapsed",
		Stimulus:    "bound sessions that pause for one and a quarter idle times and a quarter of a second; a turn pinned to a worker that they were not bound to, in every shape; then an unpinned one",
		Requirement: "both are served where the pin says",
		Claims:      []string{"affinity.idleTTL"},
		Variant:     "shortTTL", Cost: 3 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			home := make([]string, sessions)
			r.Parallel(sessions, 4, func(s int) {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				home[s] = r.Served(q.Key)
			})
			r.Pause(ctx, r.IdleTTL()*5/4+250*time.Millisecond)
			r.Parallel(sessions, 4, func(s int) {
				all := r.Workers()
				other := all[s%len(all)]
				if other == home[s] {
					other = all[(s+1)%len(all)]
				}
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Pin: at(other), Phase: "anew", Tokens: 1}.In(bench.Shapes()[(s+3)%8]))
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 2, Phase: "anew", Tokens: 1}.In(bench.Shapes()[(s+5)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Served(2*sessions, "anew"), judge.AsPinned(sessions, "anew"), judge.FollowsPin(sessions, "anew")),
	}
}
