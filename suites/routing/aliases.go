package routing

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
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

// The sessions of RTE-007/sessions, and their turns one after another; as many follow at once.
const aliasSessions, aliasTurns = 32, 5

// RTE007Sessions: one session under all names.
func (Cases) RTE007Sessions() bench.Case {
	const sessions, turns = aliasSessions, aliasTurns
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

// RTE007Phases: the same where requests are served in two phases.
func (c Cases) RTE007Phases() bench.Case {
	x := c.RTE007Sessions()
	one := judge.All(judge.Sticks(aliasSessions), judge.Placed(aliasSessions-4))
	x.ID = "RTE-007/phases"
	x.Stimulus = "prefill and decode workers; " + x.Stimulus
	x.Requirement = "each session's turns are prefilled at one worker and decoded at one, and not every session's at the same"
	x.Claims = append(x.Claims, "pds.split")
	x.Fleet = bench.Split
	x.Judge = judge.All(judge.Served(2*aliasTurns*aliasSessions), judge.Only(history.Prefill, one), judge.Only(history.Decode, one))
	return x
}

// RTE007Together: one session under all names, before it is bound under any.
func (Cases) RTE007Together() bench.Case {
	const sessions, each = 16, 2
	return bench.Case{
		ID:          "RTE-007/together",
		Stimulus:    "sessions whose first turns name the model by its own name and by each of its aliases, all at once, in every shape; then a turn more",
		Requirement: "each session's turns are at one worker, and not every session's at the same",
		Claims:      []string{"affinity.key", "affinity.concurrentFirst"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			names := append(r.Aliases(r.Model()), r.Model())
			r.Parallel(sessions, 4, func(s int) {
				var first []bench.Req
				for t := range each * len(names) {
					q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Turn: t, Model: names[t%len(names)]}.In(bench.Shapes()[(s+3*t)%8])
					r.Plan(q.Key, bench.Plan{TTFT: 20 * time.Millisecond}) // so that they are there together
					first = append(first, q)
				}
				r.Together(ctx, first)
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: len(first), Model: names[s%len(names)]}.In(bench.Shapes()[s%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served((each*2+1)*sessions), judge.Sticks(sessions), judge.Placed(sessions-2)),
	}
}

// RTE007ByModel: names of several models.
func (Cases) RTE007ByModel() bench.Case {
	return bench.Case{
		ID:          "RTE-007/by-model",
		Stimulus:    "two models, each served by two workers of its own; requests for each by its own name and by each of its aliases, keyless and in new sessions, in every shape",
		Requirement: "each is served by a worker of its model",
		Claims:      []string{"routing.byModel"},
		Workers:     4, Fleet: bench.Fleet{Models: 2},
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for k, m := range r.ModelsServed() {
					for j, name := range append(r.Aliases(m), m) {
						q := bench.Req{Model: name, Tokens: 1}.In(s)
						if (i+i/2+j)%2 == 1 {
							q.Session = r.SessionID(100*i + 10*k + j)
						}
						r.Do(ctx, q)
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*len(bench.Shapes())), judge.OfModel(len(bench.Shapes()))),
	}
}
