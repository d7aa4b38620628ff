package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/spec"
)

// claim prints what a target that answers a claim with yes promises and what is then
// asked of it, if id is one.
func (a *app) claim(cat *suites.Catalogue, id string) bool {
	i := slices.IndexFunc(cat.Spec.Claims, func(e spec.Entry) bool { return e.Name == id })
	if i < 0 {
		return false
	}
	fmt.Fprintf(a.out, "claim %s\n", id)
	a.field("promises", cat.Spec.Claims[i].Text)
	var clauses, cases []string
	for _, cl := range cat.Spec.Clauses {
		if slices.Contains(cl.Claims, id) {
			clauses = append(clauses, cl.ID)
		}
	}
	for _, c := range cat.Cases {
		if slices.Contains(c.Claims, id) {
			cases = append(cases, c.ID)
		}
	}
	if len(clauses) > 0 {
		a.field("clauses", strings.Join(clauses, ", ")+" (declined if the manifest answers it with no)")
	}
	if len(cases) > 0 {
		a.field("cases", strings.Join(cases, ", ")+" (declined likewise)")
	}
	a.field("source", "suites/spec/claims.md")
	return true
}

// profile prints what a profile certifies, if id is one.
func (a *app) profile(cat *suites.Catalogue, id string) bool {
	i := slices.IndexFunc(cat.Spec.Profiles, func(e spec.Entry) bool { return e.Name == id })
	if i < 0 {
		return false
	}
	var clauses []string
	for _, cl := range cat.Spec.Clauses {
		if cl.Profile == id {
			clauses = append(clauses, cl.ID)
		}
	}
	fmt.Fprintf(a.out, "profile %s\n", id)
	a.field("certifies", cat.Spec.Profiles[i].Text)
	a.field("areas", strings.Join(cat.Spec.Profiles[i].Areas, ", "))
	a.field("clauses", strings.Join(clauses, ", "))
	a.field("run", "routeproof certify --profile "+id)
	a.field("source", "suites/spec/profiles.md")
	return true
}

// mutant prints what a wrong router does and what catches it, if id is one.
func (a *app) mutant(cat *suites.Catalogue, id string) bool {
	m, ok := cat.Mutant(id)
	if !ok {
		return false
	}
	fmt.Fprintf(a.out, "mutant %s\n", id)
	a.field("fault", m.Fault)
	a.field("killed by", strings.Join(m.KilledBy, ", "))
	a.field("run", "routeproof run --mutant "+id+" "+m.KilledBy[0])
	return true
}
