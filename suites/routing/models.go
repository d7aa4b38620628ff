package routing

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RTE002ByModel: workers that serve different models.
func (Cases) RTE002ByModel() bench.Case {
	const rounds = 6
	return bench.Case{
		ID:          "RTE-002/by-model",
		Stimulus:    "two models, each served by two workers of its own; requests for each in every shape and a seeded order, keyless, in new sessions and in one that is bound under the other",
		Requirement: "each is served by a worker of its model; a model that none serves is refused as before",
		Claims:      []string{"routing.byModel"},
		Workers:     4, Fleet: bench.Fleet{Models: 2}, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			models, shapes := r.ModelsServed(), bench.Shapes()
			for k, m := range models {
				r.Do(ctx, bench.Req{Session: r.SessionID(k), Model: m, Phase: "served"})
			}
			for _, x := range r.Rand().Perm(rounds * len(shapes)) {
				for k, m := range models {
					q := bench.Req{Model: m, Phase: "served", Tokens: 1}.In(shapes[x%8])
					switch x / 8 % 3 {
					case 1:
						q.Session = r.SessionID(10 + 2*x + k)
					case 2:
						q.Session = r.SessionID(1 - k)
					}
					r.Do(ctx, q)
					if x < 8 {
						r.Do(ctx, bench.Req{Model: "no-such-model", Session: q.Session, Phase: "unknown"}.In(shapes[x%8]))
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*(1+rounds*8), "served"), judge.OfModel(rounds*8, "served"), judge.Refused("unknown")),
	}
}
