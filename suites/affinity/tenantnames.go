package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// shortName is how long a tenant's name may be, in bytes, and must still be served: how
// long a longer one may be is the router's to say (clause AFF-015).
const shortName = 32

// AFF015TenantNames: one id, two customers whose names a careless comparison takes for one.
func (Cases) AFF015TenantNames() bench.Case {
	kinds := differing()
	// All pairs of one kind on one worker each, by chance.
	pairs := stats.Must(stats.AllSame(1e-6/float64(len(kinds)), bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-015/tenant-names",
		Stimulus:    "ids that two tenants use whose names differ as the ids of AFF-002/distinct-ids do, on this or that endpoint",
		Requirement: "of each kind some pair lies on two workers; names that are long, or hold more than a cookie's value may, may be refused instead",
		Claims:      []string{"affinity.tenant"},
		Cost:        500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			var all []bench.Req
			for k, kind := range kinds {
				a, b := kind.of("tenant")
				for p := range pairs {
					id := r.SessionID(k*pairs + p)
					for _, tenant := range []string{a, b} {
						all = append(all, bench.Req{Session: id, Counts: id + "@" + tenant, Turn: p, Tenant: tenant, Phase: kind.kind, Tokens: 1})
					}
				}
			}
			r.Rand().Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i, q := range all {
				r.Do(ctx, q.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var all []judge.Judge
			for _, kind := range kinds {
				served := judge.All(judge.Served(2*pairs, kind.kind), judge.Apart(pairs, kind.kind))
				a, b := kind.of("tenant")
				rs := judge.In(h, kind.kind)
				if may := !kind.plain || max(len(a), len(b)) > shortName; may && len(rs) > 0 && rs[0].Status/100 == 4 {
					served = judge.Refused(kind.kind)
				}
				all = append(all, served)
			}
			return judge.All(all...)(h)
		},
	}
}
