package judge

import (
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/script/model"
)

// Modelled requires at least min conversations to have gone as the model of the rules
// says. Of those that did not it shows the last, which is the smallest.
func Modelled(min int) Judge {
	return func(h *history.History) Finding {
		for i := len(h.Held) - 1; i >= 0; i-- {
			if v := followed(h.Held[i]); v != nil {
				return Finding{Violations: []Violation{*v}}
			}
		}
		switch {
		case h.Talk != nil && h.Talk.Fault != "":
			v := Violation{Expected: "an adapter that keeps to the protocol (suites/target/component.md)", Observed: h.Talk.Fault}
			if n := len(h.Held); n > 0 && h.Held[n-1].Script != nil {
				v.Observed += "; it was asked, " + told(h.Held[n-1].Script)
			}
			return Finding{Violations: []Violation{v}}
		case len(h.Held) < min:
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d conversations were held", len(h.Held), min)}
		}
		for i, c := range h.Held {
			if c.Script == nil || len(c.Turns) == 0 || len(c.Turns) != len(c.Script.Steps) {
				return Finding{Inconclusive: fmt.Sprintf("conversation %d was not held to its end", i+1)}
			}
		}
		return Finding{}
	}
}

// followed holds one conversation against the model.
func followed(c script.Held) *Violation {
	if c.Script == nil {
		return nil
	}
	m := model.New(c.Script.Config)
	at := 0
	for _, group := range script.Groups(c.Script.Steps) {
		if at+len(group) > len(c.Turns) {
			return nil
		}
		if d := m.Follow(group, c.Turns[at:at+len(group)]); d != nil {
			at += d.At
			s := &script.Script{Config: c.Script.Config, Steps: c.Script.Steps[:at+1]}
			return &Violation{Expected: fmt.Sprintf("step %d (%s): %s", at+1, c.Script.Steps[at], d.Expected), Observed: d.Observed + "; it was asked, " + told(s)}
		}
		at += len(group)
	}
	return nil
}

// told is what a script asks, in one sentence.
func told(s *script.Script) string {
	var b strings.Builder
	fmt.Fprintf(&b, "with %s", s.Config)
	for i, st := range s.Steps {
		fmt.Fprintf(&b, ", (%d) %s", i+1, st)
	}
	return b.String()
}
