package mutants

import (
	"context"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// atHeaders is a mutant that acquires a session with the request's headers; left is what it
// does with the lease when the body does not come whole.
func atHeaders(id, fault string, left func(affinity.Lease), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, New: front(func(r *router.Router, p router.Parts) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if id := p.Sessions.Session(req); id != "" && req.Body != nil {
				req.Body = breaking{req.Body, func() {
					for _, m := range p.Fleet.Models() {
						// The next turn may have come first, and initialize.
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						if l, err := p.Affinity.Acquire(ctx, affinity.Ask{Key: affinity.Key{Model: m, Session: id}}); err == nil {
							left(l)
						}
						cancel()
					}
				}}
			}
			r.ServeHTTP(w, req)
		})
	})}
}

// AFFLeaksUploads holds a session for a client that never asked for anything.
func (Catalogue) AFFLeaksUploads() Mutant {
	return atHeaders("aff/leaks-uploads", "a new session whose client leaves in the middle of its upload goes on initializing for ever",
		func(affinity.Lease) {}, "AFF-004/client-left")
}

// AFFUnbindsUploads ends a binding because a client left before it had asked.
func (Catalogue) AFFUnbindsUploads() Mutant {
	return atHeaders("aff/unbinds-uploads", "a client that leaves in the middle of its upload ends its session's binding",
		func(l affinity.Lease) {
			if _, bound := l.Bound(); bound {
				l.Invalidate()
			}
			l.Release()
		}, "AFF-010/client-left")
}
