package mutants

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

// AFFTenantsForEver lets some sessions outlive the rest.
func (Catalogue) AFFTenantsForEver() Mutant {
	return coordinator("aff/tenants-never-lapse", "a tenant's sessions never lapse",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			mortal, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			cfg.IdleTTL = 24 * time.Hour
			eternal, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			of := func(a affinity.Ask) affinity.Coordinator {
				if a.Key.Tenant != "" {
					return eternal
				}
				return mortal
			}
			return queries{acquires{mortal, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) { return of(a).Acquire(ctx, a) }},
				func(a affinity.Ask) (affinity.Target, bool, error) { return of(a).Query(a) }}, nil
		}, "AFF-006/everybody")
}

// PINBusy has no patience with pins.
func (Catalogue) PINBusy() Mutant {
	return coordinator("pin/refused-when-busy", "a pin is refused while more than two requests are in flight",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var flying atomic.Int64
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if a.Pin.Worker != "" && flying.Load() > 2 {
					return affinity.Lease{}, affinity.ErrPin
				}
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				flying.Add(1)
				return around(l, func(h *held) {
					h.release = func() { flying.Add(-1); l.Release() }
					h.invalidate = func() { flying.Add(-1); l.Invalidate() }
				}), nil
			}}
		}), "PIN-001/agrees")
}
