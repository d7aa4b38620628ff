package routing

import (
	"context"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RTE002Retried: a second try is held to the model, too.
func (Cases) RTE002Retried() bench.Case {
	const bound, other = 6, 4
	n := len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-002/retried",
		Stimulus:    "two models, each served by two workers of its own; one worker of the first refuses connections, then both do; requests for that model in every shape, keyless, in new and in bound sessions",
		Requirement: "each is served by the other worker of its model, then by none; requests for the second model are served by its workers",
		Claims:      []string{"routing.byModel", "resilience.retry"},
		Workers:     4, Fleet: bench.Fleet{Models: 2}, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			models, workers := r.ModelsServed(), r.Workers()
			send := func(phase, model string, base, times int) {
				for i := range times {
					q := bench.Req{Model: model, Phase: phase, Tokens: 1}.In(bench.Shapes()[i%8])
					if i%2 == 1 {
						q.Session = r.SessionID(base + i)
					}
					r.Do(ctx, q)
				}
			}
			turns := func(phase string, turn int) {
				for s := range bound {
					r.Do(ctx, bench.Req{Model: models[0], Session: r.SessionID(s), Turn: turn, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*turn)%8]))
				}
			}
			turns("before", 0)
			r.Fault(workers[0], bench.Fault{Kind: worker.Refuse})
			turns("one left", 1)
			send("one left", models[0], 100, n)
			r.Fault(workers[2], bench.Fault{Kind: worker.Refuse})
			turns("none left", 2)
			send("none left", models[0], 200, n)
			send("other model", models[1], 300, other)
			return nil
		},
		Judge: judge.All(judge.Served(bound, "before"), judge.Served(bound+n, "one left"), judge.Served(other, "other model"),
			judge.OfModel(other), judge.Unserved(bound+n, "none left")),
	}
}
