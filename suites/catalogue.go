// Package suites is the conformance suite: the catalogue of clauses, cases and
// mutants, and the Ginkgo specs generated from it. Run certifies a target inside
// anybody's `go test`; Specs does so inside an existing Ginkgo suite.
package suites

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/routeproof/routeproof/suites/affinity"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/bounds"
	"github.com/routeproof/routeproof/suites/discovery"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/pinning"
	"github.com/routeproof/routeproof/suites/resilience"
	"github.com/routeproof/routeproof/suites/routing"
	"github.com/routeproof/routeproof/suites/scaling"
	"github.com/routeproof/routeproof/suites/sessionindex"
	"github.com/routeproof/routeproof/suites/spec"
	"github.com/routeproof/routeproof/suites/streaming"
)

// Version is the suite's own version, apart from the specification's.
const Version = "0.1.0"

// families hold the cases as methods. A new case is a new method; a new family
// is a new line here.
var families = []any{
	affinity.Cases{}, bounds.Cases{}, discovery.Cases{}, pinning.Cases{}, resilience.Cases{}, routing.Cases{}, scaling.Cases{}, sessionindex.Cases{}, streaming.Cases{},
}

// Catalogue is everything that can be certified and everything that must be caught.
type Catalogue struct {
	Spec    *spec.Spec
	Cases   []bench.Case     // by ID
	Mutants []mutants.Mutant // by ID
}

// Load builds the catalogue and holds it to its rules: every MUST has a case or
// a written reason, every case names an existing clause and kills a mutant,
// every mutant names existing cases.
func Load() (*Catalogue, error) {
	s, err := spec.Load()
	if err != nil {
		return nil, fmt.Errorf("specification: %w", err)
	}
	cat := &Catalogue{Spec: s, Cases: methods[bench.Case](families...), Mutants: methods[mutants.Mutant](mutants.Catalogue{})}
	for i := range cat.Cases {
		cat.Cases[i] = cat.Cases[i].Normal()
	}
	sort.Slice(cat.Cases, func(i, j int) bool { return cat.Cases[i].ID < cat.Cases[j].ID })
	sort.Slice(cat.Mutants, func(i, j int) bool { return cat.Mutants[i].ID < cat.Mutants[j].ID })
	return cat, cat.check()
}

// methods calls every exported method of the holders that takes nothing and
// returns a T, or several. Explicit holders instead of init-time registration keep the
// order fixed and let check see duplicates.
func methods[T any](holders ...any) []T {
	var out []T
	for _, h := range holders {
		v := reflect.ValueOf(h)
		for i := range v.NumMethod() {
			switch f := v.Method(i).Interface().(type) {
			case func() T:
				out = append(out, f())
			case func() []T:
				out = append(out, f()...)
			}
		}
	}
	return out
}

func (c *Catalogue) check() error {
	cases, cased := map[string]bool{}, map[string]bool{}
	for _, x := range c.Cases {
		if cases[x.ID] {
			return fmt.Errorf("case %s is defined twice", x.ID)
		}
		cases[x.ID] = true
		cased[x.Clause()] = true
		if _, ok := c.Spec.Clause(x.Clause()); !ok {
			return fmt.Errorf("case %s checks clause %s, which suites/spec does not hold", x.ID, x.Clause())
		}
		if (x.Drive == nil) != x.Component() || x.Judge == nil || x.Stimulus == "" || x.Requirement == "" {
			return fmt.Errorf("case %s lacks a stimulus, a requirement, a drive or a judge", x.ID)
		}
	}
	for _, cl := range c.Spec.Clauses {
		switch {
		case cl.Level == spec.Must && !cased[cl.ID] && cl.Untestable == "":
			return fmt.Errorf("clause %s (%s:%d) is a MUST without a case; add one or an `Untestable: ` line", cl.ID, cl.File, cl.Line)
		case cased[cl.ID] && cl.Untestable != "":
			return fmt.Errorf("clause %s (%s:%d) is said to be untestable and has a case", cl.ID, cl.File, cl.Line)
		}
	}
	needed, known := map[string]bool{}, c.Spec.ClaimNames()
	for _, x := range c.Cases {
		cl, _ := c.Spec.Clause(x.Clause())
		for _, name := range claims(cl, x) {
			needed[name] = true
			if !slices.Contains(known, name) {
				return fmt.Errorf("case %s needs the claim %s, which suites/spec/claims.md does not hold", x.ID, name)
			}
		}
	}
	for _, name := range known {
		if !needed[name] {
			return fmt.Errorf("claims.md: no case needs claim %s; drop the row", name)
		}
	}
	seen, killed := map[string]bool{}, map[string]bool{}
	for _, m := range c.Mutants {
		if seen[m.ID] {
			return fmt.Errorf("mutant %s is defined twice", m.ID)
		}
		seen[m.ID] = true
		if len(m.KilledBy) == 0 || m.Fault == "" || m.New == nil && m.Component().None() {
			return fmt.Errorf("mutant %s lacks its fault, its factory or the cases that kill it", m.ID)
		}
		for _, id := range m.KilledBy {
			if !cases[id] {
				return fmt.Errorf("mutant %s is said to be killed by %s, which is no case", m.ID, id)
			}
			if x, _ := c.Case(id); !m.Library(x.Library()) {
				return fmt.Errorf("mutant %s is said to be killed by %s, which asks for what it is not: %s", m.ID, id, cmp.Or(x.Library(), "a router"))
			}
			killed[id] = true
		}
	}
	for id := range cases {
		if !killed[id] {
			return fmt.Errorf("case %s kills no mutant, so nothing shows that it can fail; add one to suites/mutants", id)
		}
	}
	return nil
}

