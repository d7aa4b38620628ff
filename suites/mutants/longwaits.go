package mutants

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFWaitsBriefly holds a lock on lease.
func (Catalogue) AFFWaitsBriefly() Mutant {
	return Mutant{ID: "aff/waits-briefly", Fault: "a turn that has waited 2.5 s for its session's first turn is placed by itself", KilledBy: []string{"AFF-003/held-long"},
		New: with(func(_ *router.Config, p *router.Parts) {
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				brief, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
				defer cancel()
				l, err := former(brief, a)
				if err != nil && brief.Err() != nil && ctx.Err() == nil {
					return new(loose).lease(a.Key, func() {}), nil
				}
				return l, err
			})
		})}
}

// sharing is a mutant that answers with an error whoever waited for a first turn that
// came to such an outcome.
func sharing(id, fault string, when func(router.Outcome) bool, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			var failures atomic.Int64
			inner := p.Failover
			p.Failover = func(o router.Outcome) router.Decision {
				if !o.Bound && when(o) {
					failures.Add(1)
				}
				return inner(o)
			}
			for _, c := range []*affinity.Coordinator{&p.Affinity, &p.Prefill.Affinity} {
				table := *c
				*c = acquires{table, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
					before := failures.Load()
					l, err := table.Acquire(ctx, a)
					if _, bound := l.Bound(); err != nil || bound || failures.Load() == before {
						return l, err
					}
					l.Release()
					return affinity.Lease{}, affinity.ErrInitWait
				}}
			}
		})}
}

// AFFSharesTimeouts gives everybody the first one's silence.
func (Catalogue) AFFSharesTimeouts() Mutant {
	return sharing("aff/shares-timeouts", "turns that wait for a first turn which no worker answers in time get an error as well",
		func(o router.Outcome) bool { return o.Failure == router.TimedOut && !o.Prefill }, "AFF-003/first-silent")
}

// PDSSharesTimeouts does so in prefill.
func (Catalogue) PDSSharesTimeouts() Mutant {
	return sharing("pds/shares-timeouts", "turns that wait for a first turn which no prefill worker answers in time get an error as well",
		func(o router.Outcome) bool { return o.Failure == router.TimedOut && o.Prefill }, "AFF-003/prefill-silent")
}

// PDSSharesErrors does so where a prefill worker answers with an error.
func (Catalogue) PDSSharesErrors() Mutant {
	return sharing("pds/shares-errors", "turns that wait for a first turn whose prefill is answered 5xx get an error as well",
		func(o router.Outcome) bool { return o.Prefill && o.Status >= 500 }, "AFF-003/prefill-fails")
}
