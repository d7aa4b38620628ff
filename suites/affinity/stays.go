package affinity

import (
	"context"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// mishap is a request of a bound session that does not go well, while its worker lives.
type mishap struct {
	name   string
	plan   bench.Plan
	leave  bool // the client leaves
	events int  // once it has seen so many
}

// stays makes a case of mishaps in bound sessions.
func stays(name, what string, mishaps ...mishap) bench.Case {
	const each = 16
	return bench.Case{
		ID:          "AFF-010/" + name,
		Stimulus:    "bound sessions, one request of which " + what + ", in every shape; then two more turns",
		Requirement: "all turns are at one worker",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for m, x := range mishaps {
				r.Parallel(each, 4, func(i int) {
					id := r.SessionID(m*each + i)
					r.Do(ctx, bench.Req{Session: id, Phase: "bound"}.In(bench.Shapes()[i%8]))
					x.meet(ctx, r, bench.Req{Session: id, Turn: 1, Tokens: 32}.In(bench.Shapes()[(i+3)%8]))
					for t := 2; t < 4; t++ {
						r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "bound"}.In(bench.Shapes()[(i+t)%8]))
					}
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*each*len(mishaps), "bound"), judge.Sticks(each*len(mishaps))),
	}
}

// AFF010Error: the worker blames the request.
func (Cases) AFF010Error() bench.Case {
	return stays("client-error", "is answered 400, 401, 403, 404, 409, 413 or 422", mishap{name: "400", plan: status(400).plan},
		mishap{name: "401", plan: status(401).plan}, mishap{name: "403", plan: status(403).plan}, mishap{name: "404", plan: status(404).plan},
		mishap{name: "409", plan: status(409).plan}, mishap{name: "413", plan: status(413).plan}, mishap{name: "422", plan: status(422).plan})
}

// AFF010Left: the client leaves.
func (Cases) AFF010Left() bench.Case {
	c := stays("client-left", "is left by its client before headers or between events",
		mishap{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true},
		mishap{name: "left between events", plan: bench.Plan{Step: true, Events: 20}, leave: true, events: 2})
	c.Claims = []string{"streaming.cancel"}
	return c
}

// AFF010Broken: the answer breaks off in its middle, and the worker lives on.
func (Cases) AFF010Broken() bench.Case {
	return stays("broken-answer", "breaks off in the middle of its answer",
		mishap{name: "reset", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3}}},
		mishap{name: "closed", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3, Close: true}}})
}
