package target

import (
	"fmt"
	"slices"
	"strings"
)

// contradictions refuses what is well-formed and cannot be so: what is declared for
// something that is not there, and what is claimed of something that cannot have it.
func (m *Manifest) contradictions() error {
	for _, check := range []func() *ManifestError{m.idleSettings, m.stateless, m.withoutRouter, m.rankOfNobody, m.blindVariants, m.blindToRoles, m.blindReload, m.blindToStores} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// claimed is an error about a claim that is answered yes.
func (m *Manifest) claimed(claim, problem, remedy string) *ManifestError {
	return m.Fault([]string{"claims", claim}, "claims."+claim, "yes", "answered yes, but "+problem, remedy+", or answer no")
}

// lineOf is where a key stands, for a message that speaks of two places.
func (m *Manifest) lineOf(path ...string) int {
	line, _ := m.At(path...)
	return line
}

// idleSettings are settings of a table where there is none, or that nothing brings into force.
func (m *Manifest) idleSettings() *ManifestError {
	bounded := false
	for _, name := range append([]string{""}, m.VariantNames()...) {
		at, s := []string{"session"}, m.Session
		if name != "" {
			at, s = []string{"variants", name, "session"}, m.Variants[name].Session
		}
		bounded = bounded || s.Capacity != 0
		if s.Kind == KindTable || name == "" && !m.HasRouter() {
			continue
		}
		for _, f := range []struct {
			key, value string
			declared   bool
		}{
			{"idleTTL", s.IdleTTL.String(), s.IdleTTL != 0}, {"capacity", fmt.Sprint(s.Capacity), s.Capacity != 0}, {"atCapacity", s.AtCapacity, s.AtCapacity != ""},
		} {
			if f.declared {
				return m.Fault(append(at, f.key), strings.Join(append(at, f.key), "."), f.value,
					fmt.Sprintf("%s belongs to a table of sessions, but session.kind (line %d) is %s", f.value, m.lineOf("session", "kind"), s.Kind), "remove it, or write kind: table")
			}
		}
	}
	if m.Session.AtCapacity != "" && !bounded {
		return m.Fault([]string{"session", "atCapacity"}, "session.atCapacity", m.Session.AtCapacity,
			m.Session.AtCapacity+" says what happens beyond a capacity, but neither session nor a variant declares one", "declare session.capacity, or remove it")
	}
	return nil
}

// stateless are claims about bindings where sessions are placed by their hash alone.
func (m *Manifest) stateless() *ManifestError {
	if m.Session.Kind != KindHash {
		return nil
	}
	for _, claim := range []string{"affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds", "affinity.idleTTL", "affinity.query"} {
		if m.Claims[claim] {
			return m.claimed(claim, fmt.Sprintf("session.kind (line %d) is hash: there is no binding that this could be about", m.lineOf("session", "kind")), "write kind: table")
		}
	}
	return nil
}

// withoutRouter are claims that only a router can keep, and a component that claims to be none.
func (m *Manifest) withoutRouter() *ManifestError {
	if m.HasRouter() || m.Component == nil {
		return nil
	}
	for _, claim := range sortedKeys(m.Claims) {
		area, _, _ := strings.Cut(claim, ".")
		if m.Claims[claim] && !slices.Contains([]string{"affinity", "pins", "component"}, area) {
			return m.claimed(claim, fmt.Sprintf("it is about routers, and this target is a component alone (line %d)", m.lineOf("component")), "add launch, wiring, endpoint and session")
		}
	}
	unclaimed := ""
	for _, claim := range sortedKeys(m.Claims) {
		switch area, _, _ := strings.Cut(claim, "."); {
		case area != "component":
		case m.Claims[claim]:
			return nil
		case unclaimed == "":
			unclaimed = claim
		}
	}
	if unclaimed != "" {
		return m.Fault([]string{"claims", unclaimed}, "claims."+unclaimed, "no",
			fmt.Sprintf("answered no, as every claim of a component is, but this target is a component alone (line %d): nothing of it would be looked at", m.lineOf("component")), "answer yes for what the component is, or add launch, wiring, endpoint and session")
	}
	return nil
}

// rankOfNobody is a header for a rank where none names its worker.
func (m *Manifest) rankOfNobody() *ManifestError {
	if m.Pins.PrefillRank != "" && m.Pins.PrefillWorker == "" {
		return m.Fault([]string{"pins", "prefillRank"}, "pins.prefillRank", m.Pins.PrefillRank,
			"names the rank of a worker that no header names", "add prefillWorker: HEADER, or remove it")
	}
	return nil
}

// blindVariants are variants that a target is said to run in and learns nothing of. One
// that declares nothing else than the manifest itself may be empty: it is in force always.
func (m *Manifest) blindVariants() *ManifestError {
	for _, name := range m.VariantNames() {
		v := m.Variants[name]
		at, key := []string{"variants", name}, "variants."+name
		switch {
		case m.Launch.External:
			return m.Fault(at, key, "", "has no effect: an external target runs as it runs", "remove it, and answer the claims that need it with no")
		case m.Launch.Exec == nil || v.Session == m.Session:
			continue
		}
		all, err := m.resolve(name)
		if err != nil {
			continue // another check's matter
		}
		own, _ := m.resolve("")
		if m.told(own, m.sample(own, "", 1)) == m.told(all, m.sample(all, name, 1)) {
			return m.Fault(append(at, "session"), key+".session", "", "changes nothing that the target is given: no file, argument or variable differs in this variant",
				"write what it declares into files, command or env, from {{.Session}}, or give the variant files or env of its own")
		}
	}
	return nil
}

// blindToRoles is a target that serves in two phases and is not told which workers
// are there for which.
func (m *Manifest) blindToRoles() *ManifestError {
	if !m.Claims["pds.split"] || m.Launch.Exec == nil || len(m.Wiring.Ports) > 0 {
		return nil
	}
	own, _ := m.resolve("")
	roles, none := m.sample(own, "", 1), m.sample(own, "", 1)
	for i := range none.Workers {
		none.Workers[i].Role = "aggregated"
	}
	if m.told(own, roles) == m.told(own, none) {
		return m.claimed("pds.split", "nothing that the target is given says which workers are for prefill and which for decode", "write {{.Role}} of each worker into files, command or env")
	}
	return nil
}

// blindReload is a reload by which a target learns nothing of its workers.
func (m *Manifest) blindReload() *ManifestError {
	if !m.Claims["scaling.live"] || m.Wiring.Apply == nil {
		return nil
	}
	own, _ := m.resolve("")
	before, after := m.sample(own, "", 1), m.sample(own, "", 1)
	after.Workers = after.Workers[:1]
	if rendered(own.Files, before) == rendered(own.Files, after) {
		return m.claimed("scaling.live", fmt.Sprintf("no file names the workers, and files are all that a reload (line %d) renews", m.lineOf("wiring", "apply")), "write {{.Workers}} into a file that the target reads again")
	}
	return nil
}

// blindToStores is a target that looks for its workers in a store, and is told neither
// what lies there nor where it is.
func (m *Manifest) blindToStores() *ManifestError {
	for _, kind := range []string{StoreEtcd, StoreFile} {
		claim := "discovery." + kind
		if !m.Claims[claim] {
			continue
		}
		if _, ok := m.Wiring.Stores[kind]; !ok {
			return m.claimed(claim, "wiring.stores does not say how a worker's record looks there", "write wiring: {stores: {"+kind+": {key: ..., value: ..., ttl: 2s}}}")
		}
		if m.Launch.Exec == nil {
			continue
		}
		own, _ := m.resolve("")
		none, some := m.sample(own, "", 1), m.sample(own, "", 1)
		none.Workers, some.Workers, some.Store = nil, nil, sampleStore(kind)
		if m.told(own, none) == m.told(own, some) {
			return m.claimed(claim, "nothing that the target is given says where the store is", "write {{.Store.Endpoints}} or {{.Store.Root}} into files, command or env")
		}
	}
	return nil
}

// told is all that a process learns from us, as one text. What cannot be rendered is
// the rehearsal's matter.
func (m *Manifest) told(v Variant, d *Data) string {
	all := []string{rendered(v.Files, d), rendered(v.Env, d)}
	for _, a := range m.Launch.Exec.Command {
		s, _ := a.render(d)
		all = append(all, s)
	}
	return strings.Join(all, "\x00")
}

func rendered(all map[string]Template, d *Data) string {
	var b strings.Builder
	for _, name := range sortedKeys(all) {
		s, _ := all[name].render(d)
		fmt.Fprintf(&b, "%s\x00%s\x00", name, s)
	}
	return b.String()
}
