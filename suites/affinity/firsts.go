package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// shortHeaders is the manifest variant whose wait for headers a case can wait out.
const shortHeaders = "shortHeaderTimeout"

// gather is how long requests have to reach a worker. Those that a router makes wait
// have come to it by then; one that has not makes its case see less, and nobody wrong.
const gather = 25 * time.Millisecond

// follow sends n turns of the session, beside one that is held, and comes back when
// they have come to a worker or to the router.
func follow(ctx context.Context, r *bench.Run, n int, q bench.Req) []*bench.Pending {
	return followFor(ctx, r, gather, n, q)
}

// followFor is follow for turns that have longer to come.
func followFor(ctx context.Context, r *bench.Run, max time.Duration, n int, q bench.Req) (all []*bench.Pending) {
	missing := map[string]bool{}
	for i := range n {
		q.Key, q.Turn = r.Key(), q.Turn+1
		missing[q.Key] = true
		all = append(all, r.Start(ctx, q.In(bench.Shapes()[(q.Turn+i)%8])))
	}
	r.Await(ctx, max, func(each func(func(*ledger.Attempt))) bool {
		each(func(a *ledger.Attempt) { delete(missing, a.Key) })
		return len(missing) == 0
	})
	return all
}

// held is a failure that comes when it is released.
func (f failure) held() bench.Plan {
	p := f.plan
	p.HoldHeaders = true
	return p
}

// inherited makes a case of first turns that fail while other turns are there already.
// Where the failure may end a binding, too, a router that lets nobody wait has bound the
// session by then, and its later turns may be placed anew.
func inherited(name, how string, ends bool, failures ...failure) bench.Case {
	const each, width = 8, 8
	return bench.Case{
		ID:          "AFF-003/" + name,
		Stimulus:    "new sessions whose first turn is held, eight more turns of each, in every shape; the first " + how + "; then two turns more",
		Requirement: "the eight are answered soon, all at one worker, and so are the later turns",
		Claims:      []string{"affinity.commitOnSuccess"},
		Alone:       true, Cost: time.Duration(each*len(failures)) * 40 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			// One after another: a router that puts a failing worker aside then does so between sessions.
			for i := range each * len(failures) {
				f := failures[i%len(failures)]
				q := bench.Req{Key: r.Key(), Session: r.SessionID(i), Tokens: 1, Phase: f.name}.In(bench.FreshShapes()[i/len(failures)%4])
				h := r.Plan(q.Key, f.held())
				first := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				waiting := follow(ctx, r, width, bench.Req{Session: q.Session, Tokens: 1, Phase: "waits", Deadline: 5 * time.Second})
				if f.leave {
					first.Cancel()
					r.AwaitAbort(ctx, q.Key, 2*time.Second)
				} else {
					h.Release()
				}
				first.Wait()
				for _, p := range waiting {
					p.Wait()
				}
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: q.Session, Turn: width + 1 + t, Tokens: 1, Phase: "later"}.In(bench.Shapes()[(i+3*t)%8]))
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			n := each * len(failures)
			all := []judge.Judge{judge.Served(width*n, "waits"), judge.Served(2*n, "later"), judge.Settled(n, "waits"), judge.Settled(n, "later")}
			if !ends {
				all = append(all, judge.Settled(n, "waits", "later"))
			}
			for _, f := range failures {
				all = append(all, judge.Unserved(each, f.name))
			}
			return judge.All(all...)(h)
		},
	}
}

// AFF003FirstRefused: the first turn is at fault.
func (Cases) AFF003FirstRefused() bench.Case {
	return inherited("first-refused", "is then answered 400 or 429", false, status(400), status(429))
}

// AFF003Fails: its worker fails.
func (Cases) AFF003Fails() bench.Case {
	return inherited("first-fails", "is then answered 500, or finds its connection reset at every worker", true, status(500), broken("reset", false))
}

// AFF003Leaves: its client leaves.
func (Cases) AFF003Leaves() bench.Case {
	c := inherited("first-leaves", "is then left by its client", false, failure{name: "client left", leave: true})
	c.Claims = append(c.Claims, "streaming.cancel")
	return c
}

