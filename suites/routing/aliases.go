package routing

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RTE007Alias: other names of the model.
func (Cases) RTE007Alias() bench.Case {
	return bench.Case{
		ID:          "RTE-007/alias",
		Stimulus:    "requests for a model by its own name and by each of its aliases, keyless and in new sessions, in every shape",
		Requirement: "each is served",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for j, name := range append(r.Aliases(r.Model()), r.Model()) {
					for _, session := range []string{"", r.SessionID(100*j + i)} {
						r.Do(ctx, bench.Req{Model: name, Session: session}.In(s))
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*len(bench.Shapes())), judge.Dispatches(1, 1)),
	}
}

// RTE007Sessions: one session under all names.
func (Cases) RTE007Sessions() bench.Case {
	const sessions, turns = 32, 5
	return bench.Case{
		ID:          "RTE-007/sessions",
		Stimulus:    "sessions whose turns name the model by its own name and by its aliases in turn, in every shape; then five turns at once",
		Requirement: "each session's turns are at one worker, and not every session's at the same",
		Claims:      []string{"affinity.key"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			names := append(r.Aliases(r.Model()), r.Model())
			r.Parallel(sessions, 4, func(s int) {
				var together []bench.Req
				for t := range 2 * turns {
					q := bench.Req{Session: r.SessionID(s), Turn: t, Model: names[(s+t)%len(names)]}.In(bench.Shapes()[(s+3*t)%8])
					if t < turns {
						r.Do(ctx, q)
					} else {
						together = append(together, q)
					}
				}
				r.Together(ctx, together)
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*turns*sessions), judge.Sticks(sessions), judge.Placed(sessions-4)),
	}
}
