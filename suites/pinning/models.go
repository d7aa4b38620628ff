package pinning

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// PIN001Alias: pins of requests that call their model by another name.
func (Cases) PIN001Alias() bench.Case {
	const least = 2 * 8 // a model's own name and one alias at least, in every shape
	return bench.Case{
		ID:          "PIN-001/alias",
		Stimulus:    "requests for a model by its own name and by each of its aliases, pinned to each worker, keyless and first turns, in every shape; of each session an unpinned turn and one with the same pin, under another of the names",
		Requirement: "all are served by the pin's worker",
		Claims:      []string{"affinity.key", "routing.aliases"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers, names := r.Workers(), append(r.Aliases(r.Model()), r.Model())
			for i, shape := range bench.Shapes() {
				for j, name := range names {
					pin, id := at(workers[(i+i/4+j)%len(workers)]), r.SessionID(8*j+i)
					r.Do(ctx, bench.Req{Model: name, Pin: pin, Tokens: 1}.In(shape))
					r.Do(ctx, bench.Req{Model: name, Session: id, Pin: pin, Tokens: 1}.In(shape))
					for t := 1; t < 3; t++ {
						q := bench.Req{Model: names[(j+t)%len(names)], Session: id, Turn: t, Tokens: 1}.In(bench.Shapes()[(i+3*t)%8])
						if t == 2 {
							q.Pin = pin
						}
						r.Do(ctx, q)
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*least), judge.AsPinned(3*least), judge.FollowsPin(least), judge.Sticks(least)),
	}
}

// PIN010UnknownModel: pins to living workers, of requests that nobody can serve.
func (Cases) PIN010UnknownModel() bench.Case {
	return bench.Case{
		ID:          "PIN-010/unknown-model",
		Stimulus:    "requests for a model that no worker serves, pinned to each worker, keyless, in new sessions and in a bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.key", "routing.models"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers, bound := r.Workers(), r.SessionID(0)
			r.Do(ctx, bench.Req{Session: bound, Pin: at(workers[0]), Phase: "bound"})
			for i, shape := range bench.Shapes() {
				for j, id := range []string{"", bound, r.SessionID(1 + i)} {
					pin := at(workers[(i+i/4+j)%len(workers)])
					if id == bound {
						pin = at(workers[0])
					}
					r.Do(ctx, bench.Req{Session: id, Model: "no-such-model", Pin: pin, Phase: "unknown"}.In(shape))
				}
				r.Do(ctx, bench.Req{Session: bound, Turn: 1 + i, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(9, "bound"), judge.Sticks(1, "bound"), judge.Refused("unknown")),
	}
}
