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

// RES002Prefill: a prefill worker that hangs.
func (Cases) RES002Prefill() bench.Case {
	const sessions, waiting = 24, 12
	return bench.Case{
		ID:          "RES-002/stuck-prefill",
		Stimulus:    "24 sessions bound in two phases; one prefill worker answers no request; requests of its sessions wait on it while the others go on",
		Requirement: "requests whose prefill is at another worker are answered within 2 s",
		Claims:      []string{"affinity.key", "pds.split"},
		Fleet:       bench.Split, Alone: true, Limit: 40 * time.Second, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			home := map[int]string{}
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound", Tokens: 1}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				r.EachServed(func(key, worker string) {
					if key == q.Key && r.RoleOf(worker) == bench.Prefill {
						home[s] = worker
					}
				})
			}
			victim := home[0]
			if victim == "" {
				return nil // nobody was prefilled, which the judge holds against the target
			}
			r.Fault(victim, bench.Fault{Kind: worker.HangRequests})
			var stuck []*bench.Pending
			for i := 0; len(stuck) < waiting && i < waiting*sessions; i++ {
				if home[i%sessions] == victim {
					q := bench.Req{Key: r.Key(), Session: r.SessionID(i % sessions), Turn: 1, Phase: "stuck"}.In(bench.Shapes()[i%8])
					stuck = append(stuck, r.Start(ctx, q))
					r.ArrivedAt(ctx, q.Key, bench.Prefill, unaffected)
				}
			}
			for round := range 2 {
				r.Parallel(sessions, sessions, func(s int) {
					if home[s] != victim {
						r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1 + round, Phase: "unaffected", Deadline: unaffected * 3 / 2, Tokens: 1}.In(bench.Shapes()[(s+round)%8]))
					}
				})
			}
			for _, p := range stuck {
				p.Cancel()
			}
			return nil
		},
		// Sessions of healthy workers: about two thirds of 24, in two rounds.
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Reached(waiting, "stuck"), judge.Served(8, "unaffected"), judge.Within(unaffected, "unaffected")),
	}
}

// RES003Decode: an answer that broke after its client has seen some of it, in two phases.
func (c Cases) RES003Decode() bench.Case {
	decode := c.RES003Once()
	all := decode.Judge // a second prefill is a dispatch, too
	decode = decode.In(bench.Decode, "decode")
	decode.Judge = all
	return decode
}

// RES005Prefill: prefill that ends early leaves no load behind.
func (Cases) RES005Prefill() bench.Case {
	const each = 24
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, 2, 1e-6, 0.5, 0.05, 0.99))
	even := judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil, "sample")
	return bench.Case{
		ID:          "RES-005/phases",
		Stimulus:    "four prefill and four decode workers; sessions of one of each, of which 24 requests each are left by their clients during prefill and during decode, or answered 400 in either; then keyless requests",
		Requirement: "in each phase every worker gets its share of the keyless requests",
		Claims:      []string{"pds.split", "streaming.cancel"},
		Fleet:       bench.Fleet{Prefill: bench.DefaultWorkers, Decode: bench.DefaultWorkers}, Alone: true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			id := r.SessionID(0)
			r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1})
			for _, role := range []bench.Role{bench.Prefill, bench.Decode} {
				for _, plan := range []bench.Plan{{HoldHeaders: true}, {Fault: &bench.Fault{Kind: worker.Status, Status: 400}}} {
					plan.Role = role
					r.Parallel(each, each, func(i int) {
						q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "ended"}.In(bench.Shapes()[i%8])
						r.Plan(q.Key, plan)
						p := r.Start(ctx, q)
						if plan.HoldHeaders {
							r.ArrivedAt(ctx, q.Key, role, 2*time.Second)
							p.Cancel()
							r.AwaitAbortAt(ctx, q.Key, role, 2*time.Second)
						}
						p.Wait()
					})
				}
			}
			for i := range plan.N {
				r.Do(ctx, bench.Req{Phase: "sample", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1, "bound"), judge.Reached(3*each, "ended"), judge.Served(plan.N, "sample"),
			judge.Only(history.Prefill, even), judge.Only(history.Decode, even)),
	}
}
