package affinity

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// AFF017Phases: each header by itself, where requests are served in two phases.
func (c Cases) AFF017Phases() bench.Case {
	x := c.AFF017Each()
	placing := judge.Placed(eachSessions - 4) // a ring of three may well give half to one
	x.ID = "AFF-017/phases"
	x.Stimulus = "prefill and decode workers; " + x.Stimulus
	x.Requirement = "each session's turns are prefilled at one worker and decoded at one"
	x.Claims = []string{"pds.split"}
	x.Fleet, x.Cost = split, time.Second
	x.Judge = judge.All(judge.Served(eachTurns), stick(eachSessions), prefill.only(placing), decode.only(placing))
	return x
}

// AFF017Tenants: each header by itself, and two customers who use the same ids in it.
func (Cases) AFF017Tenants() bench.Case {
	names := append(agentHeaders(), claudeAgent)
	pairs := stats.Must(stats.AllSame(1e-6/float64(len(names)), bench.DefaultWorkers))
	const turns = 2
	n := turns * 2 * pairs * len(names)
	return bench.Case{
		ID:          "AFF-017/tenants",
		Stimulus:    "ids that two tenants use, two turns of each in every shape, in a seeded order; the ids named by each header alone, and by an agent's beside its session's",
		Requirement: "each tenant's turns are at one worker, and some pair of each header lies on two",
		Claims:      []string{"affinity.tenant"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			root := r.SessionID(-1)
			for t := range turns {
				for _, x := range r.Rand().Perm(2 * pairs * len(names)) {
					i, pair, owner := x/(2*pairs), x/2%pairs, x%2
					q := tenantsTurn(owner, r.SessionID(x/2)).In(bench.Shapes()[(x+3*t)%8])
					q.Header = http.Header{}
					if names[i] == claudeAgent {
						q.Header = named(claudeSession, root)
					}
					q.Header[spelled(names[i], pair)] = []string{q.Session}
					q.Session, q.Turn, q.Phase, q.Tokens = "", pair, "first by "+names[i], 1
					if t > 0 {
						q.Phase = fmt.Sprintf("turn %d", t)
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: func() judge.Judge {
			all := []judge.Judge{judge.Served(n), judge.Sticks(2 * pairs * len(names))}
			for _, name := range names {
				all = append(all, judge.Apart(pairs, "first by "+name))
			}
			return judge.All(all...)
		}(),
	}
}
