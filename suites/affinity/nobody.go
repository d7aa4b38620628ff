package affinity

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF021Free: requests without an id, right behind a session's over the same connection.
func (Cases) AFF021Free() bench.Case {
	plan, alpha := replan(1)
	return bench.Case{
		ID:          "AFF-021/free",
		Stimulus:    "over one kept-alive connection, a turn of a bound session, then a request without an id, in every shape; then the session's next turn",
		Requirement: "the requests without an id are placed like any other, the session's turns are at one worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range plan.N {
				id, shape := r.SessionID(s), bench.Shapes()[s%8]
				shape.Kept = true
				r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1}.In(shape))
				// For the judge it is the same session: it must not come to where that is.
				r.Do(ctx, bench.Req{Counts: id, Turn: 1, Phase: "free", Tokens: 1}.In(shape))
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1})
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*plan.N, "bound"), judge.Served(plan.N, "free"), judge.Sticks(plan.N, "bound"),
			judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "bound", "free", "between", "a request without an id to be placed like any other")),
	}
}

// AFF021Idle: requests without an id keep no session alive.
func (Cases) AFF021Idle() bench.Case {
	plan, alpha := replan(1)
	return bench.Case{
		ID:          "AFF-021/idle",
		Stimulus:    "bound sessions, then requests without an id over the same connections for one and a quarter idle times; then the sessions' next turns",
		Requirement: "those are placed like new ones",
		Claims:      []string{"affinity.idleTTL"},
		Variant:     shortTTL, Cost: 4 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			kept := bench.Shape{Endpoint: history.Chat, Kept: true}
			for _, s := range r.Rand().Perm(plan.N) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(kept))
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept))
				}
			}
			for range 5 {
				r.Pause(ctx, r.IdleTTL()/4)
				for range plan.N {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept))
				}
			}
			r.Pause(ctx, 250*time.Millisecond)
			for _, s := range r.Rand().Perm(plan.N) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "lapsed", Tokens: 1}.In(kept))
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(plan.N, "bound"), judge.Served(plan.N, "lapsed"),
			judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "bound", "lapsed", "between", "a session that only requests without an id followed to be placed like a new one")),
	}
}

// AFF022Errors: a worker that is broken.
func (Cases) AFF022Errors() bench.Case {
	codes := []int{500, 501, 502, 504, 507}
	plan, alpha := replan(len(codes))
	return bench.Case{
		ID:          "AFF-022/server-error",
		Stimulus:    "bound sessions, one turn of which is answered 500, 501, 502, 504 or 507, in every shape; then two more turns",
		Requirement: "the error is passed on from one worker, the next turns are placed like new ones, and the last follow them",
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range plan.N * len(codes) {
				id, code := r.SessionID(s), codes[s%len(codes)]
				r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1}.In(bench.Shapes()[s/len(codes)%8]))
				phase := fmt.Sprintf("status %d", code)
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s/len(codes)+3)%8])
				r.Plan(q.Key, status(code).plan)
				r.Do(ctx, q)
				for o := range 1 + r.Rand().IntN(3) {
					newcomer(ctx, r, 3*s+o)
				}
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1})
				}
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: id, Turn: 2 + t, Phase: "after " + phase, Tokens: 1}.In(bench.Shapes()[(s/len(codes)+5+3*t)%8]))
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := []judge.Judge{judge.Served(plan.N*len(codes), "bound")}
			for _, code := range codes {
				phase := fmt.Sprintf("status %d", code)
				all = append(all, judge.PassedOn(phase), judge.Settled(plan.N*3/4, "after "+phase), judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, phase, "after "+phase, "between",
					"a session whose worker answered with an error to be placed like a new one"))
			}
			return judge.All(all...)(h)
		},
	}
}
