package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/lineage"
)

// Limit is how many sessions may be held.
func (m *Model) Limit() int { return m.sessions }

// Difference is a step that was answered as it may not be.
type Difference struct {
	Expected, Observed string
	May                []lineage.Answer // what may be answered
}

// Follow takes a step as it was answered. After a difference the model is of no use.
func (m *Model) Follow(st *lineage.Step, a lineage.Answer) *Difference {
	if !m.Asks(st) {
		return &Difference{Expected: "a step that can be asked", Observed: "one that refers to nothing"}
	}
	may := m.Step(st)
	if a.Dump != nil {
		if problem := lineage.Audit(a.Dump, m.sessions); problem != "" {
			return &Difference{"a state that does not contradict itself: " + lineage.AnyOf(may), problem + ": " + a.String(), may}
		}
	}
	if slices.ContainsFunc(may, func(w lineage.Answer) bool { return w.Meets(a) }) {
		return nil
	}
	observed := "it was answered: " + a.String()
	if a.Text != "" {
		observed += " (" + a.Text[:min(len(a.Text), 160)] + ")"
	}
	return &Difference{lineage.AnyOf(may), observed, may}
}
