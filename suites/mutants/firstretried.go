package mutants

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFRetryLetsGo gives a first turn's place away when it has to be tried elsewhere.
func (Catalogue) AFFRetryLetsGo() Mutant {
	return Mutant{
		ID: "aff/retry-lets-go", Fault: "a first turn that is retried elsewhere lets those that wait for it go, and binds only if none of them does",
		KilledBy: []string{"AFF-003/first-retried"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var first sync.Map // sessions that are initialized, and how to give that up
			table := p.Affinity
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if _, bound := l.Bound(); err != nil || bound {
					return l, err
				}
				var mu sync.Mutex
				gone := false
				first.Store(a.Key.Session, func() {
					mu.Lock()
					defer mu.Unlock()
					gone = true
					l.Release()
				})
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						mu.Lock()
						defer mu.Unlock()
						if !gone {
							first.Delete(a.Key.Session)
							return l.Commit(t)
						}
						short, cancel := context.WithTimeout(ctx, time.Millisecond)
						defer cancel()
						if late, err := table.Acquire(short, affinity.Ask{Key: a.Key}); err == nil {
							if _, bound := late.Bound(); !bound {
								_ = late.Commit(t)
							}
							late.Release()
						}
						return nil
					}
				}), nil
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := send.RoundTrip(r)
				if giveUp, ok := first.LoadAndDelete(sessionOf(r)); ok && err != nil && r.Context().Err() == nil {
					giveUp.(func())()
				}
				return resp, err
			})
		}),
	}
}
