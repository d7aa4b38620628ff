package mutants

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFTenantFills takes a request without a tenant for one of the tenant that has the id.
func (Catalogue) AFFTenantFills() Mutant {
	return Mutant{ID: "aff/tenant-fills-in", Fault: "a request without a tenant counts for the tenant that used its session id first", KilledBy: []string{"AFF-015/no-tenant"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var first sync.Map
			p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key {
				if k.Tenant != "" {
					first.LoadOrStore(k.Session, k.Tenant)
				} else if t, ok := first.Load(k.Session); ok {
					k.Tenant = t.(string)
				}
				return k
			}}
		})}
}

// AFFBinds413 knows some errors.
func (Catalogue) AFFBinds413() Mutant {
	return failover("aff/binds-on-409", "a first turn that is answered 408, 409 or 413 binds its session", []string{"AFF-004/other-client-errors"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if !o.Bound && slices.Contains([]int{408, 409, 413}, o.Status) {
				d.Binding = router.Commit
			}
			return d
		})
}

// AFFBindsRedirects takes everything that is no error for a success.
func (Catalogue) AFFBindsRedirects() Mutant {
	return failover("aff/binds-on-redirects", "a first turn that is answered with any status below 400 binds its session, redirects included", []string{"AFF-004/redirect"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.None && !o.Bound && o.Status < 400 {
				d.Binding = router.Commit
			}
			return d
		})
}

// AFFFirstUnheld lets go of a session when its first answer has begun.
func (Catalogue) AFFFirstUnheld() Mutant {
	return Mutant{ID: "aff/first-unheld", Fault: "a session's first request holds it until its answer begins, not until that ends", KilledBy: []string{"AFF-007/in-flight"},
		New: with(func(_ *router.Config, p *router.Parts) {
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				if _, bound := l.Bound(); bound {
					return l, nil
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						defer l.Release()
						return l.Commit(t)
					}
				}), nil
			})
		})}
}

// AFFNativeSeeds places a child of some agents with its parent.
func (Catalogue) AFFNativeSeeds() Mutant {
	return finding("aff/native-parent-seeds", "a session that names a parent in its agent's own header is placed where that is",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				for _, h := range []string{"x-claude-code-parent-agent-id", "x-codex-parent-thread-id", "x-parent-session-id"} {
					if parent := r.Header.Get(h); parent != "" {
						return parent
					}
				}
				return former.Session(r)
			})
		}, "AFF-018/parent")
}
