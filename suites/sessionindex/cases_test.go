package sessionindex

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/lineage/model"
)

// cases are all of the area that talk by a script.
func cases(t *testing.T) (all []bench.Case) {
	t.Helper()
	v := reflect.ValueOf(Cases{})
	for i := range v.NumMethod() {
		switch f := v.Method(i).Interface().(type) {
		case func() bench.Case:
			all = append(all, f())
		case func() []bench.Case:
			all = append(all, f()...)
		default:
			t.Errorf("method %s makes no case", v.Type().Method(i).Name)
		}
	}
	return slices.DeleteFunc(all, func(c bench.Case) bool { return c.Lineage() == nil })
}

// TestTheModelAgreesWithWhatTheCasesExpect: both say the same in ways of their own.
func TestTheModelAgreesWithWhatTheCasesExpect(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.ID, func(t *testing.T) {
			sc := c.Lineage()
			m := model.New(sc.Config, []string{"clock", "dump", "lifecycle", "admission", "physical", "barrier"})
			named := map[string]lineage.Answer{}
			wanted := 0
			for i, st := range sc.Steps {
				if !m.Asks(st) {
					t.Fatalf("step %d (%s): the rules do not say what comes of it", i+1, st)
				}
				may := m.Step(st)
				named[st.Name] = may[0]
				if st.Same != "" && named[st.Same].String() != may[0].String() {
					t.Fatalf("step %d (%s): as before, %s, and the model says %s", i+1, st, named[st.Same], may[0])
				}
				if len(st.Wants) == 0 {
					continue
				}
				wanted++
				if !slices.ContainsFunc(st.Wants, func(w lineage.Answer) bool {
					return w.Meets(may[0]) || slices.ContainsFunc(may, func(a lineage.Answer) bool { return a.Meets(w) })
				}) {
					t.Fatalf("step %d (%s): the case expects %s, the model %s", i+1, st, lineage.AnyOf(st.Wants), lineage.AnyOf(may))
				}
			}
			if wanted < 2 {
				t.Error("it expects next to nothing by hand")
			}
		})
	}
}

// TestCasesDemandNoMoreThanTheRulesDo: a MUST wants a particular reason only where no other
// holds.
func TestCasesDemandNoMoreThanTheRulesDo(t *testing.T) {
	for _, c := range cases(t) {
		if strings.HasPrefix(c.ID, "SPX-003/") {
			continue
		}
		sc := c.Lineage()
		m := model.New(sc.Config, []string{"clock", "dump", "lifecycle", "admission", "physical", "barrier"})
		for i, st := range sc.Steps {
			for _, may := range m.Step(st) {
				if len(st.Wants) > 0 && !slices.ContainsFunc(st.Wants, func(w lineage.Answer) bool { return w.Meets(may) || may.Meets(w) }) {
					t.Errorf("%s step %d (%s): %s is allowed as well as %s", c.ID, i+1, st, may, lineage.AnyOf(st.Wants))
				}
			}
		}
	}
}
