package bench

import (
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// ComponentClaim is the claim that a target is certified as a component, too.
const ComponentClaim = "component.affinity"

// LibraryClaim is the claim that a target is certified as the component of this name.
func LibraryClaim(component string) string { return "component." + component }

// Script is the script of a case that talks by one, else nil.
func (c Case) Script() *script.Script {
	s, _ := c.Talk.(scripted)
	return s.Script
}

// Sentences say what a case that talks by a script asks, and what must come of it; nil of
// others.
func (c Case) Sentences() (all []string) {
	switch t := c.Talk.(type) {
	case scripted:
		for _, st := range t.Steps {
			all = append(all, st.Sentence())
		}
	case indexed:
		for _, st := range t.Steps {
			all = append(all, st.Sentence())
		}
	}
	return all
}

// Lineage is the script of a case that talks to a session index by one, else nil.
func (c Case) Lineage() *lineage.Script {
	x, _ := c.Talk.(indexed)
	return x.Script
}

// policy is what the script's instance does in a full table, "" where that does not matter.
func (c Case) policy() string {
	if s := c.Script(); s != nil {
		return s.Config.AtCapacity
	}
	return ""
}

// Scripted is a case on the component surface: one conversation, exact, on the
// component's injected clock.
func Scripted(id, stimulus, requirement string, s *script.Script) Case {
	return Case{ID: id, Stimulus: stimulus, Requirement: requirement, Claims: []string{ComponentClaim}, Talk: scripted{s}, Judge: judge.Follows(s)}
}
