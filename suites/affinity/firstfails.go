package affinity

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF004Pinned: the worker that failed is the one that was asked for.
func (Cases) AFF004Pinned() bench.Case {
	pinned := func(code int) failure {
		f := rare(code)
		f.pin = true
		return f
	}
	c := failed("pinned", "is pinned to a worker, which answers it 400 or 500", pinned(400), pinned(500))
	c.Claims = []string{"pins.worker"}
	return c
}

// AFF004Retried: first turns that were tried twice, and failed the second time.
func (Cases) AFF004Retried() bench.Case {
	c := retriedFails("AFF-004/retried", "new sessions whose first turn", false, 400, 500)
	c.Claims = []string{"resilience.retry"}
	return c
}

// AFF013Retried: turns of bound sessions that were. Where a failed turn binds is asked of
// who claims that none does.
func (Cases) AFF013Retried() bench.Case {
	c := retriedFails("AFF-013/retried", "bound sessions one turn of which", true, 400, 429, 500)
	c.Claims = []string{"resilience.retry", "affinity.rebind", "affinity.commitOnSuccess"}
	return c
}

// retriedFails makes a case of turns that fail at a second worker, each with one of these
// codes. They meet their resets all at once, and the answers behind these show each worker
// alive: a router may keep those out of sight that have just broken a connection.
func retriedFails(id, what string, bound bool, codes ...int) bench.Case {
	_, alpha := replan(len(codes))
	need := always(alpha)
	n := need + 2
	name := func(i int) string { return fmt.Sprintf("reset, then %d", codes[i%len(codes)]) }
	var words []string
	for _, code := range codes {
		words = append(words, strconv.Itoa(code))
	}
	last := len(words) - 1
	return bench.Case{
		ID: id,
		Stimulus: fmt.Sprintf("%s, in every shape, finds its connection reset at one worker and is answered %s or %s by the next; then two more turns",
			what, strings.Join(words[:last], ", "), words[last]),
		Requirement: "the next turns are placed like those of new sessions, and the last follow them",
		Alone:       true, Cost: time.Second, Limit: bench.LimitFor(7 * n * len(codes)),
		Drive: func(ctx context.Context, r *bench.Run) error {
			if bound {
				for _, i := range r.Rand().Perm(n * len(codes)) {
					r.Do(ctx, bench.Req{Session: r.SessionID(i), Tokens: 1, Phase: "bound"}.In(bench.Shapes()[(i/len(codes)+5)%8]))
				}
			}
			var held []*bench.Handle
			var failing []*bench.Pending
			for i := range n * len(codes) {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(i), Turn: 1, Tokens: 1, Phase: name(i)}.In(bench.Shapes()[i/len(codes)%8])
				p := broken("reset", false).held()
				p.Fault.Count, p.Then = 1, status(codes[i%len(codes)]).plan.Fault
				held = append(held, r.Plan(q.Key, p))
				failing = append(failing, r.Start(ctx, q))
				r.Arrived(ctx, q.Key, 2*time.Second)
			}
			for _, h := range held {
				h.Release()
			}
			for _, p := range failing {
				p.Wait()
			}
			for _, i := range r.Rand().Perm(n * len(codes)) {
				newcomer(ctx, r, i)
				between(ctx, r)
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: r.SessionID(i), Turn: 2 + t, Tokens: 1, Phase: "after " + name(i)}.In(bench.Shapes()[(i/len(codes)+3+3*t)%8]))
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var all []judge.Judge
			if bound {
				all = append(all, judge.Served(n*len(codes), "bound"))
			}
			for i := range codes {
				all = append(all, judge.Unserved(n, name(i)), judge.Settled(n*3/4, "after "+name(i)), judge.Replaced(judge.ByPhase, need, alpha,
					name(i), "after "+name(i), "between", "a session whose turn failed at a second worker to be placed like a new one"))
			}
			return judge.All(all...)(h)
		},
	}
}
