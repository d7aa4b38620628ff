package mutants

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// These read the session's id, its model's name or its tenant rightly in one place and
// wrongly in another.

// PDSNativeOnly reads one header for prefill.
func (Catalogue) PDSNativeOnly() Mutant {
	return Mutant{ID: "pds/native-only", Fault: "for prefill a session is named by X-Session-ID alone", KilledBy: []string{"AFF-017/phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var others sync.Map // ids that came in other headers
			var n atomic.Int64
			find := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				id := find.Session(r)
				if r.Header.Get("X-Session-ID") == "" {
					others.Store(id, true)
				}
				return id
			})
			p.Prefill.Affinity = renames{p.Prefill.Affinity, func(k affinity.Key) affinity.Key {
				if _, other := others.Load(k.Session); other {
					k.Session += "#" + strconv.FormatInt(n.Add(1), 10)
				}
				return k
			}}
		})}
}

// AFFNativeTenant reads the tenant beside one header.
func (Catalogue) AFFNativeTenant() Mutant {
	return finding("aff/tenant-native-only", "the tenant is ignored unless the session is named by X-Session-ID",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if r.Header.Get("X-Session-ID") == "" {
					r.Header.Del("X-Tenant-ID")
				}
				return former.Session(r)
			})
		}, "AFF-017/tenants")
}

// ownName makes a coordinator that keys sessions by the model behind an alias.
func ownName(c affinity.Coordinator, aliases map[string]string) affinity.Coordinator {
	return renames{c, func(k affinity.Key) affinity.Key {
		k.Model = cmp.Or(aliases[k.Model], k.Model)
		return k
	}}
}

// PDSAliasesApart takes each name for a model, in prefill.
func (Catalogue) PDSAliasesApart() Mutant {
	return Mutant{ID: "pds/aliases-apart", Fault: "for prefill a session under a model's alias is another than under the model's own name", KilledBy: []string{"RTE-007/phases"},
		New: aliasesApart(func(aliases map[string]string, p *router.Parts) { p.Affinity = ownName(p.Affinity, aliases) })}
}

// RTEQuestionsApart takes each name for a model, in questions.
func (Catalogue) RTEQuestionsApart() Mutant {
	return Mutant{ID: "rte/questions-apart", Fault: "a question under a model's alias is about another session than a turn", KilledBy: []string{"AFF-014/aliases"},
		New: aliasesApart(func(aliases map[string]string, p *router.Parts) {
			inner := p.Affinity
			p.Affinity = queries{ownName(inner, aliases), inner.Query}
			p.Prefill.Affinity = ownName(p.Prefill.Affinity, aliases)
		})}
}

// AFFQuestionsNoTenant asks for nobody.
func (Catalogue) AFFQuestionsNoTenant() Mutant {
	return Mutant{ID: "aff/questions-no-tenant", Fault: "a question is about the session of no tenant, whoever asks", KilledBy: []string{"AFF-014/tenants"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Affinity
			p.Affinity = queries{inner, func(a affinity.Ask) (affinity.Target, bool, error) {
				a.Key.Tenant = ""
				return inner.Query(a)
			}}
		})}
}

// AFFQuestionsAnyTenant tells strangers.
func (Catalogue) AFFQuestionsAnyTenant() Mutant {
	return Mutant{ID: "aff/questions-any-tenant", Fault: "a question is about the session of the id that was placed last, whoever asks", KilledBy: []string{"AFF-014/tenants"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Affinity
			var last sync.Map // id -> key
			p.Affinity = queries{acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				last.Store(a.Key.Session, a.Key)
				return inner.Acquire(ctx, a)
			}}, func(a affinity.Ask) (affinity.Target, bool, error) {
				if k, ok := last.Load(a.Key.Session); ok {
					a.Key = k.(affinity.Key)
				}
				return inner.Query(a)
			}}
		})}
}
