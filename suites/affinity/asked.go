package affinity

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF014Aliases: questions to a router that ask for a model by another name than the turns.
func (Cases) AFF014Aliases() bench.Case {
	return asking(24, bench.Case{
		ID:          "AFF-014/aliases",
		Stimulus:    "questions about sessions that are new, then bound, some while a first turn is held, under the model's own name and its aliases in turn; turns under another of the names between",
		Requirement: "each is answered 200 with the binding if there is one, reaches no worker, waits for nobody, and the turns stick",
		Claims:      []string{"routing.aliases"},
	}, func(r *bench.Run, s int, q bench.Req) bench.Req {
		names := append(r.Aliases(r.Model()), r.Model())
		i := s + q.Turn
		if !q.Asks {
			i++
		}
		q.Model = names[i%len(names)]
		return q
	})
}

// AFF014Tenants: questions of two customers who use the same ids, and of nobody in particular.
func (Cases) AFF014Tenants() bench.Case {
	const ids, turns = 16, 3
	return bench.Case{
		ID:          "AFF-014/tenants",
		Stimulus:    "ids that two tenants use; before each tenant's first turn it asks about its session, and so does somebody without a tenant; then both ask before each of their turns",
		Requirement: "whose session is not bound is told so, whoever else's is; the others are answered with their own binding, and each tenant's turns are at one worker",
		Claims:      []string{"affinity.tenant"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(ids, 4, func(s int) {
				id := r.SessionID(s)
				ask := func(q bench.Req, t int, phase string) {
					q.Turn, q.Asks, q.Phase = t, true, phase
					r.Do(ctx, q.In(bench.FreshShapes()[(s+t)%4]))
				}
				for t := range turns {
					for owner := range 2 {
						q := tenantsTurn(owner, id)
						if t == 0 {
							ask(q, t, "not bound")
							ask(bench.Req{Session: id}, t, "not bound")
						} else {
							ask(q, t, "bound")
						}
						q.Turn, q.Phase, q.Tokens = t, "turn", 1
						r.Do(ctx, q.In(bench.Shapes()[(s+3*t+owner)%8]))
					}
				}
				ask(bench.Req{Session: id}, turns, "not bound")
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*turns*ids, "turn"), judge.Sticks(2*ids, "turn"), judge.Placed(placed(2*ids), "turn"),
			judge.Asked(false, 5*ids, "not bound"), judge.Asked(true, 2*(turns-1)*ids, "bound")),
	}
}
