package mutants

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// making is a way to make a coordinator.
type making func(affinity.Config, affinity.Clock) (affinity.Coordinator, error)

// reference makes the reference's own.
func reference(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
	return affinity.New(cfg, clock)
}

// coordinator is a mutant whose table of sessions is wrong, as a component and as a
// part of a router.
func coordinator(id, fault string, make making, killedBy ...string) Mutant {
	return Mutant{
		ID: id, Fault: fault, KilledBy: killedBy, Coordinator: target.CoordinatorFactory(make),
		New: with(func(cfg *router.Config, p *router.Parts) {
			c, err := make(affinity.Config{IdleTTL: cfg.IdleTTL, Capacity: cfg.Capacity, Evict: cfg.AtCapacity == router.Evict, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the router's configuration was valid
			}
			p.Affinity = c
		}),
	}
}

// wrapped makes the reference's table and puts something around it.
func wrapped(f func(affinity.Coordinator) affinity.Coordinator) making {
	return func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
		c, err := affinity.New(cfg, clock)
		if err != nil {
			return nil, err
		}
		return f(c), nil
	}
}

// acquiringSo makes a table that acquires in its own way.
func acquiringSo(f func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error)) making {
	return wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
		return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) { return f(inner, ctx, a) }}
	})
}

// leasingSo makes a table whose leases are wrong.
func leasingSo(f func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held)) making {
	return wrapped(leasing(f))
}

// leasing puts wrong leases around a table's.
func leasing(f func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held)) func(affinity.Coordinator) affinity.Coordinator {
	return func(inner affinity.Coordinator) affinity.Coordinator {
		return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			l, err := inner.Acquire(ctx, a)
			if err != nil {
				return l, err
			}
			return around(l, func(h *held) { f(inner, a, l, h) }), nil
		}}
	}
}

// leasingWith is leasingSo for a fault that remembers something: state is each table's own.
func leasingWith[State any](f func(state *State, a affinity.Ask, l affinity.Lease, h *held)) making {
	return func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
		var state State
		return leasingSo(func(_ affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) { f(&state, a, l, h) })(cfg, clock)
	}
}

// naming makes a table that knows sessions by other names.
func naming(f func(affinity.Key) affinity.Key) making {
	return wrapped(func(inner affinity.Coordinator) affinity.Coordinator { return renames{inner, f} })
}

// AFFTickLate misses the edge.
func (Catalogue) AFFTickLate() Mutant {
	return coordinator("aff/tick-late", "a binding whose deadline equals now still holds",
		making(reference).withTTL(func(d time.Duration) time.Duration { return d + time.Nanosecond }),
		"AFF-006/edge", "AFF-007/component")
}

// withTTL makes the table with another idle time.
func (m making) withTTL(f func(time.Duration) time.Duration) making {
	return func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
		cfg.IdleTTL = f(cfg.IdleTTL)
		return m(cfg, clock)
	}
}

// AFFClamps takes any setting.
func (Catalogue) AFFClamps() Mutant {
	return coordinator("aff/clamps", "an idle time out of range is replaced by the nearest that is in it",
		making(reference).withTTL(func(d time.Duration) time.Duration {
			return min(max(d, affinity.MinIdleTTL), affinity.MaxIdleTTL)
		}), "AFF-016/settings", "AFF-016/waits")
}

// AFFFoldsTable compares ids without case, in the table.
func (Catalogue) AFFFoldsTable() Mutant {
	return coordinator("aff/table-folds-case", "the table compares ids without regard to case",
		naming(func(k affinity.Key) affinity.Key { k.Session = strings.ToLower(k.Session); return k }), "AFF-015/ids-and-models", "AFF-002/distinct-ids")
}

// AFFTrims trims ids.
func (Catalogue) AFFTrims() Mutant {
	return coordinator("aff/trims", "the table trims blanks around ids",
		naming(func(k affinity.Key) affinity.Key { k.Session = strings.TrimSpace(k.Session); return k }), "AFF-015/ids-and-models")
}

// AFFOneModel keys by the id alone.
func (Catalogue) AFFOneModel() Mutant {
	return coordinator("aff/one-model", "a session id means the same session under every model",
		naming(func(k affinity.Key) affinity.Key { k.Model = ""; return k }), "AFF-015/ids-and-models", "AFF-015/waiters")
}

