package affinity

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
	"github.com/routeproof/routeproof/suites/script"
)

// owners sends three turns of each of n ids for each of two owners, in a seeded order
// and in every shape. Owned makes the request that owner 0 or 1 sends.
func owners(ctx context.Context, r *bench.Run, n int, owned func(owner int, id string) bench.Req) {
	for t := range 3 {
		for _, x := range r.Rand().Perm(2 * n) {
			q := owned(x%2, r.SessionID(x/2)).In(bench.Shapes()[(x+3*t)%8])
			q.Turn, q.Phase, q.Tokens = x/2, "first", 1
			if t > 0 {
				q.Phase = "later"
			}
			r.Do(ctx, q)
		}
	}
}

func tenantsTurn(owner int, id string) bench.Req {
	tenant := fmt.Sprintf("tenant-%d", owner)
	return bench.Req{Session: id, Counts: id + "@" + tenant, Tenant: tenant}
}

// AFF015TenantsHTTP: one id, two customers.
func (Cases) AFF015TenantsHTTP() bench.Case {
	pairs := stats.Must(stats.AllSame(1e-6, bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-015/tenants-http",
		Stimulus:    "ids that two tenants use, three turns of each in every shape, in a seeded order",
		Requirement: "each tenant's turns are at one worker, and some pair lies on two",
		Claims:      []string{"affinity.tenant"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			owners(ctx, r, pairs, tenantsTurn)
			return nil
		},
		Judge: judge.All(judge.Served(6*pairs), judge.Sticks(2*pairs), judge.Apart(pairs, "first")),
	}
}

// AFF015NoTenant: one id, a customer and somebody without a name.
func (Cases) AFF015NoTenant() bench.Case {
	pairs := stats.Must(stats.AllSame(1e-6, bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-015/no-tenant",
		Stimulus:    "ids that are used by a tenant and without one, three turns of each in every shape, in a seeded order",
		Requirement: "the tenant's turns are at one worker, those without one at one, and some pair lies on two",
		Claims:      []string{"affinity.tenant"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			owners(ctx, r, pairs, func(owner int, id string) bench.Req {
				if owner == 0 {
					return tenantsTurn(owner, id)
				}
				return bench.Req{Session: id}
			})
			return nil
		},
		Judge: judge.All(judge.Served(6*pairs), judge.Sticks(2*pairs), judge.Apart(pairs, "first")),
	}
}

// AFF015TenantsPhases: the same where requests are served in two phases.
func (Cases) AFF015TenantsPhases() bench.Case {
	pairs := stats.Must(stats.AllSame(1e-6/2, split.Prefill))
	apart := judge.Apart(pairs, "first")
	return bench.Case{
		ID:          "AFF-015/tenants-phases",
		Stimulus:    "prefill and decode workers; ids that two tenants use, three turns of each in every shape, in a seeded order",
		Requirement: "in each phase each tenant's turns are at one worker, and some pair lies on two",
		Claims:      []string{"affinity.tenant", "pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			owners(ctx, r, pairs, tenantsTurn)
			return nil
		},
		Judge: judge.All(judge.Served(6*pairs), stick(2*pairs), prefill.only(apart), decode.only(apart)),
	}
}

// AFF015ModelsHTTP: one id, two models, each with workers of its own.
func (Cases) AFF015ModelsHTTP() bench.Case {
	return ofTwo("AFF-015/models-http", "each model's turns are at one worker that serves it", bench.Case{Workers: 4, Fleet: bench.Fleet{Models: 2}}, judge.Sticks)
}

// AFF015ModelsPhases: the same where requests are served in two phases.
func (Cases) AFF015ModelsPhases() bench.Case {
	c := ofTwo("AFF-015/models-phases", "in each phase each model's turns are at one worker that serves it",
		bench.Case{Fleet: bench.Fleet{Prefill: 4, Decode: 4, Models: 2}}, func(n int, _ ...string) judge.Judge { return stick(n) })
	c.Claims = append(c.Claims, "pds.split")
	return c
}

func ofTwo(id, requirement string, c bench.Case, sticks func(int, ...string) judge.Judge) bench.Case {
	const ids = 24
	c.ID, c.Requirement = id, requirement
	c.Stimulus = "two models, each served by two workers of its own (in each phase); ids that are used under both, three turns of each in every shape, in a seeded order"
	c.Claims = []string{"routing.byModel"}
	c.Cost = time.Second
	c.Drive = func(ctx context.Context, r *bench.Run) error {
		models := r.ModelsServed()
		owners(ctx, r, ids, func(owner int, id string) bench.Req {
			return bench.Req{Session: id, Counts: id + " of " + models[owner], Model: models[owner]}
		})
		return nil
	}
	c.Judge = judge.All(judge.Served(6*ids), sticks(2*ids), judge.OfModel(3*ids))
	return c
}

// AFF015TenantsPinned: one id, two customers, who ask for workers by name.
func (Cases) AFF015TenantsPinned() bench.Case {
	const ids = 16
	return bench.Case{
		ID:          "AFF-015/tenants-pinned",
		Stimulus:    "ids that two tenants use, each of which pins its turns to another worker, in every shape; then unpinned turns",
		Requirement: "each tenant's turns are served where its own pins say",
		Claims:      []string{"affinity.tenant", "pins.worker"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			for t := range 3 {
				for _, x := range r.Rand().Perm(2 * ids) {
					q := tenantsTurn(x%2, r.SessionID(x/2)).In(bench.Shapes()[(x+3*t)%8])
					if q.Turn = t; t < 2 {
						pin := script.At(workers[(x/2+x%2)%len(workers)])
						q.Pin = &pin
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(6*ids), judge.AsPinned(4*ids), judge.FollowsPin(2*ids), judge.Sticks(2*ids)),
	}
}

// AFF015TenantsPinnedPhases: the same in two phases.
func (Cases) AFF015TenantsPinnedPhases() bench.Case {
	const ids = 18
	return bench.Case{
		ID:          "AFF-015/tenants-pinned-phases",
		Stimulus:    "prefill and decode workers; ids that two tenants use, each of which pins its turns to other ones of both, in every shape; then unpinned turns",
		Requirement: "each tenant's turns are prefilled and decoded where its own pins say",
		Claims:      []string{"affinity.tenant", "pins.worker", "pins.prefill", "pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			ps, ds := r.WorkersOf(bench.Prefill), r.WorkersOf(bench.Decode)
			for t := range 3 {
				for _, x := range r.Rand().Perm(2 * ids) {
					q := tenantsTurn(x%2, r.SessionID(x/2)).In(bench.Shapes()[(x+3*t)%8])
					if q.Turn = t; t < 2 {
						p, d := script.At(ps[(x/2+x%2)%len(ps)]), script.At(ds[(x/6+2*(x%2))%len(ds)])
						q.PrefillPin, q.Pin = &p, &d
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(6*ids), judge.AsPinned(4*ids), stick(2*ids)),
	}
}
