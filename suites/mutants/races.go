package mutants

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
)

// AFFRacyInitializer looks before it leaps, but not at once.
func (Catalogue) AFFRacyInitializer() Mutant {
	return coordinator("race/two-initializers", "whether somebody initializes a session is looked up and noted in two steps, so that two first turns may both find nobody",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var initializing sync.Map
			var table loose
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				_, bound, err := inner.Query(a)
				if err != nil || bound {
					return inner.Acquire(ctx, a)
				}
				_, somebody := initializing.Load(a.Key)
				runtime.Gosched()
				if somebody {
					return inner.Acquire(ctx, a)
				}
				if _, twice := initializing.Swap(a.Key, true); twice {
					return table.lease(a.Key, func() {}), nil // both believe to be the one
				}
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					initializing.Delete(a.Key)
					return l, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error { defer initializing.Delete(a.Key); return l.Commit(t) }
					h.release = func() { initializing.Delete(a.Key); l.Release() }
					h.invalidate = func() { initializing.Delete(a.Key); l.Invalidate() }
				}), nil
			}}
		}), "AFF-019/linearizable")
}

// AFFLostWakeUp forgets one waiter now and then.
func (Catalogue) AFFLostWakeUp() Mutant {
	return coordinator("race/lost-wake-up", "now and then a waiting turn is not told that its session was bound",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var n atomic.Int64
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				_, before, _ := inner.Query(a)
				l, err := inner.Acquire(ctx, a)
				if _, bound := l.Bound(); err == nil && bound && !before && n.Add(1)%16 == 0 {
					<-ctx.Done()
					l.Release()
					return affinity.Lease{}, ctx.Err()
				}
				return l, err
			}}
		}), "AFF-019/linearizable")
}

// AFFRacyInvalidate ends what is bound by then.
func (Catalogue) AFFRacyInvalidate() Mutant {
	return coordinator("race/ends-newer", "a failure is looked up by session, so that it may end the binding that a later turn has made",
		leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
			h.invalidate = func() {
				l.Release()
				runtime.Gosched()
				if _, bound, _ := inner.Query(affinity.Ask{Key: a.Key}); !bound {
					return
				}
				if now, err := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key}); err == nil {
					now.Invalidate()
				}
			}
		}), "AFF-019/linearizable")
}

// AFFStaleLive looks at who lives, once.
func (Catalogue) AFFStaleLive() Mutant {
	return coordinator("race/stale-view", "who lives is looked up once for each session and remembered",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			var seen sync.Map
			live := cfg.Live
			cfg.Live = func(model string, t affinity.Target) bool {
				v, _ := seen.LoadOrStore(t.Worker, live(model, t))
				return v.(bool)
			}
			return affinity.New(cfg, clock)
		}, "AFF-019/deaths")
}
