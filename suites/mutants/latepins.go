package mutants

import (
	"context"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// PINWaitedUnchecked checks pins when they come.
func (Catalogue) PINWaitedUnchecked() Mutant {
	return Mutant{ID: "pin/unchecked-after-wait", Fault: "a pinned turn that waited is served wherever its session is bound by then", KilledBy: []string{"PIN-003/http"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Affinity
			p.Affinity = acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if _, bound, err := inner.Query(a); err == nil && !bound {
					a.Pin = affinity.Target{}
				}
				return inner.Acquire(ctx, a)
			}}
		})}
}

// PINLapsedRefuses holds a pin to what was.
func (Catalogue) PINLapsedRefuses() Mutant {
	return Mutant{ID: "pin/lapsed-refuses", Fault: "a pin is held to the living worker that its session was bound to last, lapsed or not", KilledBy: []string{"PIN-002/lapsed"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner, fleet := p.Affinity, p.Fleet
			var last sync.Map
			p.Affinity = acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if home, was := last.Load(a.Key); was && !meets(home.(affinity.Target), a.Pin) && fleet.Live(a.Key.Model, home.(affinity.Target)) {
					return affinity.Lease{}, affinity.ErrPin
				}
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error { last.Store(a.Key, t); return l.Commit(t) }
					h.invalidate = func() { last.Delete(a.Key); l.Invalidate() }
				}), nil
			}}
		})}
}
