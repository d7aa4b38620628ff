package mutants

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
)

// incarnationOf finds the live incarnation of the target's worker. The reference numbers them.
func incarnationOf(cfg affinity.Config, model string, t affinity.Target) (affinity.Target, bool) {
	worker, _, _ := strings.Cut(t.Worker, "#")
	for birth := range 256 {
		t.Worker = fmt.Sprintf("%s#%d", worker, birth)
		if cfg.Live(model, t) {
			return t, true
		}
	}
	return t, false
}

// AFFGoesHome takes sessions back.
func (Catalogue) AFFGoesHome() Mutant {
	m := coordinator("aff/goes-home", "a session that moved because its worker had left goes back there when that is there again",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			inner, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			var homes sync.Map
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				if at, bound := l.Bound(); bound {
					was, _ := homes.Load(a.Key)
					former, known := was.(affinity.Target)
					home, there := incarnationOf(cfg, a.Key.Model, former)
					if known && there && home != at {
						l.Invalidate()
						if l, err = inner.Acquire(ctx, a); err != nil {
							return l, err
						}
						return l, l.Commit(home)
					}
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						homes.LoadOrStore(a.Key, t)
						return l.Commit(t)
					}
					h.invalidate = func() { homes.Delete(a.Key); l.Invalidate() }
				}), nil
			}}, nil
		}, "AFF-005/returns")
	m.Coordinator = nil // which would wait for whoever binds the session just then
	return m
}
