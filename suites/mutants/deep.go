package mutants

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

// AFFWaitRestarts forgets how long somebody has waited.
func (Catalogue) AFFWaitRestarts() Mutant {
	return coordinator("aff/wait-restarts", "who waits behind a second initializer waits the longest wait once more",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var gaveUp sync.Map // how often, by key
			times := func(k affinity.Key) *atomic.Int64 {
				n, _ := gaveUp.LoadOrStore(k, new(atomic.Int64))
				return n.(*atomic.Int64)
			}
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				before := times(a.Key).Load()
				l, err := inner.Acquire(ctx, a)
				if errors.Is(err, affinity.ErrInitWait) && times(a.Key).Load() > before {
					l, err = inner.Acquire(ctx, a)
				}
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) {
					h.release = func() {
						if _, bound := l.Bound(); !bound {
							times(a.Key).Add(1)
						}
						l.Release()
					}
				}), nil
			}}
		}), "AFF-011/second-wait")
}

// AFFLateNews binds those who wait without another look at the worker.
func (Catalogue) AFFLateNews() Mutant {
	return coordinator("aff/late-news", "turns that wait are bound where the first one commits, even if that worker has left",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			live := cfg.Live
			var committing atomic.Int64
			cfg.Live = func(model string, t affinity.Target) bool {
				return committing.Load() > 0 || live == nil || live(model, t)
			}
			return leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) {
				h.commit = func(t affinity.Target) error {
					committing.Add(1)
					defer committing.Add(-1)
					return l.Commit(t)
				}
			})(cfg, clock)
		}, "AFF-005/first-turn")
}

// AFFByteCount counts in a byte.
func (Catalogue) AFFByteCount() Mutant {
	return coordinator("aff/byte-count", "requests in flight are counted in a byte: with the 256th of a session it counts as idle",
		leasingWith(func(all *leasesOf, a affinity.Ask, l affinity.Lease, _ *held) {
			all.change(a.Key, func(open []affinity.Lease) []affinity.Lease {
				if open = append(open, l); len(open) < 256 {
					return open
				}
				for _, o := range open {
					o.Release()
				}
				return nil
			})
		}), "AFF-012/many")
}

// AFFAtMost256 has a table of its own size.
func (Catalogue) AFFAtMost256() Mutant {
	return coordinator("aff/at-most-256", "the table holds 256 sessions at most, whatever is configured",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			if cfg.Capacity == 0 || cfg.Capacity > 256 {
				cfg.Capacity = 256
			}
			return affinity.New(cfg, clock)
		}, "AFF-009/large", "AFF-001/many-sessions")
}

// AFFMonth keeps milliseconds in 31 bits.
func (Catalogue) AFFMonth() Mutant {
	return coordinator("aff/31-bits", "an idle time of more than 24 days is cut to what 31 bits of milliseconds hold",
		making(reference).withTTL(func(d time.Duration) time.Duration {
			if d > affinity.MaxIdleTTL {
				return d
			}
			return d % (1 << 31 * time.Millisecond)
		}), "AFF-016/longest")
}

// AFFWholeSeconds rounds its settings.
func (Catalogue) AFFWholeSeconds() Mutant {
	return coordinator("aff/whole-seconds", "times are kept in whole seconds",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			if cfg.IdleTTL >= time.Second {
				cfg.IdleTTL = cfg.IdleTTL.Truncate(time.Second)
			}
			cfg.InitWait = cfg.InitWait.Truncate(time.Second)
			return affinity.New(cfg, clock)
		}, "AFF-016/odd")
}

// AFFPrefillStays makes the prefill phase another kind of thing.
func (Catalogue) AFFPrefillStays() Mutant {
	var mu sync.Mutex
	var prefill affinity.Clock
	return coordinator("aff/prefill-stays", "in the prefill phase bindings never lapse",
		func(cfg affinity.Config, c affinity.Clock) (affinity.Coordinator, error) {
			mu.Lock()
			defer mu.Unlock()
			if prefill != c && c != (affinity.SystemClock{}) && cfg.IdleTTL >= affinity.MinIdleTTL { // of the two that share a clock prefill's comes first
				prefill = c
				cfg.IdleTTL = affinity.MaxIdleTTL
			}
			return affinity.New(cfg, c)
		}, "AFF-015/prefill")
}

// PINWaiterRank forgets half of a waiter's pin.
func (Catalogue) PINWaiterRank() Mutant {
	return coordinator("pin/waiter-rank", "of the pin of a turn that comes before its session is bound the worker alone counts",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			if _, bound, err := inner.Query(a); err == nil && !bound {
				a.Pin.Rank = affinity.Rank{}
			}
			return inner.Acquire(ctx, a)
		}), "PIN-003/ranks")
}

// PINByteRank keeps ranks in a byte.
func (Catalogue) PINByteRank() Mutant {
	short := func(t affinity.Target) affinity.Target {
		if n, ok := t.Rank.Value(); ok {
			t.Rank = affinity.RankOf(n & 0xff)
		}
		return t
	}
	return coordinator("pin/byte-rank", "ranks are kept in a byte",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			a.Pin = short(a.Pin)
			l, err := inner.Acquire(ctx, a)
			if err != nil {
				return l, err
			}
			return around(l, func(h *held) { h.commit = func(t affinity.Target) error { return l.Commit(short(t)) } }), nil
		}), "PIN-005/high-rank")
}

// PINRankGone looks at workers alone.
func (Catalogue) PINRankGone() Mutant {
	return coordinator("pin/rank-gone", "a binding to a rank that its worker has no more counts as living",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			if live := cfg.Live; live != nil {
				cfg.Live = func(model string, t affinity.Target) bool { return live(model, affinity.Target{Worker: t.Worker}) }
			}
			return affinity.New(cfg, clock)
		}, "PIN-009/ranks")
}
