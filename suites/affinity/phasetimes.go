package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF003Phases: first turns that arrive at once, in two phases.
func (Cases) AFF003Phases() bench.Case {
	const sessions, width = 16, 12
	return bench.Case{
		ID:          "AFF-003/phases",
		Stimulus:    "prefill and decode workers; 12 first turns at once in each of 16 new sessions, in every shape",
		Requirement: "all first turns of a session are prefilled at one worker and decoded at one",
		Claims:      []string{"affinity.key", "pds.split"},
		Fleet:       split, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 2, func(s int) {
				var all []*bench.Pending
				var held []*bench.Handle
				for i := range width {
					q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Tokens: 1}.In(bench.Shapes()[i%8])
					held = append(held, r.Plan(q.Key, bench.Plan{HoldHeaders: true}))
					all = append(all, r.Start(ctx, q))
				}
				r.Pause(ctx, 20*time.Millisecond) // so that all are in flight together
				for _, h := range held {
					h.Release()
				}
				for _, p := range all {
					p.Wait()
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions*width), stick(sessions)),
	}
}

// AFF006Phases: idle sessions, in two phases.
func (Cases) AFF006Phases() bench.Case {
	plan, alpha := replan(2)
	const pausing = 24
	return bench.Case{
		ID:          "AFF-006/phases",
		Stimulus:    "sessions bound in two phases that pause for one and a quarter idle times and a quarter of a second, 24 others meanwhile for 0.81 to 0.87 idle times; then another turn, of every second session two",
		Requirement: "the first are placed like new ones in each phase, and stay there; the others are where they were",
		Claims:      []string{"pds.split"},
		Fleet:       split, Variant: shortTTL, Cost: 4 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for _, s := range r.Rand().Perm(plan.N) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "first", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			rest := rests(r, pausing, 1)
			r.Parallel(1+pausing, 1+pausing, func(i int) {
				if i == 0 {
					r.Pause(ctx, r.IdleTTL()*5/4+250*time.Millisecond)
					return
				}
				// They begin one after another, so that no single hitch of the machine stretches every pause.
				r.Pause(ctx, r.IdleTTL()*2/5*time.Duration(i)/pausing)
				pausingTurns(ctx, r, plan.N+i, rest[i-1])
			})
			for _, s := range r.Rand().Perm(plan.N) {
				between(ctx, r)
				for t := range 1 + s%2 {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1 + t, Phase: "lapsed", Tokens: 1}.In(bench.Shapes()[(s+1+3*t)%8]))
				}
			}
			return nil
		},
		Judge: func() judge.Judge {
			lapsed := judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "first", "lapsed", "between", "a session that was idle for too long to be placed like a new one")
			rested := judge.Rested(pausing/3, pauseful)
			return judge.All(judge.Served(plan.N, "first"), judge.Served(plan.N, "lapsed"), stick(plan.N/2, "lapsed"), prefill.only(lapsed), decode.only(lapsed),
				judge.Served(2*pausing, pauseful), prefill.only(rested), decode.only(rested))
		}(),
	}
}

// AFF014Phases: questions where requests are served in two phases.
func (Cases) AFF014Phases() bench.Case {
	const sessions = 16
	return bench.Case{
		ID:          "AFF-014/phases",
		Stimulus:    "prefill and decode workers; questions about sessions that are new, then bound, on both endpoints, streaming or not; turns between",
		Requirement: "each is answered 200 with the decode worker that the session is bound to, if there is one, and reaches no worker of either phase; the turns stick",
		Claims:      []string{"pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 4, func(s int) {
				for t := range 3 {
					what := "bound"
					if t == 0 {
						what = "not bound"
					}
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Asks: true, Phase: what}.In(bench.Shapes()[(s+t)%8]))
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: "turn", Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "turn"), stick(sessions), judge.Asked(false, sessions, "not bound"), judge.Asked(true, 2*sessions, "bound")),
	}
}

// AFF021Phases: requests without an id over a session's connection, in two phases.
func (Cases) AFF021Phases() bench.Case {
	plan, alpha := replan(2)
	return bench.Case{
		ID:          "AFF-021/phases",
		Stimulus:    "prefill and decode workers; over one kept-alive connection, a turn of a session, then a request without an id, in every shape; then the session's next turn",
		Requirement: "in each phase the requests without an id are placed like any other, and the session's turns are at one worker",
		Claims:      []string{"pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range plan.N {
				id, shape := r.SessionID(s), bench.Shapes()[s%8]
				shape.Kept = true
				r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1}.In(shape))
				r.Do(ctx, bench.Req{Counts: id, Turn: 1, Phase: "free", Tokens: 1}.In(shape)) // for the judge, the same session
				between(ctx, r)
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: func() judge.Judge {
			free := judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "bound", "free", "between", "a request without an id to be placed like any other")
			return judge.All(judge.Served(2*plan.N, "bound"), judge.Served(plan.N, "free"), stick(plan.N, "bound"), prefill.only(free), decode.only(free))
		}(),
	}
}

// AFF001ManyPhases: more sessions than a careless table holds, in two phases.
func (Cases) AFF001ManyPhases() bench.Case {
	const sessions, rounds = 300, 2
	return bench.Case{
		ID:          "AFF-001/many-phases",
		Stimulus:    "prefill and decode workers; 300 sessions, a turn of each in two rounds, eight at a time",
		Requirement: "each session's turns are prefilled at one worker and decoded at one",
		Claims:      []string{"pds.split"},
		Fleet:       split, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for t := range rounds {
				order := r.Rand().Perm(sessions)
				r.Parallel(sessions, 8, func(i int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(order[i]), Turn: t, Tokens: 1}.In(bench.Shapes()[(order[i]+3*t)%8]))
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions*rounds), stick(sessions)),
	}
}