// Case finds a case by ID.
func (c *Catalogue) Case(id string) (bench.Case, bool) {
	i := slices.IndexFunc(c.Cases, func(x bench.Case) bool { return x.ID == id })
	if i < 0 {
		return bench.Case{}, false
	}
	return c.Cases[i], true
}

// Mutant finds a mutant by ID.
func (c *Catalogue) Mutant(id string) (mutants.Mutant, bool) {
	i := slices.IndexFunc(c.Mutants, func(m mutants.Mutant) bool { return m.ID == id })
	if i < 0 {
		return mutants.Mutant{}, false
	}
	return c.Mutants[i], true
}

// CaseIDs lists the cases of a clause, or all for "".
func (c *Catalogue) CaseIDs(clause string) []string {
	out := []string{}
	for _, x := range c.Cases {
		if clause == "" || x.Clause() == clause {
			out = append(out, x.ID)
		}
	}
	return out
}

// Killers lists the mutants that a case must kill.
func (c *Catalogue) Killers(caseID string) []string {
	out := []string{}
	for _, m := range c.Mutants {
		if slices.Contains(m.KilledBy, caseID) {
			out = append(out, m.ID)
		}
	}
	return out
}

// Match selects cases by clause ID, case ID or area, as `run` takes them. An
// argument that matches nothing is an error that names near ones.
func (c *Catalogue) Match(args []string) ([]bench.Case, error) {
	var out []bench.Case
	for _, arg := range args {
		n := len(out)
		for _, x := range c.Cases {
			if x.ID == arg || x.Clause() == arg || strings.HasPrefix(x.ID, arg+"-") || strings.HasPrefix(x.ID, arg+"/") {
				out = append(out, x)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("%q names no case, clause or area; near: %s (see `routeproof list`)", arg, c.Near(arg))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return slices.CompactFunc(out, func(a, b bench.Case) bool { return a.ID == b.ID }), nil
}

// Near lists what an unknown name may have meant: areas, clauses and cases.
func (c *Catalogue) Near(name string) string {
	var areas, clauses []string
	for _, cl := range c.Spec.Clauses {
		clauses = append(clauses, cl.ID)
		if !slices.Contains(areas, cl.Area()) {
			areas = append(areas, cl.Area())
		}
	}
	return near.List(slices.Concat(areas, clauses, c.CaseIDs("")), name)
}

// SHA256 is the digest of the catalogue as a report names it: every case with
// its clause, lines and needs.
func (c *Catalogue) SHA256() string {
	sum := sha256.New()
	for _, x := range c.Cases {
		fmt.Fprintf(sum, "%s|%s|%s|%d|%v|%s|%t|%v\n", x.ID, x.Stimulus, x.Requirement, x.Workers, x.Fleet, x.Variant, x.Alone, x.Limit)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
