package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// begun makes a case of first turns whose answer begins and does not end well. The
// session is bound by then.
func begun(name, what string, claims []string, mishaps ...mishap) bench.Case {
	const each = 16
	return bench.Case{
		ID:          "AFF-010/" + name,
		Stimulus:    "new sessions whose first answer begins and " + what + ", on both endpoints; then three more turns in every shape",
		Requirement: "all turns are at one worker",
		Claims:      append([]string{"affinity.concurrentFirst"}, claims...),
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for m, x := range mishaps {
				r.Parallel(each, 4, func(i int) {
					id := r.SessionID(m*each + i)
					q := bench.Req{Key: r.Key(), Session: id, Phase: x.name, Tokens: 32}.In(bench.Shapes()[i%8])
					q.Stream = x.events > 0
					h := r.Plan(q.Key, x.plan)
					p := r.Start(ctx, q)
					if x.leave {
						p.AwaitHeaders(ctx, 2*time.Second)
						for e := 1; q.Stream && e <= x.events; e++ {
							h.Advance()
							p.AwaitEvents(ctx, e, 2*time.Second)
						}
						p.Cancel()
						r.AwaitAbort(ctx, q.Key, 2*time.Second)
					}
					p.Wait()
					for t := 1; t < 4; t++ {
						r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "later"}.In(bench.Shapes()[(i+3*t)%8]))
					}
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*each*len(mishaps), "later"), judge.Sticks(each*len(mishaps)), judge.Placed(placed(each*len(mishaps)))),
	}
}

// AFF010FirstLeft: the client leaves its session's first answer.
func (Cases) AFF010FirstLeft() bench.Case {
	return begun("first-turn-left", "is left by its client, before its end or between events", []string{"streaming.cancel"},
		mishap{name: "left before the end", plan: bench.Plan{HoldFinish: true}, leave: true},
		mishap{name: "left between events", plan: bench.Plan{Step: true, Events: 20}, leave: true, events: 2})
}

// erring is a stream that the engine gives up.
var erring = mishap{name: "error event", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ErrorEvent, Events: 3}}, events: 3}

// AFF010FirstBroken: the first answer breaks off, or tells of an error.
func (Cases) AFF010FirstBroken() bench.Case {
	return begun("first-turn-broken", "breaks off in its middle, or ends with an error event", nil,
		mishap{name: "reset", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3}}, events: 3},
		mishap{name: "closed in the middle", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3, Close: true}}},
		erring)
}

// AFF010ErrorEvent: a stream of a bound session that tells of an error.
func (Cases) AFF010ErrorEvent() bench.Case {
	return stays("error-event", "is a stream that ends with an error event", erring)
}
