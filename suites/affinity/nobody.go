package affinity

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

const likeAny = "a request without an id to be placed like any other"

// AFF021Free: requests without an id, right behind a session's over the same connection.
func (Cases) AFF021Free() bench.Case {
	n, need, alpha := inHalves(1, 1)
	return bench.Case{
		ID:          "AFF-021/free",
		Stimulus:    "over one kept-alive connection, a turn of a bound session, then a request without an id, in every shape; then the session's next turn",
		Requirement: "the requests without an id are placed like any other, the session's turns are at one worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range n {
				id, shape := r.SessionID(s), bench.Shapes()[s%8]
				shape.Kept = true
				r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1}.In(shape))
				// For the judge it is the same session: it must not come to where that is.
				r.Do(ctx, bench.Req{Counts: id, Turn: 1, Phase: "free", Tokens: 1}.In(shape))
				between(ctx, r)
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*n, "bound"), judge.Served(n, "free"), judge.Sticks(n, "bound"),
			judge.Replaced(judge.ByPhase, n*3/4, alpha, "bound", "free", "between", likeAny),
			judge.ReplacedInHalves(need, alpha, "between", likeAny, judge.Turns{Before: "bound", After: "free"})),
	}
}

const onlyFree = "a session that only requests without an id followed to be placed like a new one"

// AFF021Idle: requests without an id keep no session alive.
func (Cases) AFF021Idle() bench.Case {
	n, need, alpha := inHalves(1, 1)
	return bench.Case{
		ID:          "AFF-021/idle",
		Stimulus:    "bound sessions, then requests without an id over the same connections, all on both endpoints, streaming or not, for one and a quarter idle times; then the sessions' next turns",
		Requirement: "those are placed like new ones",
		Claims:      []string{"affinity.idleTTL"},
		Variant:     shortTTL, Cost: 3 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			kept := func(i int) bench.Shape {
				shape := bench.FreshShapes()[i%4]
				shape.Kept = true
				return shape
			}
			for _, s := range r.Rand().Perm(n) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(kept(s)))
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept(s)))
				}
			}
			for range 5 {
				r.Pause(ctx, r.IdleTTL()/4)
				for i := range n {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept(i)))
				}
			}
			r.Pause(ctx, 250*time.Millisecond)
			for _, s := range r.Rand().Perm(n) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "lapsed", Tokens: 1}.In(kept(s+1)))
				for range r.Rand().IntN(3) {
					r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(kept(s)))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "bound"), judge.Served(n, "lapsed"),
			judge.Replaced(judge.ByPhase, n*3/4, alpha, "bound", "lapsed", "between", onlyFree),
			judge.ReplacedInHalves(need, alpha, "between", onlyFree, judge.Turns{Before: "bound", After: "lapsed"})),
	}
}

// AFF022Errors: a worker that is broken.
func (Cases) AFF022Errors() bench.Case {
	return serverError("server-error", "is answered 500, 501, 502, 504, 505, 507 or 599", false, 500, 501, 502, 504, 505, 507, 599)
}

// serverError makes a case of a bound session's turns that are answered with these codes.
func serverError(name, how string, pinned bool, codes ...int) bench.Case {
	const anew = "a session whose worker answered with an error to be placed like a new one"
	each, need, alpha := inHalves(len(codes), 1)
	return bench.Case{
		ID:          "AFF-022/" + name,
		Stimulus:    "bound sessions, one turn of which " + how + ", in every shape; then two more turns",
		Requirement: "the error is passed on from one worker, the next turns are placed like new ones, and the last follow them",
		Alone:       true, Cost: 2 * time.Second, Limit: bench.LimitFor(8 * each * len(codes)),
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range each * len(codes) {
				id, code, shape := r.SessionID(s), codes[s%len(codes)], s/len(codes)
				first := bench.Req{Key: r.Key(), Session: id, Phase: "bound", Tokens: 1}.In(bench.Shapes()[shape%8])
				r.Do(ctx, first)
				phase := fmt.Sprintf("status %d", code)
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: phase, Tokens: 1}.In(bench.Shapes()[(shape+3)%8])
				if pinned {
					q.Pin = homeOf(r, first.Key)
				}
				r.Plan(q.Key, status(code).plan)
				r.Do(ctx, q)
				for o := range 1 + r.Rand().IntN(2) {
					newcomer(ctx, r, 2*s+o)
				}
				between(ctx, r)
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: id, Turn: 2 + t, Phase: "after " + phase, Tokens: 1}.In(bench.Shapes()[(shape+5+3*t)%8]))
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := []judge.Judge{judge.Served(each*len(codes), "bound")}
			var turns []judge.Turns
			for _, code := range codes {
				phase := fmt.Sprintf("status %d", code)
				turns = append(turns, judge.Turns{Before: phase, After: "after " + phase})
				all = append(all, judge.PassedOn(phase), judge.Settled(each*3/4, "after "+phase),
					judge.Replaced(judge.ByPhase, each*3/4, alpha, phase, "after "+phase, "between", anew))
			}
			return judge.All(append(all, judge.ReplacedInHalves(need, alpha, "between", anew, turns...))...)(h)
		},
	}
}
