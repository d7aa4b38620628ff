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
		passed := map[string]string{} // what passes have named
		for i, turn := range t.Turns {
			if i >= len(s.Steps) {
				return Finding{Inconclusive: fmt.Sprintf("the conversation has %d turns, its script %d steps", len(t.Turns), len(s.Steps))}
			}
			st := s.Steps[i]
			switch meant := st.Meant(passed); {
			case turn.Unable && (st.Needs != "" || !meant):
				continue
			case turn.Left != "" || turn.Unable:
				return Finding{Inconclusive: fmt.Sprintf("step %d (%s) was not asked: %s", i+1, st, turn.Left)}
			case !meant:
				return Finding{Inconclusive: fmt.Sprintf("step %d (%s) was asked though it is not meant", i+1, st)}
			}
			if v := step(i, st, turn, passed); v != nil {
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

// step compares one turn with its step, and notes in passed what that passes on.
func step(i int, st *script.Step, turn script.Turn, passed map[string]string) *Violation {
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
		expected := fmt.Sprintf("exactly one of %s %s", strings.Join(p.Among, ", "), p.Outcome)
		var heirs []string
		if early := passed[p.As]; early != "" {
			expected, heirs = fmt.Sprintf("nobody beside %s %s", early, p.Outcome), []string{early}
		}
		for _, n := range p.Among {
			if a, ok := answered[n]; ok {
				if named[n] = true; !p.Outcome.Meets(a.Outcome) {
					return bad(expected, n+" was answered: "+said(a))
				}
				heirs = append(heirs, n)
			}
		}
		switch {
		case len(heirs) == 0 && p.Early:
		case len(heirs) != 1:
			return bad(expected, fmt.Sprintf("%d of them were answered so: %s", len(heirs), strings.Join(heirs, ", ")))
		default:
			passed[p.As] = heirs[0]
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
