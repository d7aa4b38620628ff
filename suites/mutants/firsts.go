package mutants

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// patience is a table's note, in the context of a call that may wait, of whether it did.
type patience struct{}

// inheriting makes a table that gives leases in its own way to those who waited and
// then became initializers. They have given theirs back by then.
func inheriting(f func(affinity.Key) (affinity.Lease, error)) making {
	return func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
		told := cfg.Waiting
		cfg.Waiting = func(ctx context.Context, waits bool) {
			if waited, ok := ctx.Value(patience{}).(*atomic.Bool); ok {
				waited.Store(true)
			}
			if told != nil {
				told(ctx, waits)
			}
		}
		inner, err := affinity.New(cfg, clock)
		if err != nil {
			return nil, err
		}
		return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			var waited atomic.Bool
			l, err := inner.Acquire(context.WithValue(ctx, patience{}, &waited), a)
			if _, bound := l.Bound(); err != nil || bound || !waited.Load() {
				return l, err
			}
			l.Release()
			return f(a.Key)
		}}, nil
	}
}

// AFFSharesFailure gives everybody the first one's failure.
func (Catalogue) AFFSharesFailure() Mutant {
	return coordinator("aff/shares-failure", "turns that wait for a first turn which then fails get an error as well",
		inheriting(func(affinity.Key) (affinity.Lease, error) {
			return affinity.Lease{}, errors.New("the session's first turn failed")
		}), "AFF-003/first-refused", "AFF-003/first-fails", "AFF-003/first-leaves", "AFF-003/hand-over")
}

// AFFHeirsScatter lets all heirs go at once.
func (Catalogue) AFFHeirsScatter() Mutant {
	return coordinator("aff/heirs-scatter", "turns that wait for a first turn which then fails are all placed anew, each for itself",
		inheriting(func(k affinity.Key) (affinity.Lease, error) { return new(loose).lease(k, func() {}), nil }),
		"AFF-003/first-refused", "AFF-003/first-fails", "AFF-003/first-leaves", "AFF-003/hand-over")
}

// begun is a body that tells of its first bytes, or of its end if it has none.
type begun struct {
	io.ReadCloser
	once sync.Once
	tell func()
}

func (b *begun) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 || err != nil {
		b.once.Do(b.tell)
	}
	return n, err
}

// AFFBindsLate binds with the first bytes of an answer.
func (Catalogue) AFFBindsLate() Mutant {
	return Mutant{
		ID: "aff/binds-at-first-event", Fault: "a session is bound when the first bytes of its first answer's body have come, not when its headers have",
		KilledBy: []string{"AFF-003/before-first-event"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var bind sync.Map // by session: its deferred commit
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if _, bound := l.Bound(); err != nil || bound {
					return l, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						bind.Store(a.Key.Session, func() { _ = l.Commit(t) })
						return nil
					}
				}), nil
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := send.RoundTrip(r)
				if err == nil {
					resp.Body = &begun{ReadCloser: resp.Body, tell: func() {
						if commit, ok := bind.LoadAndDelete(p.Sessions.Session(r)); ok {
							commit.(func())()
						}
					}}
				}
				return resp, err
			})
		}),
	}
}

// AFFBindsSilent binds to whoever said nothing.
func (Catalogue) AFFBindsSilent() Mutant {
	return failover("aff/binds-silent", "a first turn that no worker answered in time binds its session to the last of them", []string{"AFF-004/no-headers"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.TimedOut && !o.Bound && d.Action == router.Fail {
				d.Binding = router.Commit
			}
			return d
		})
}

// deaf hears of its client's end only when it listens, and only if it has waited.
type deaf struct {
	context.Context
	waited atomic.Bool
	listen func()
}

// AFFDispatchesLeavers serves whom it made wait, come what may.
func (Catalogue) AFFDispatchesLeavers() Mutant {
	return Mutant{
		ID: "aff/dispatches-leavers", Fault: "that a client leaves while its turn waits is noticed only after the dispatch",
		KilledBy: []string{"AFF-011/http"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			listener := func(ctx context.Context) *deaf {
				d, _ := ctx.Value(patience{}).(*deaf)
				return d
			}
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL, Capacity: cfg.Capacity, Live: p.Fleet.Live,
				Waiting: func(ctx context.Context, _ bool) {
					if d := listener(ctx); d != nil {
						d.waited.Store(true)
					}
				}}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the configured time was valid before
			}
			p.Affinity = table
			find := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				client := r.Context()
				ctx, cancel := context.WithCancel(context.WithoutCancel(client))
				d := &deaf{listen: sync.OnceFunc(func() { context.AfterFunc(client, cancel) })}
				d.Context = context.WithValue(ctx, patience{}, d)
				*r = *r.WithContext(d)
				return find.Session(r)
			})
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if d := listener(ctx); d != nil && !d.waited.Load() {
					d.listen()
				}
				return l, err
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if d := listener(r.Context()); d != nil {
					defer d.listen()
				}
				return send.RoundTrip(r)
			})
		}),
	}
}
