package mutants

import (
	"context"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// row counts, by session, what went wrong one time after another.
type row struct {
	mu     sync.Mutex
	times  map[string]int
	status map[string]int // of the latest answer; 0 while there is none
}

// answered notes a session's latest answer.
func (o *row) answered(session string, status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status[session] = status
}

// ended counts the end of a request and says how many mishaps in a row that makes.
func (o *row) ended(session string, mishap func(status int) bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.times[session]++; !mishap(o.status[session]) {
		o.times[session] = 0
	}
	return o.times[session]
}

// unbindsAt is a mutant that ends a binding with the nth mishap in a row, by what a bound
// session's request was answered; 0 if it ended without an answer.
func unbindsAt(n int, id, fault string, mishap func(status int) bool, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			all := row{times: map[string]int{}, status: map[string]int{}}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				if _, bound := l.Bound(); !bound {
					return l, nil
				}
				var once sync.Once
				return around(l, func(h *held) {
					h.release = func() {
						once.Do(func() {
							if all.ended(a.Key.Session, mishap) == n {
								l.Invalidate()
							}
						})
						l.Release()
					}
				}), nil
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				id := p.Sessions.Session(r)
				all.answered(id, 0)
				resp, err := send.RoundTrip(r)
				if err == nil {
					all.answered(id, resp.StatusCode)
				}
				return resp, err
			})
		})}
}

func blamesRequest(status int) bool { return status/100 == 4 && status != http.StatusTooManyRequests }

// AFFSecondErrorUnbinds forgives a client once.
func (Catalogue) AFFSecondErrorUnbinds() Mutant {
	return unbindsAt(2, "aff/unbinds-on-second-4xx", "the second 4xx in a row to a bound session ends its binding", blamesRequest, "AFF-010/client-error")
}

// AFFThirdErrorUnbinds forgives a client twice.
func (Catalogue) AFFThirdErrorUnbinds() Mutant {
	return unbindsAt(3, "aff/unbinds-on-third-4xx", "the third 4xx in a row to a bound session ends its binding", blamesRequest, "AFF-010/client-error")
}

// AFFSecondLeaverUnbinds forgives one client that leaves.
func (Catalogue) AFFSecondLeaverUnbinds() Mutant {
	return unbindsAt(2, "aff/unbinds-second-leaver", "the second request in a row of a bound session that its client leaves before headers ends the binding",
		func(status int) bool { return status == 0 }, "AFF-010/client-left")
}

// AFFUnbindsRedirects takes a redirect for a farewell.
func (Catalogue) AFFUnbindsRedirects() Mutant {
	return failover("aff/unbinds-on-redirects", "a redirect to a bound session ends its binding", []string{"AFF-010/client-error"},
		ends(func(o router.Outcome) bool { return o.Bound && o.Status/100 == 3 }))
}
