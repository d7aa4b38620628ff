package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
)

// Follows requires a conversation to go as its script says. After the first thing
// that does not, nothing more is judged: what follows from it proves nothing.
func Follows(s *script.Script) Judge {
	return func(h *history.History) Finding {
		t := h.Talk
		if t == nil {
			return Finding{Inconclusive: "no conversation was held"}
		}
		judged := 0
		for i, turn := range t.Turns {
			if i >= len(s.Steps) {
				return Finding{Inconclusive: fmt.Sprintf("the conversation has %d turns, its script %d steps", len(t.Turns), len(s.Steps))}
			}
			st := s.Steps[i]
			switch {
			case turn.Unable:
				continue
			case turn.Left != "":
				return Finding{Inconclusive: fmt.Sprintf("step %d (%s) was not asked: %s", i+1, st, turn.Left)}
			}
			if v := step(i, st, turn); v != nil {
				return Finding{Violations: []Violation{*v}}
			}
			judged += len(st.Wants)
		}
		switch {
		case t.Fault != "":
			return Finding{Violations: []Violation{{Expected: "an adapter that keeps to the protocol (suites/target/component.md)", Observed: t.Fault}}}
		case len(t.Turns) < len(s.Steps):
			return Finding{Inconclusive: fmt.Sprintf("the conversation ended after %d of %d steps", len(t.Turns), len(s.Steps))}
		case judged == 0:
			return Finding{Inconclusive: "no step could be asked"}
		}
		return Finding{}
	}
}

// step compares one turn with its step.
func step(i int, st *script.Step, turn script.Turn) *Violation {
	bad := func(expected, observed string) *Violation {
		return &Violation{Expected: fmt.Sprintf("step %d (%s): %s", i+1, st, expected), Observed: observed}
	}
	answered := map[string]script.Answer{}
	for _, a := range turn.Answers {
		answered[a.Name] = a
	}
	named := map[string]bool{}
	for _, w := range st.Wants {
		named[w.Name] = true
		a, ok := answered[w.Name]
		who := st.Subject(w.Name)
		switch {
		case len(w.AnyOf) == 0 && ok:
			return bad(who+" to wait", who+" was answered: "+said(a))
		case len(w.AnyOf) == 0 && !slices.Contains(turn.Waiting, w.Name):
			return bad(who+" to wait", who+" neither waits nor was answered")
		case len(w.AnyOf) == 0:
		case !ok:
			return bad(who+" "+script.AnyOf(w.AnyOf), who+" was not answered")
		case !slices.ContainsFunc(w.AnyOf, func(o script.Outcome) bool { return o.Meets(a.Outcome) }):
			return bad(who+" "+script.AnyOf(w.AnyOf), who+" was answered: "+said(a))
		}
	}
	if p := st.Passes; p != nil {
		var heirs []string
		for _, n := range p.Among {
			named[n] = true
			if a, ok := answered[n]; ok {
				if !p.Outcome.Meets(a.Outcome) {
					return bad(fmt.Sprintf("exactly one of %s %s", strings.Join(p.Among, ", "), p.Outcome), n+" was answered: "+said(a))
				}
				heirs = append(heirs, n)
			}
		}
		if len(heirs) != 1 {
			return bad(fmt.Sprintf("exactly one of %s %s", strings.Join(p.Among, ", "), p.Outcome), fmt.Sprintf("%d of them were answered so: %s", len(heirs), strings.Join(heirs, ", ")))
		}
	}
	for _, a := range turn.Answers {
		if !named[a.Name] {
			return bad("nothing else to be answered", a.Name+", which waited, was answered: "+said(a))
		}
	}
	return nil
}

func said(a script.Answer) string {
	s := a.Outcome.String()
	if a.Text != "" {
		s += fmt.Sprintf(" (%.200s)", a.Text)
	}
	return s
}
