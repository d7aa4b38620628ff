package bench

import (
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// ComponentClaim is the claim that a target is certified as a component, too.
const ComponentClaim = "component.affinity"

// Scripted is a case on the component surface: one conversation, exact, on the
// component's injected clock.
func Scripted(id, stimulus, requirement string, s *script.Script) Case {
	return Case{ID: id, Stimulus: stimulus, Requirement: requirement, Claims: []string{ComponentClaim}, Talk: scripted{s}, Judge: judge.Follows(s)}
}
