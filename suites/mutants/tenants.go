package mutants

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// calls is a mutant that knows tenants by other names.
func calls(id, fault string, name func(string) string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: []string{"AFF-015/tenant-names"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key { k.Tenant = name(k.Tenant); return k }}
		})}
}

// AFFTenantFolds compares tenants without case.
func (Catalogue) AFFTenantFolds() Mutant {
	return calls("aff/tenant-folds", "tenants' names are compared without regard to case", strings.ToLower)
}

// tenantBytes compares the first bytes.
func tenantBytes(n int) Mutant {
	return calls(fmt.Sprintf("aff/tenant-%d", n), fmt.Sprintf("only the first %d bytes of a tenant's name count", n), func(t string) string { return t[:min(len(t), n)] })
}

// AFFTenant32 compares the first 32 bytes.
func (Catalogue) AFFTenant32() Mutant { return tenantBytes(32) }

// AFFTenant64 compares the first 64 bytes.
func (Catalogue) AFFTenant64() Mutant { return tenantBytes(64) }

// AFFUnquotes reads ids as strings of a language.
func (Catalogue) AFFUnquotes() Mutant {
	return rekey("aff/unquotes", "quotes around a session id do not count", []string{"AFF-002/distinct-ids"},
		func(id string) string { return strings.Trim(id, `"'`) })
}

// AFFCutsUnderlines reads ids as names with a suffix.
func (Catalogue) AFFCutsUnderlines() Mutant {
	return rekey("aff/cuts-underlines", "session ids count up to the first underline alone", []string{"AFF-002/distinct-ids"},
		func(id string) string { before, _, _ := strings.Cut(id, "_"); return before })
}

// AFFExpectFree takes requests that wait for leave another way.
func (Catalogue) AFFExpectFree() Mutant {
	return free("aff/expect-free", "a request with Expect: 100-continue is served without its session", func(r *http.Request) bool { return r.Header.Get("Expect") != "" })
}