// AFF003Headers: an answer that has begun, and has said nothing yet.
func (Cases) AFF003Headers() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "AFF-003/before-first-event",
		Stimulus:    "new sessions whose first turn is a stream that is held after its headers, before any event; eight more turns of each meanwhile, in every shape",
		Requirement: "the later turns are served before the first event, at its worker: a session is bound when the answer begins",
		Claims:      []string{"affinity.key"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			firsts, holds := make([]*bench.Pending, sessions), make([]*bench.Handle, sessions)
			keys := make([]string, sessions)
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Stream: true, Phase: "first", Endpoint: bench.FreshShapes()[s%4].Endpoint}
				keys[s], holds[s] = q.Key, r.Plan(q.Key, bench.Plan{Step: true})
				firsts[s] = r.Start(ctx, q)
			}
			for s, p := range firsts {
				// A router may keep the headers until something follows them, but it has them.
				if !p.AwaitHeaders(ctx, 500*time.Millisecond) {
					r.Await(ctx, 2*time.Second, func(each func(func(*ledger.Attempt))) (sent bool) {
						each(func(a *ledger.Attempt) { sent = sent || a.Key == keys[s] && a.HeadersAt != ledger.Unset })
						return sent
					})
				}
			}
			r.Parallel(sessions, 4, func(s int) {
				var qs []bench.Req
				for t, shape := range bench.Shapes() {
					qs = append(qs, bench.Req{Session: r.SessionID(s), Turn: 1 + t, Phase: "meanwhile", Deadline: 5 * time.Second}.In(shape))
				}
				r.Together(ctx, qs)
			})
			for s := range sessions {
				holds[s].Finish()
				firsts[s].Wait()
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "first"), judge.Served(8*sessions, "meanwhile"), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}

// AFF004Silent: no worker says anything to a first turn.
func (Cases) AFF004Silent() bench.Case {
	plan, alpha := replan(1)
	return bench.Case{
		ID:          "AFF-004/no-headers",
		Stimulus:    "new sessions whose first turn no worker answers until the router gives up, in every shape, all at once; then two more turns",
		Requirement: "the second turns are placed like new, not on a worker that said nothing, and the third follow them",
		Claims:      []string{"resilience.headerTimeout"},
		Variant:     shortHeaders, Alone: true, Cost: 3 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(plan.N, plan.N, func(i int) {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(i), Tokens: 1, Phase: "silent", Deadline: 20 * time.Second}.In(bench.Shapes()[i%8])
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.HangRequests}})
				r.Do(ctx, q)
			})
			for _, i := range r.Rand().Perm(plan.N) {
				between(ctx, r)
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: r.SessionID(i), Turn: 1 + t, Tokens: 1, Phase: "after"}.In(bench.Shapes()[(i+3+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Unserved(plan.N, "silent"), judge.Settled(plan.N*3/4, "after"),
			judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "silent", "after", "between", "a session whose first turn no worker answered to be placed like a new one")),
	}
}

// noticed is how soon a router must have seen that a client left which it made wait
// (clause AFF-011).
const noticed = 2 * time.Second

// AFF011HTTP: clients that leave a router while it makes them wait.
func (Cases) AFF011HTTP() bench.Case {
	const sessions = 16
	const released = "the first turns are let go"
	return bench.Case{
		ID:          "AFF-011/http",
		Stimulus:    "new sessions whose first turn is held, four more turns of each, in every shape, two of which their clients leave; two seconds later the first is answered",
		Requirement: "none of those two reaches a worker from then on, and the others are served",
		Claims:      []string{"streaming.cancel"},
		Alone:       true, Cost: 2500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			firsts, holds, stay := make([]*bench.Pending, sessions), make([]*bench.Handle, sessions), make([][]*bench.Pending, sessions)
			r.Parallel(sessions, sessions, func(s int) {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "stays"}.In(bench.Shapes()[s%8])
				holds[s] = r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				firsts[s] = r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				stay[s] = follow(ctx, r, 2, bench.Req{Session: q.Session, Turn: s, Phase: "stays"})
				for _, p := range follow(ctx, r, 2, bench.Req{Session: q.Session, Turn: s + 2, Phase: "leaves"}) {
					p.Cancel()
					p.Wait()
				}
			})
			r.Pause(ctx, noticed)
			r.Mark("note", "", released)
			for s, h := range holds {
				h.Release()
				for _, p := range append(stay[s], firsts[s]) {
					p.Wait()
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "stays"), judge.QuietAfter(released, 2*sessions, "leaves")),
	}
}
