// Package resilience holds the cases of area RES. Each method of Cases is one case.
package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Cases are the cases of area RES.
type Cases struct{}

// RES001Refusing: one worker of four cannot be reached.
func (Cases) RES001Refusing() bench.Case {
	const n = 96
	return bench.Case{
		ID:          "RES-001/refusing-worker",
		Stimulus:    "one worker of four refuses connections; 96 requests in every shape, keyless and first turns",
		Requirement: "every client is answered by another worker",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Fault(r.Workers()[0], bench.Fault{Kind: worker.Refuse})
			mixed(ctx, r, n, "refused")
			return nil
		},
		Judge: judge.All(judge.Served(n, "refused"), judge.Dispatches(1, 1, "refused")),
	}
}

// RES001Crashed: one worker of four died a moment ago; connections to it that a
// router kept open are reset.
func (Cases) RES001Crashed() bench.Case {
	const n = 96
	return bench.Case{
		ID:          "RES-001/crashed-worker",
		Stimulus:    "32 requests, then one worker of four crashes; 96 requests in every shape, keyless and first turns",
		Requirement: "every client is answered by another worker",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			mixed(ctx, r, 32, "before")
			r.Crash(r.Workers()[1])
			mixed(ctx, r, n, "crashed")
			return nil
		},
		Judge: judge.All(judge.Served(32, "before"), judge.Served(n, "crashed"), judge.Dispatches(1, 1, "crashed")),
	}
}

// RES001Bounded: no worker can answer, and the router must come to an end.
func (Cases) RES001Bounded() bench.Case {
	const n, most = 16, 5
	return bench.Case{
		ID:          "RES-001/bounded",
		Stimulus:    "every worker resets or closes every connection before headers; 16 requests in every shape",
		Requirement: "at most five dispatches each (none while the router takes all workers for dead), and an error at the client within 10 s",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(n, n, func(i int) {
				q := bench.Req{Key: r.Key(), Phase: "hopeless"}.In(bench.Shapes()[i%8])
				if i >= n/2 {
					q.Session = r.SessionID(i)
				}
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: i%4 >= 2}})
				r.Do(ctx, q)
			})
			return nil
		},
		Judge: judge.All(judge.Dispatches(0, most, "hopeless"), judge.Reached(1, "hopeless"), judge.ErrorSeen(n, "hopeless")),
	}
}

// RES006Back: two workers are gone for a while, each in its own way.
func (Cases) RES006Back() bench.Case {
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, 1, 1e-6, 0.5, 0.05, 0.99))
	return bench.Case{
		ID:          "RES-006/back",
		Stimulus:    "one worker refuses connections and one crashes; traffic; both come back; after the convergence time, a counted sample",
		Requirement: "each serves its share of the sample",
		Alone:       true, Cost: 2300 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			refusing, dead := r.Workers()[0], r.Workers()[3]
			r.Fault(refusing, bench.Fault{Kind: worker.Refuse})
			r.Crash(dead)
			mixed(ctx, r, 48, "gone")
			r.Heal(refusing)
			r.Restart(dead)
			r.Pause(ctx, r.Convergence())
			for i := range plan.N {
				r.Do(ctx, bench.Req{Phase: "sample", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(48, "gone"), judge.Served(plan.N, "sample"),
			judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil, "sample")),
	}
}

// mixed sends n requests, half keyless and half first turns, through every shape.
func mixed(ctx context.Context, r *bench.Run, n int, phase string) {
	for i := range n {
		q := bench.Req{Phase: phase}.In(bench.Shapes()[i%8])
		if i/8%2 == 1 {
			q.Session = phase + "-" + r.SessionID(i)
		}
		r.Do(ctx, q)
	}
}

// RES003Once: an answer that broke after its client has seen some of it.
func (Cases) RES003Once() bench.Case {
	after := []int{1, 3}
	return bench.Case{
		ID:          "RES-003/no-second-dispatch",
		Stimulus:    "workers that break off (reset or close) after the client has seen 1 or 3 events, or half of an answer that is not streamed, keyless and in sessions",
		Requirement: "no worker gets the request again",
		Alone:       true, Cost: 2800 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for _, n := range after {
					for _, session := range []string{"", r.SessionID(i*10 + n)} {
						q := bench.Req{Session: session, Tokens: 16, Phase: "broken"}.In(s)
						byHand(ctx, r, q, n)
						q.Key = r.Key()
						r.Plan(q.Key, bench.Plan{Events: 16, Interval: 10 * time.Millisecond,
							Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: n + 1, Close: n == 1}})
						r.Do(ctx, q)
					}
				}
			}
			return nil
		},
		Judge: judge.NotAgain(len(after)*8, "broken"),
	}
}

// byHand breaks an answer off once the client has seen n events, or its headers
// where it is not streamed.
func byHand(ctx context.Context, r *bench.Run, q bench.Req, n int) {
	q.Key = r.Key()
	h := r.Plan(q.Key, bench.Plan{Step: q.Stream, HoldFinish: !q.Stream, Events: 16})
	p := r.Start(ctx, q)
	if q.Stream {
		for e := 1; e <= n; e++ {
			h.Advance()
			p.AwaitEvents(ctx, e, 2*time.Second)
		}
	} else {
		p.AwaitHeaders(ctx, 2*time.Second)
	}
	h.Reset()
	p.Wait()
}

// RES004Blameless: workers that answer 4xx are healthy.
func (Cases) RES004Blameless() bench.Case {
	const bad, good = 480, 240
	return bench.Case{
		ID:          "RES-004/client-errors",
		Stimulus:    "480 requests that workers answer with 400, 401, 403, 404, 413 or 422, then 240 valid ones",
		Requirement: "each error is passed on after one dispatch, each valid request is served, and every worker serves some",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range bad {
				q := bench.Req{Key: r.Key(), Phase: "bad"}.In(bench.Shapes()[i%8])
				code := []int{400, 401, 403, 404, 413, 422}[i*6/bad] // long runs, as breakers count
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}})
				r.Do(ctx, q)
			}
			for i := range good {
				r.Do(ctx, bench.Req{Phase: "good"}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		// 240 requests over four workers miss one of them by chance once in 1e29.
		Judge: judge.All(judge.PassedOn("bad"), judge.Served(good, "good"),
			judge.Share(judge.ByPhase, good, 1, good, nil, "good")),
	}
}
