package mutants

import (
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
