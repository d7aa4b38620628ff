package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// halfAnswer is how long the headers of an answer whose second half is held may take.
const halfAnswer = 250 * time.Millisecond

// meet sends a request that meets with the mishap.
func (x mishap) meet(ctx context.Context, r *bench.Run, q bench.Req) {
	if x.upload {
		q.Phase = x.name
		upload(ctx, r, q)
		return
	}
	q.Key, q.Phase, q.Stream = r.Key(), x.name, q.Stream || x.events > 0
	h := r.Plan(q.Key, x.plan)
	p := r.Start(ctx, q)
	if x.leave {
		r.Arrived(ctx, q.Key, 2*time.Second)
		for e := 1; e <= x.events; e++ {
			h.Advance()
			p.AwaitEvents(ctx, e, 2*time.Second)
		}
		if x.begun {
			p.AwaitHeaders(ctx, halfAnswer) // a router may keep them until it has the whole answer
		}
		p.Cancel()
		r.AwaitAbort(ctx, q.Key, 2*time.Second)
	}
	p.Wait()
}

// AFF012Ends: requests that end badly, each the last of its session.
func (Cases) AFF012Ends() bench.Case {
	mishaps := []mishap{
		{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true},
		{name: "left between events", plan: bench.Plan{Step: true, Events: 20}, leave: true, events: 2},
		{name: "broken off", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3}}},
		{name: "answered 400", plan: status(400).plan},
		{name: "answered 429", plan: status(429).plan},
	}
	each, need, alpha := inHalves(len(mishaps), 3)
	n := each * len(mishaps)
	return bench.Case{
		ID:          "AFF-012/ends",
		Stimulus:    "bound sessions whose last request, in every shape, is left by its client before headers or between events, breaks off in the middle of its answer, or is answered 400 or 429; one and a quarter idle times and a quarter of a second later, another turn",
		Requirement: "they are placed like new ones: the request has ended for the session, too",
		Claims:      []string{"affinity.idleTTL", "streaming.cancel"},
		Variant:     shortTTL, Alone: true, Cost: 4 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(n, 8, func(i int) {
				q := bench.Req{Session: r.SessionID(i), Phase: "bound", Tokens: 32}.In(bench.Shapes()[i/len(mishaps)%8])
				r.Do(ctx, q)
				q.Turn = 1
				mishaps[i%len(mishaps)].meet(ctx, r, q)
			})
			r.Pause(ctx, r.IdleTTL()*5/4+250*time.Millisecond)
			for _, i := range r.Rand().Perm(n) {
				between(ctx, r)
				r.Do(ctx, bench.Req{Session: r.SessionID(i), Turn: 2, Tokens: 1, Phase: "lapsed " + mishaps[i%len(mishaps)].name}.In(bench.Shapes()[(i+3)%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := []judge.Judge{judge.Served(n, "bound")}
			turns := func(xs ...mishap) (all []judge.Turns) {
				for _, x := range xs {
					all = append(all, judge.Turns{Before: x.name, After: "lapsed " + x.name})
				}
				return all
			}
			for _, x := range mishaps {
				all = append(all, judge.Served(each, "lapsed "+x.name), judge.Replaced(judge.ByPhase, each*3/4, alpha, x.name, "lapsed "+x.name, "between",
					"a session that was idle for too long since its last request was "+x.name+" to be placed like a new one"))
			}
			for _, alike := range [][]mishap{mishaps[:2], mishaps[2:3], mishaps[3:]} {
				all = append(all, judge.ReplacedInHalves(need, alpha, "between", tooLong, turns(alike...)...))
			}
			return judge.All(all...)(h)
		},
	}
}

// AFF009Failed: first turns that bind nothing, as many as there are places.
func (Cases) AFF009Failed() bench.Case {
	failures := []mishap{
		{name: "answered 400", plan: status(400).plan},
		{name: "answered 500", plan: status(500).plan},
		{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true},
	}
	return bench.Case{
		ID:          "AFF-009/failed",
		Stimulus:    "as many new sessions as the declared capacity, whose first turn is answered 400 or 500, or is left by its client before headers; then three quarters as many others, two turns each",
		Requirement: "the others are served and stay on their workers",
		Claims:      []string{"affinity.commitOnSuccess", "streaming.cancel"},
		Variant:     "smallCapacity", Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n := r.Capacity()
			r.Parallel(n, 8, func(s int) {
				failures[s%len(failures)].meet(ctx, r, bench.Req{Session: r.SessionID(s), Tokens: 1}.In(bench.Shapes()[s/len(failures)%8]))
			})
			for t := range 2 {
				r.Parallel(fresh(n), 8, func(s int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(n + s), Turn: t, Phase: "new", Tokens: 1}.In(bench.Shapes()[(s+t)%8]))
				})
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			n := h.Session.Capacity
			all := []judge.Judge{judge.Served(2*fresh(n), "new"), judge.Sticks(fresh(n), "new")}
			for i, x := range failures {
				all = append(all, judge.Unserved((n+len(failures)-1-i)/len(failures), x.name))
			}
			return judge.All(all...)(h)
		},
	}
}