// AFFOneTenant ignores tenants.
func (Catalogue) AFFOneTenant() Mutant {
	return coordinator("aff/one-tenant", "tenants share their session ids",
		naming(func(k affinity.Key) affinity.Key { k.Tenant = ""; return k }), "AFF-015/tenants", "AFF-015/tenants-http", "AFF-015/waiters-apart")
}

// AFFJoinsKey builds its key in the simplest way.
func (Catalogue) AFFJoinsKey() Mutant {
	return coordinator("aff/joins-key", "the key is tenant, model and id written one after another, so that different ones may read alike",
		naming(func(k affinity.Key) affinity.Key { return affinity.Key{Session: k.Tenant + k.Model + k.Session} }), "AFF-015/tenants")
}

// AFFCountsCharacters measures ids in characters.
func (Catalogue) AFFCountsCharacters() Mutant {
	shorten := func(k affinity.Key) affinity.Key {
		if n := len([]rune(k.Session)); n <= affinity.MaxSessionBytes && len(k.Session) > affinity.MaxSessionBytes {
			k.Session = k.Session[:affinity.MaxSessionBytes]
		}
		return k
	}
	return coordinator("bnd/counts-characters", "ids of up to 256 characters are served, whatever their bytes", naming(shorten), "AFF-015/limit")
}

// AFFDeafWaiters lets a waiter that is told to go wait on.
func (Catalogue) AFFDeafWaiters() Mutant {
	return coordinator("aff/deaf-waiters", "a turn whose client leaves while it waits goes on waiting, and is served in the end",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			deaf, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second) // it must not outlive us by much
			defer cancel()
			return inner.Acquire(deaf, a)
		}), "AFF-011/cancelled", "AFF-011/heir")
}

// AFFEndlessWait waits without limit.
func (Catalogue) AFFEndlessWait() Mutant {
	return coordinator("aff/endless-wait", "turns wait for an initializer for as long as it takes",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			cfg.InitWait = 24 * time.Hour
			return affinity.New(cfg, clock)
		}, "AFF-011/init-wait")
}

// AFFLeaksAborts counts what has ended.
func (Catalogue) AFFLeaksAborts() Mutant {
	return coordinator("aff/leaks-aborts", "a first turn that ends without a commit keeps its session initializing for ever",
		leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) {
			h.release = func() {
				if _, bound := l.Bound(); bound {
					l.Release()
				}
			}
		}), "AFF-004/component", "AFF-003/nobody-left")
}

// AFFCapacityLoose counts one too few.
func (Catalogue) AFFCapacityLoose() Mutant {
	return coordinator("aff/one-more", "the table holds one session more than its capacity",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			if cfg.Capacity > 0 {
				cfg.Capacity++
			}
			return affinity.New(cfg, clock)
		}, "AFF-009/refuse", "AFF-009/unpinned", "AFF-009/own-place", "AFF-020/random")
}

// AFFEvictsAlways makes room where it should refuse.
func (Catalogue) AFFEvictsAlways() Mutant {
	return coordinator("aff/evicts-always", "a full table ends the binding that was idle for longest, whatever is configured",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			cfg.Evict = true
			return affinity.New(cfg, clock)
		}, "AFF-009/refuse", "AFF-009/expired")
}

// AFFNeverEvicts refuses where it should make room.
func (Catalogue) AFFNeverEvicts() Mutant {
	return coordinator("aff/never-evicts", "a full table refuses, whatever is configured",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			cfg.Evict = false
			return affinity.New(cfg, clock)
		}, "AFF-009/evict")
}

// AFFCountsTheDead lets the lapsed keep their places.
func (Catalogue) AFFCountsTheDead() Mutant {
	return coordinator("aff/counts-the-lapsed", "a session that has lapsed keeps its place until it comes back",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			inner, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			var mu sync.Mutex
			known, capacity := map[affinity.Key]bool{}, cfg.Capacity
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				full := capacity > 0 && !known[a.Key] && len(known) >= capacity
				known[a.Key] = known[a.Key] || !full
				mu.Unlock()
				if full {
					return affinity.Lease{}, affinity.ErrCapacity
				}
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) { // what is given up does give its place up
					forget := func(end func()) func() {
						return func() {
							end()
							if _, bound, _ := inner.Query(affinity.Ask{Key: a.Key}); !bound {
								mu.Lock()
								delete(known, a.Key)
								mu.Unlock()
							}
						}
					}
					h.release, h.invalidate = forget(l.Release), forget(l.Invalidate)
				}), nil
			}}, nil
		}, "AFF-009/expired", "AFF-009/own-place", "AFF-009/unpinned-lapsed")
}
