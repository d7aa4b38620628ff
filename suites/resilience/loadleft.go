package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// shares is the sample that tells whether each worker gets its share of keyless requests.
func shares() stats.Spread {
	return stats.Must(stats.PlanSpread(bench.DefaultWorkers, 1, 1e-6, 0.5, 0.05, 0.99))
}

// sample looks where keyless requests go, once the router has had the time to forgive
// who failed (RES-006) or to learn who is back (SCL-002).
func sample(ctx context.Context, r *bench.Run, plan stats.Spread) {
	r.Pause(ctx, r.Convergence())
	for i := range plan.N {
		r.Do(ctx, bench.Req{Phase: "sample", Tokens: 1}.In(bench.Shapes()[i%8]))
	}
}

func sampled(plan stats.Spread) judge.Judge {
	return judge.All(judge.Served(plan.N, "sample"), judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil, "sample"))
}

// gathered binds sessions until one worker has n of them, and says which it is.
func gathered(ctx context.Context, r *bench.Run, n int) (busy string, here []string) {
	all := map[string][]string{}
	for s := 0; s < 8*n && ctx.Err() == nil; s++ {
		q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(bench.Shapes()[s%8])
		r.Do(ctx, q)
		w := r.Served(q.Key)
		if all[w] = append(all[w], q.Session); w != "" && len(all[w]) == n {
			r.Mark("note", w, "all early ends are at this worker")
			return w, all[w]
		}
	}
	return "", nil
}

// failings are the ways in which a worker fails a request that it has.
func failings() []ending {
	status := func(code int) bench.Plan {
		return bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}}
	}
	broken := func(close bool) bench.Plan {
		return bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3, Close: close}}
	}
	return []ending{
		{"answered 500", status(500), false, -1}, {"stream answered 500", status(500), true, -1},
		{"answered 429", status(429), false, -1}, {"stream answered 503", status(503), true, -1},
		{"broken off", broken(false), false, -1}, {"stream broken off", broken(true), true, -1},
	}
}

// unanswered are the ways in which a connection breaks before headers. The retry is served.
func unanswered() []ending {
	reset := func(close bool) bench.Plan {
		return bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: close, Count: 1}}
	}
	return []ending{{"reset before headers", reset(false), false, -1}, {"stream closed before headers", reset(true), true, -1}}
}

// RES005Fails: everything that fails, fails at one worker.
func (Cases) RES005Fails() bench.Case {
	const each = 6
	answered, broken, plan := failings(), unanswered(), shares()
	return bench.Case{
		ID:          "RES-005/worker-fails",
		Stimulus:    "at one worker, six requests each that it answers 429, 500 or 503, breaks off in the middle, or breaks before headers; then, after the convergence time, keyless requests",
		Requirement: "that worker gets its share of the keyless requests, no more and no less",
		Alone:       true, Cost: 3 * time.Second,
		Claims: []string{"resilience.retry"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			// A failure may end its session's binding: each has one of its own.
			_, here := gathered(ctx, r, each*(len(answered)+len(broken)))
			for i, id := range here {
				// What breaks before headers comes last: a router may put the worker aside.
				e := broken[i%len(broken)]
				if i < each*len(answered) {
					e = answered[i%len(answered)]
				}
				end(ctx, r, e, id, []string{history.Chat, history.Completions}[i/len(answered)%2])
				r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}) // successes between errors keep circuits closed
			}
			sample(ctx, r, plan)
			return nil
		},
		Judge: judge.All(judge.Reached(each*len(answered)+1, "ended"), sampled(plan)),
	}
}

// RES005Leaves: what runs at a worker that leaves.
func (Cases) RES005Leaves() bench.Case {
	const each = 12
	plan := shares()
	return bench.Case{
		ID:          "RES-005/worker-leaves",
		Stimulus:    "requests running at one worker, streamed and not; it leaves; half of them are left by their clients, the others end; it comes back; after the convergence time, keyless requests",
		Requirement: "that worker gets its share of the keyless requests, no more and no less",
		Alone:       true, Cost: 3 * time.Second,
		Claims: []string{"scaling.live", "streaming.cancel"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			busy, here := gathered(ctx, r, each)
			if busy == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			running, holds := make([]*bench.Pending, each), make([]*bench.Handle, each)
			for i, id := range here {
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "ended", Deadline: 40 * time.Second}.In(bench.Shapes()[i%8])
				holds[i] = r.Plan(q.Key, bench.Plan{HoldFinish: true})
				running[i] = r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				running[i].AwaitHeaders(ctx, 2*time.Second)
			}
			r.Leave(ctx, busy)
			for i, p := range running {
				if i%2 == 0 {
					p.Cancel()
				} else {
					holds[i].Release()
				}
				p.Wait()
			}
			r.Return(ctx, busy)
			sample(ctx, r, plan)
			return nil
		},
		Judge: judge.All(judge.Reached(each, "ended"), sampled(plan)),
	}
}
