package judge

import (
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/lineage/model"
	"github.com/routeproof/routeproof/suites/script"
)

// Indexes requires a conversation with a session index to go as its script says and,
// where the script leaves that to them, as the rules do. After the first thing that does
// not, nothing more is judged: what follows from it proves nothing.
func Indexes(s *lineage.Script) Judge {
	return func(h *history.History) Finding {
		switch {
		case h.Talk == nil || len(h.Lineages) != 1:
			return Finding{Inconclusive: "no conversation was held"}
		case len(h.Lineages[0].Turns) > len(s.Steps):
			return Finding{Inconclusive: fmt.Sprintf("the conversation has %d turns, its script %d steps", len(h.Lineages[0].Turns), len(s.Steps))}
		}
		turns := h.Lineages[0].Turns
		m := model.New(s.Config, h.Talk.Claims)
		named := map[string]lineage.Answer{}
		judged := 0
		for i, turn := range turns {
			st := s.Steps[i]
			switch {
			case turn.Unable:
				continue
			case turn.Left != "":
				return Finding{Inconclusive: fmt.Sprintf("step %d (%s) was not asked: %s", i+1, st, turn.Left)}
			}
			if problem := wanted(st, turn.Answer, named); problem != nil {
				return Finding{Violations: []Violation{atStep(i, st, problem.Expected, problem.Observed)}}
			}
			if m != nil && m.Asks(st) {
				if d := m.Follow(st, turn.Answer); d != nil && len(st.Wants) == 0 && st.Same == "" {
					return Finding{Violations: []Violation{atStep(i, st, d.Expected, d.Observed)}}
				}
			} else {
				m = nil // for an adapter that claims less the rules may be silent
			}
			named[st.Name] = turn.Answer
			judged++
		}
		switch {
		case h.Talk.Fault != "":
			return Finding{Violations: []Violation{brokenProtocol(h.Talk)}}
		case len(turns) < len(s.Steps):
			return Finding{Inconclusive: fmt.Sprintf("the conversation ended after %d of %d steps", len(turns), len(s.Steps))}
		case judged == 0:
			return Finding{Inconclusive: "no step could be asked"}
		}
		return Finding{}
	}
}

func brokenProtocol(t *script.Talk) Violation {
	return Violation{Expected: "an adapter that keeps to the protocol (suites/target/component.md)", Observed: t.Fault}
}

func atStep(i int, st *lineage.Step, expected, observed string) Violation {
	return Violation{Expected: fmt.Sprintf("step %d (%s): %s", i+1, st, expected), Observed: observed}
}

// wanted compares an answer with what its step wants.
func wanted(st *lineage.Step, a lineage.Answer, named map[string]lineage.Answer) *Violation {
	observed := "it was answered: " + a.String()
	if a.Text != "" {
		observed += fmt.Sprintf(" (%.200s)", a.Text)
	}
	if before, ok := named[st.Same]; st.Same != "" && ok && before.String() != a.String() {
		return &Violation{Expected: "as before, " + before.String(), Observed: observed}
	}
	if len(st.Wants) > 0 && !slices.ContainsFunc(st.Wants, func(w lineage.Answer) bool { return w.Meets(a) }) {
		return &Violation{Expected: lineage.AnyOf(st.Wants), Observed: observed}
	}
	return nil
}

// IndexModelled requires at least min conversations with a session index to have gone as
// the model of the rules says. Of those that did not it shows the last, which is the
// smallest.
func IndexModelled(min int) Judge {
	return func(h *history.History) Finding {
		if h.Talk == nil {
			return Finding{Inconclusive: "no conversation was held"}
		}
		return walked(h.Talk, h.Lineages, min, walker[lineage.Held]{
			wrong: func(c lineage.Held) *Violation { return indexed(c, h.Talk.Claims) },
			asked: func(c lineage.Held) string { return asked(c.Script) },
			whole: func(c lineage.Held) bool {
				return c.Script != nil && len(c.Turns) > 0 && len(c.Turns) == len(c.Script.Steps)
			},
		})
	}
}

// indexed holds one conversation against the model.
func indexed(c lineage.Held, claims []string) *Violation {
	if c.Script == nil {
		return nil
	}
	m := model.New(c.Script.Config, claims)
	for i, turn := range c.Turns {
		if i >= len(c.Script.Steps) {
			return nil
		}
		st := c.Script.Steps[i]
		if d := m.Follow(st, turn.Answer); d != nil {
			s := &lineage.Script{Config: c.Script.Config, Steps: c.Script.Steps[:i+1]}
			v := atStep(i, st, d.Expected, d.Observed+"; it was asked, "+asked(s))
			return &v
		}
	}
	return nil
}

// asked is what a script asks, in one sentence; "" of none.
func asked(s *lineage.Script) string {
	if s == nil {
		return ""
	}
	return sentence(s.Config, s.Steps)
}
