package suites

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/target"
)

// maxCapacity is the largest table that a case is willing to fill.
const maxCapacity = 4096

// maxIdle is the longest idle time that a case is willing to wait out.
const maxIdle = 10 * time.Second

// maxHeaders is the longest wait for response headers that a case is willing to wait out.
const maxHeaders = 2 * time.Second

// Fits says whether a manifest holds what the jobs' cases need, of those that
// its claims call for. The error is a *target.ManifestError that names what is missing.
func (c *Catalogue) Fits(m *target.Manifest, jobs []Job) error {
	for _, name := range m.VariantNames() {
		if !slices.Contains(c.variants(), name) {
			return m.Fault([]string{"variants", name}, "variants."+name, "", "no case runs in a variant of this name",
				"near: "+near.List(c.variants(), name))
		}
	}
	if err := c.leansOnNo(m); err != nil {
		return err
	}
	for _, j := range jobs {
		x, _ := c.Case(j.Case)
		cl, _ := c.Spec.Clause(x.Clause())
		all := claims(cl, x)
		if declined(m, all) != "" {
			continue
		}
		if err := fits(m, x, all); err != nil {
			return err
		}
	}
	return nil
}

// leansOnNo finds a claim that is answered yes, though every case that looks at it asks
// for a claim, too, that is answered no: all of them would be declined, in silence.
func (c *Catalogue) leansOnNo(m *target.Manifest) error {
	needs := map[string][]string{} // claim -> what all of its cases ask for
	for _, x := range c.Cases {
		cl, _ := c.Spec.Clause(x.Clause())
		all := claims(cl, x)
		for _, name := range all {
			if _, seen := needs[name]; !seen {
				needs[name] = slices.Clone(all)
			}
			needs[name] = slices.DeleteFunc(needs[name], func(other string) bool { return !slices.Contains(all, other) })
		}
	}
	for _, name := range c.Spec.ClaimNames() {
		if !m.Claims[name] {
			continue
		}
		if no := declined(m, needs[name]); no != "" {
			at := []string{"claims", no}
			line, _ := m.At(at...)
			return m.Fault([]string{"claims", name}, "claims."+name, "yes",
				fmt.Sprintf("answered yes, but %s (line %d) is answered no, which every case of it needs", no, line), "answer "+no+" with yes, or this one with no")
		}
	}
	return nil
}

// variants are the manifest variants that cases ask for.
func (c *Catalogue) variants() (names []string) {
	for _, x := range c.Cases {
		for _, name := range parts(x.Variant) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// parts are the variants that a case's name for one puts together.
func parts(variant string) []string {
	if variant == "" {
		return nil
	}
	return strings.Split(variant, target.Plus)
}

func fits(m *target.Manifest, x bench.Case, claims []string) error {
	if !x.Component() && !m.HasRouter() {
		return nil // declined: there is nothing to send requests to
	}
	has := func(claim string) bool { return slices.Contains(claims, claim) }
	for _, name := range parts(x.Variant) {
		if slices.Contains(m.VariantNames(), name) {
			continue
		}
		at := []string{"claims"}
		if len(claims) > 0 {
			at = append(at, claims[len(claims)-1])
		}
		return m.Fault(at, "variants."+name, "", fmt.Sprintf("missing: the claim on this line calls for case %s, which runs in it", x.ID),
			fmt.Sprintf("add the variant, or answer one of the claims %s with no", strings.Join(claims, ", ")))
	}
	session, err := m.SessionOf(x.Variant)
	if err != nil {
		return err
	}
	headers, err := m.HeadersOf(x.Variant)
	if err != nil {
		return err
	}
	missing := func(key, claim, remedy string) error {
		return m.Fault([]string{"claims", claim}, key, "", fmt.Sprintf("missing: case %s needs it, since the claim on this line is answered yes", x.ID), remedy+", or answer the claim with no")
	}
	switch {
	case x.Component() && m.Component == nil:
		return missing("component", bench.LibraryClaim(x.Library()), "write component: {command: [ADAPTER, ARGUMENT, ...]}")
	case x.Component():
		return nil // the rest is about routers
	case has("pins.worker") && m.Pins.Worker == "":
		return missing("pins.worker", "pins.worker", "write pins: {worker: HEADER}")
	case has("pins.rank") && m.Pins.Rank == "":
		return missing("pins.rank", "pins.rank", "write pins: {worker: HEADER, rank: HEADER}")
	case has("pins.prefill") && (m.Pins.PrefillWorker == "" || m.Pins.PrefillRank == ""):
		return missing("pins.prefillWorker", "pins.prefill", "write pins: {..., prefillWorker: HEADER, prefillRank: HEADER}")
	case has("affinity.tenant") && session.Tenant == "":
		return missing("session.tenant", "affinity.tenant", "write session: {..., tenant: HEADER}")
	case has("affinity.query") && session.Query == "":
		return missing("session.query", "affinity.query", "write session: {..., query: HEADER}")
	case has("routing.aliases") && !slices.Contains(slices.Collect(maps.Values(m.Aliases)), m.Models[0]):
		return missing("aliases", "routing.aliases", "write aliases: {ALIAS: "+m.Models[0]+"}")
	case x.Fleet.Models > len(m.Models):
		return missing("models", "routing.byModel", "write models: [ONE, ANOTHER]")
	case has("resilience.headerTimeout") && (headers == 0 || headers > maxHeaders):
		return m.Fault([]string{"variants", x.Variant}, "timeouts.headers", headers.String(),
			fmt.Sprintf("case %s waits it out, and in variant %q it is %v (0s: not declared)", x.ID, x.Variant, headers),
			fmt.Sprintf("declare at most %v there, or answer the claim resilience.headerTimeout with no", maxHeaders))
	case has("affinity.key") && session.Kind == target.KindNone:
		return m.Fault([]string{"session", "kind"}, "session.kind", target.KindNone, "contradicts the claim affinity.key: yes",
			"declare table or hash, or answer the claim affinity.key with no")
	case has("affinity.idleTTL") && session.IdleTTL == 0:
		return m.Fault([]string{"session"}, "session.idleTTL", "", fmt.Sprintf("missing: case %s waits it out", x.ID),
			"declare it, or answer the claim affinity.idleTTL with no")
	case has("affinity.idleTTL") && session.IdleTTL > maxIdle:
		return m.Fault([]string{"variants", x.Variant, "session"}, "session.idleTTL", session.IdleTTL.String(),
			fmt.Sprintf("%v is too long: case %s waits it out more than twice", session.IdleTTL, x.ID), fmt.Sprintf("declare at most %v in variant %q", maxIdle, x.Variant))
	case has("affinity.capacity") && (session.Capacity == 0 || session.Capacity > maxCapacity || session.AtCapacity == ""):
		return m.Fault([]string{"variants", x.Variant, "session"}, "session.capacity", fmt.Sprint(session.Capacity),
			fmt.Sprintf("case %s fills the table of variant %q, which declares a capacity of %d and atCapacity %q", x.ID, x.Variant, session.Capacity, session.AtCapacity),
			fmt.Sprintf("declare a capacity of 1 to %d and atCapacity there, or answer the claim affinity.capacity with no", maxCapacity))
	case len(m.Wiring.Ports) > 0 && len(m.Wiring.Ports) < x.Size():
		return m.Fault([]string{"wiring", "ports"}, "wiring.ports", fmt.Sprint(m.Wiring.Ports),
			fmt.Sprintf("holds %d ports, and case %s needs %d workers", len(m.Wiring.Ports), x.ID, x.Size()), "list as many ports")
	}
	return nil
}
