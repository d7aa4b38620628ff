package mutants

import (
	"context"
	"errors"

	"github.com/routeproof/routeproof/impl/affinity"
)

// withoutZero takes rank 0 for no rank.
func withoutZero(t affinity.Target) affinity.Target {
	if n, ok := t.Rank.Value(); ok && n == 0 {
		t.Rank = affinity.Rank{}
	}
	return t
}

// PINZero keeps ranks in a number whose zero means unset.
func (Catalogue) PINZero() Mutant {
	return coordinator("pin/zero-is-unset", "rank 0 counts as no rank",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			a.Pin = withoutZero(a.Pin)
			l, err := inner.Acquire(ctx, a)
			if err != nil {
				return l, err
			}
			return around(l, func(h *held) {
				h.commit = func(t affinity.Target) error { return l.Commit(withoutZero(t)) }
			}), nil
		}), "PIN-005/component", "PIN-008/component")
}

// PINLosesRank forgets the binding's rank under a pin.
func (Catalogue) PINLosesRank() Mutant {
	return coordinator("pin/loses-rank", "a turn that is pinned to its session's worker goes there without the bound rank",
		leasingSo(func(_ affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.bound = func() (affinity.Target, bool) {
				t, bound := l.Bound()
				if a.Pin.Worker != "" {
					t.Rank = a.Pin.Rank
				}
				return t, bound
			}
		}), "PIN-004/component")
}

// PINNarrows lets a pin decide for all.
func (Catalogue) PINNarrows() Mutant {
	return coordinator("pin/narrows", "the first rank that a dispatch adds becomes the binding's",
		leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.commit = func(t affinity.Target) error {
				was, bound := l.Bound()
				err := l.Commit(t)
				if _, ranked := was.Rank.Value(); err == nil && bound && !ranked && t != was {
					l.Invalidate()
					if again, err := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key}); err == nil {
						_ = again.Commit(t)
						again.Release()
					}
				}
				return err
			}
		}), "PIN-006/component")
}

// PINAlone takes a rank without a worker for no pin.
func (Catalogue) PINAlone() Mutant {
	alone := func(a affinity.Ask) affinity.Ask {
		if a.Pin.Worker == "" {
			a.Pin = affinity.Target{}
		}
		return a
	}
	return coordinator("pin/ignores-rank-alone", "a rank without a worker is ignored",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			return queries{acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) { return inner.Acquire(ctx, alone(a)) }},
				func(a affinity.Ask) (affinity.Target, bool, error) { return inner.Query(alone(a)) }}
		}), "PIN-008/component")
}

// contradicted makes a table that does something else about a pin that contradicts a
// living binding.
func contradicted(f func(inner affinity.Coordinator, a affinity.Ask, err error) (affinity.Lease, error)) making {
	return acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
		l, err := inner.Acquire(ctx, a)
		if errors.Is(err, affinity.ErrPin) {
			return f(inner, a, err)
		}
		return l, err
	})
}

// PINIgnored serves where the session is bound.
func (Catalogue) PINIgnored() Mutant {
	return coordinator("pin/ignored-when-bound", "a pin that contradicts its session's binding is ignored",
		contradicted(func(inner affinity.Coordinator, a affinity.Ask, _ error) (affinity.Lease, error) {
			return inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
		}), "PIN-002/component", "PIN-003/waiters", "PIN-002/refused", "AFF-020/random")
}

// PINMoves lets a pin take the session along.
func (Catalogue) PINMoves() Mutant {
	return coordinator("pin/moves", "a pin that contradicts its session's binding ends it and binds anew",
		contradicted(func(inner affinity.Coordinator, a affinity.Ask, err error) (affinity.Lease, error) {
			old, failed := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
			if failed != nil {
				return affinity.Lease{}, err
			}
			old.Invalidate()
			return inner.Acquire(context.Background(), a)
		}), "PIN-002/component", "PIN-002/refused")
}

// PINRefreshes keeps alive what it refuses.
func (Catalogue) PINRefreshes() Mutant {
	return coordinator("pin/refreshes", "a turn that is refused for its pin restarts the session's idle time",
		contradicted(func(inner affinity.Coordinator, a affinity.Ask, err error) (affinity.Lease, error) {
			if l, failed := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key}); failed == nil {
				l.Release()
			}
			return affinity.Lease{}, err
		}), "PIN-002/component")
}

// PINHolds counts what it refuses.
func (Catalogue) PINHolds() Mutant {
	return coordinator("pin/leaks-refused", "a turn that is refused for its pin holds the session for ever",
		contradicted(func(inner affinity.Coordinator, a affinity.Ask, err error) (affinity.Lease, error) {
			_, _ = inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
			return affinity.Lease{}, err
		}), "PIN-002/component", "PIN-002/in-flight")
}

// PINUnchecked forgets a waiter's pin.
func (Catalogue) PINUnchecked() Mutant {
	return coordinator("pin/waiter-unchecked", "a turn that has waited is served where the session was bound, whatever its pin",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			_, before, err := inner.Query(a)
			l, err2 := inner.Acquire(ctx, a)
			if errors.Is(err2, affinity.ErrPin) && err == nil && !before {
				return inner.Acquire(ctx, affinity.Ask{Key: a.Key})
			}
			return l, err2
		}), "PIN-003/waiters", "PIN-003/left")
}

// PINCommitMoves lets a dispatch take the session along.
func (Catalogue) PINCommitMoves() Mutant {
	return coordinator("pin/dispatch-moves", "a dispatch that ends elsewhere takes the session along",
		leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.commit = func(t affinity.Target) error {
				_, bound := l.Bound()
				err := l.Commit(t)
				if bound && errors.Is(err, affinity.ErrMismatch) {
					l.Invalidate()
					again, failed := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
					if failed != nil {
						return err
					}
					defer again.Release()
					return again.Commit(t)
				}
				return err
			}
		}), "PIN-007/component")
}

// PINFirstUnchecked forgets an initializer's pin.
func (Catalogue) PINFirstUnchecked() Mutant {
	return coordinator("pin/first-dispatch-unchecked", "a first turn binds where it was dispatched, whatever its pin",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			if _, bound, err := inner.Query(a); err == nil && !bound && a.Pin.Worker != "" {
				a.Pin = affinity.Target{}
			}
			return inner.Acquire(ctx, a)
		}), "PIN-007/first-turn", "PIN-005/component")
}

// PINBlocked keeps refusing after a death.
func (Catalogue) PINBlocked() Mutant {
	return coordinator("pin/dead-binding-blocks", "a binding to a worker that has left refuses the pins that contradict it, until it lapses",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			truth, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			cfg.Live = nil
			believer, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			return acquires{truth, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if _, _, err := believer.Query(a); a.Pin.Worker != "" && errors.Is(err, affinity.ErrPin) {
					return affinity.Lease{}, err
				}
				l, err := truth.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				// The believer hears of every binding, and of no death.
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						err := l.Commit(t)
						if twin, failed := believer.Acquire(context.Background(), affinity.Ask{Key: a.Key}); err == nil && failed == nil {
							_ = twin.Commit(t)
							twin.Release()
						}
						return err
					}
				}), nil
			}}, nil
		}, "PIN-009/component", "PIN-009/outage")
}
