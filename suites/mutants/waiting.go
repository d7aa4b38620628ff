package mutants

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

// tally counts something by session.
type tally struct {
	mu sync.Mutex
	n  map[affinity.Key]int
}

func (t *tally) add(k affinity.Key, by int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[affinity.Key]int{}
	}
	t.n[k] += by
	return t.n[k]
}

// meets says whether a target is where a pin wants it.
func meets(t, pin affinity.Target) bool {
	_, ranked := pin.Rank.Value()
	return pin.Worker == "" || t.Worker == pin.Worker && (!ranked || t.Rank == pin.Rank)
}

// PINHandOver forgets the pins of those that wait on.
func (Catalogue) PINHandOver() Mutant {
	return coordinator("pin/lost-at-hand-over", "when an initializer gives up, those that wait on behind its heir lose their pins",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var gaveUp tally
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if _, bound, err := inner.Query(a); err != nil || bound {
					return inner.Acquire(ctx, a)
				}
				before := gaveUp.add(a.Key, 0)
				l, err := inner.Acquire(ctx, affinity.Ask{Key: a.Key})
				if err != nil {
					return l, err
				}
				at, bound := l.Bound()
				if passed := gaveUp.add(a.Key, 0) - before; bound && passed > 0 || !bound && passed > 1 {
					a.Pin = affinity.Target{}
				}
				if bound && !meets(at, a.Pin) {
					l.Release()
					return affinity.Lease{}, affinity.ErrPin
				}
				return around(l, func(h *held) {
					ends := func(end func()) func() {
						return func() {
							if _, bound := l.Bound(); !bound {
								gaveUp.add(a.Key, 1)
							}
							end()
						}
					}
					h.release, h.invalidate = ends(l.Release), ends(l.Invalidate)
					h.commit = func(t affinity.Target) error {
						if !meets(t, a.Pin) {
							return affinity.ErrMismatch
						}
						return l.Commit(t)
					}
				}), nil
			}}
		}), "PIN-003/hand-over", "PIN-003/hand-over-ranks", "PIN-003/heir-refused")
}

// AFFRefusedLoses forgets who waits for a dispatch that is refused.
func (Catalogue) AFFRefusedLoses() Mutant {
	return coordinator("aff/refused-loses-waiters", "when an initializer's dispatch is refused, those that wait for it are never answered",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			inner, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			var refused tally
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				before := refused.add(a.Key, 0)
				l, err := inner.Acquire(ctx, a)
				if err == nil && refused.add(a.Key, 0) > before {
					if cfg.Waiting != nil {
						cfg.Waiting(ctx, true)
					}
					l.Release()
					<-ctx.Done()
					err = ctx.Err()
				}
				if err != nil {
					return affinity.Lease{}, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						_, bound := l.Bound()
						err := l.Commit(t)
						if !bound && errors.Is(err, affinity.ErrMismatch) {
							refused.add(a.Key, 1)
						}
						return err
					}
				}), nil
			}}, nil
		}, "AFF-003/refused-dispatch", "PIN-003/heir-refused")
}

// fewWait is a mutant that lets n turns of a session wait.
func fewWait(id string, n int, killedBy ...string) Mutant {
	return coordinator(id, fmt.Sprintf("of a session's turns %d may wait at a time; one more is answered unavailable at once", n),
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var under tally // way
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				defer under.add(a.Key, -1)
				if under.add(a.Key, 1) > n {
					return affinity.Lease{}, affinity.ErrInitWait
				}
				return inner.Acquire(ctx, a)
			}}
		}), killedBy...)
}

// AFFFewWait lets some wait.
func (Catalogue) AFFFewWait() Mutant { return fewWait("aff/at-most-255-wait", 255, "AFF-003/many") }

// AFFFewerWait lets fewer wait.
func (Catalogue) AFFFewerWait() Mutant {
	return fewWait("aff/at-most-32-wait", 32, "AFF-003/many", "AFF-003/many-http")
}

// AFFWaitedHoldNothing holds a session for those alone that came later.
func (Catalogue) AFFWaitedHoldNothing() Mutant {
	return coordinator("aff/waited-hold-nothing", "of the turns that waited for their session's binding one alone holds it",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			_, before, _ := inner.Query(a)
			l, err := inner.Acquire(ctx, a)
			if _, bound := l.Bound(); err == nil && bound && !before && stats(inner).Leases > 2 {
				l.Release()
			}
			return l, err
		}), "AFF-012/waited")
}

// AFFLeavesDeadline leaves something behind.
func (Catalogue) AFFLeavesDeadline() Mutant {
	return coordinator("aff/leaves-its-deadline", "when a turn leaves that waits, those that wait with it are answered unavailable when its longest wait would have passed",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			inner, err := affinity.New(cfg, clock)
			if err != nil {
				return nil, err
			}
			wait := cfg.InitWait
			if wait == 0 {
				wait = affinity.DefaultInitWait
			}
			var mu sync.Mutex
			ends := map[affinity.Key]map[context.Context]context.CancelCauseFunc{}
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				due := clock.Now().Add(wait)
				own, end := context.WithCancelCause(ctx)
				mu.Lock()
				if ends[a.Key] == nil {
					ends[a.Key] = map[context.Context]context.CancelCauseFunc{}
				}
				ends[a.Key][own] = end
				mu.Unlock()
				l, err := inner.Acquire(own, a)
				mu.Lock()
				defer mu.Unlock()
				delete(ends[a.Key], own)
				if ctx.Err() != nil { // it left
					for other, end := range ends[a.Key] {
						clock.AfterFunc(max(due.Sub(clock.Now()), time.Nanosecond), func() {
							mu.Lock()
							defer mu.Unlock()
							if ends[a.Key][other] != nil {
								if cfg.Waiting != nil {
									cfg.Waiting(other, false)
								}
								end(affinity.ErrInitWait)
							}
						})
					}
				}
				if errors.Is(context.Cause(own), affinity.ErrInitWait) {
					return affinity.Lease{}, affinity.ErrInitWait
				}
				return l, err
			}}, nil
		}, "AFF-011/left-early")
}
