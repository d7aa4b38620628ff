package mutants

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
)

// AFFTwoInitializers lets a second first turn initialize as well.
func (Catalogue) AFFTwoInitializers() Mutant {
	return coordinator("aff/two-initializers", "turns that come while a session is initialized do not wait; whoever commits last binds",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var table loose
			return acquires{inner, func(_ context.Context, a affinity.Ask) (affinity.Lease, error) {
				return table.lease(a.Key, func() {}), nil
			}}
		}), "AFF-003/waiters", "AFF-003/hand-over", "AFF-020/random")
}

// AFFDoubleRelease counts one end twice.
func (Catalogue) AFFDoubleRelease() Mutant {
	return coordinator("aff/double-release", "a second release of one lease ends another lease of its session",
		leasingWith(func(all *leasesOf, a affinity.Ask, l affinity.Lease, h *held) {
			all.change(a.Key, func(open []affinity.Lease) []affinity.Lease { return append(open, l) })
			h.release = func() {
				all.change(a.Key, func(open []affinity.Lease) []affinity.Lease {
					at := slices.Index(open, l)
					if at < 0 {
						at = len(open) - 1 // another one's
					}
					if at < 0 {
						return open
					}
					open[at].Release()
					return slices.Delete(open, at, at+1)
				})
			}
		}), "AFF-012/released-twice")
}

// AFFOldLease lets an older lease work on whatever is bound now.
func (Catalogue) AFFOldLease() Mutant {
	return coordinator("aff/old-lease-refreshes", "the end of a request restarts the idle time of whatever its session is bound to by then",
		leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.release = func() {
				l.Release()
				if _, bound, _ := inner.Query(affinity.Ask{Key: a.Key}); bound {
					if now, err := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key}); err == nil {
						now.Release()
					}
				}
			}
		}), "AFF-012/older-lease")
}

// AFFEndsNewer lets a failure end whatever is bound by then.
func (Catalogue) AFFEndsNewer() Mutant {
	return coordinator("aff/ends-newer", "a request's failure ends whatever its session is bound to by then",
		leasingSo(endsNewer), "AFF-013/siblings", "AFF-005/held", "AFF-013/moved", "AFF-013/server-error", "AFF-013/decode")
}

func endsNewer(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
	h.invalidate = func() {
		l.Invalidate()
		if _, bound, _ := inner.Query(affinity.Ask{Key: a.Key}); bound {
			if now, err := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key}); err == nil {
				now.Invalidate()
			}
		}
	}
}

// AFFKeepsOnFailure ends nothing.
func (Catalogue) AFFKeepsOnFailure() Mutant {
	return coordinator("aff/keeps-on-failure", "a request's failure does not end its session's binding",
		leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) { h.invalidate = l.Release }),
		"AFF-013/siblings", "AFF-013/others", "AFF-020/random")
}

// AFFStaleCommit binds although it had given up.
func (Catalogue) AFFStaleCommit() Mutant {
	return coordinator("aff/stale-commit", "an initializer that has given up can still bind its session",
		leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.commit = func(t affinity.Target) error {
				err := l.Commit(t)
				if !errors.Is(err, affinity.ErrStale) {
					return err
				}
				again, err := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
				if err != nil {
					return err
				}
				defer again.Release()
				return again.Commit(t)
			}
		}), "AFF-004/stale-commit")
}

// queries is a coordinator that answers questions in its own way.
type queries struct {
	affinity.Coordinator
	query func(affinity.Ask) (affinity.Target, bool, error)
}

func (c queries) Query(a affinity.Ask) (affinity.Target, bool, error) { return c.query(a) }

// AFFQueryRefreshes keeps alive what it looks at.
func (Catalogue) AFFQueryRefreshes() Mutant {
	return coordinator("aff/query-refreshes", "a question restarts the session's idle time",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			return queries{inner, func(a affinity.Ask) (affinity.Target, bool, error) {
				t, bound, err := inner.Query(a)
				if err == nil && bound {
					if l, err := inner.Acquire(context.Background(), a); err == nil {
						l.Release()
					}
				}
				return t, bound, err
			}}
		}), "AFF-014/query", "AFF-006/restarts", "AFF-014/idle")
}

// AFFQueryInitializes makes an entry for whoever asks.
func (Catalogue) AFFQueryInitializes() Mutant {
	return coordinator("aff/query-initializes", "a question about an unknown session makes an entry for it",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var asked sync.Map
			return queries{inner, func(a affinity.Ask) (affinity.Target, bool, error) {
				t, bound, err := inner.Query(a)
				// Under another name, where nobody waits for it.
				entry := affinity.Ask{Key: affinity.Key{Model: a.Key.Model, Session: a.Key.Session + " asked"}}
				if _, known := asked.LoadOrStore(entry.Key, true); err == nil && !bound && !known {
					_, _ = inner.Acquire(context.Background(), entry)
				}
				return t, bound, err
			}}
		}), "AFF-014/query")
}

// AFFQueryEnds drops what it finds dead.
func (Catalogue) AFFQueryEnds() Mutant {
	return coordinator("aff/query-ends", "a question about a session whose worker has left ends its binding",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			inner, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			return queries{inner, func(a affinity.Ask) (affinity.Target, bool, error) {
				t, bound, err := inner.Query(a)
				if err == nil && !bound && inner.Stats().Bound > 0 {
					if l, err := inner.Acquire(context.Background(), a); err == nil {
						l.Release() // had it been bound and alive, the question had said so
					}
				}
				return t, bound, err
			}}, nil
		}, "AFF-014/dead-binding", "PIN-009/back-in-time")
}

// AFFFollowsDead names the dead.
func (Catalogue) AFFFollowsDead() Mutant {
	return coordinator("aff/follows-the-dead", "bindings to workers that have left are followed",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			cfg.Live = nil
			return affinity.New(cfg, clock)
		}, "AFF-005/component", "AFF-005/held", "AFF-014/dead-binding", "PIN-009/component")
}
