package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/script/model"
)

// Modelled requires at least min conversations to have gone as the model of the rules
// says. Of those that did not it shows the last, which is the smallest.
func Modelled(min int) Judge {
	return func(h *history.History) Finding {
		return walked(h.Talk, h.Held, min, walker[script.Held]{
			wrong: followed,
			asked: func(c script.Held) string { return told(c.Script) },
			whole: func(c script.Held) bool {
				return c.Script != nil && len(c.Turns) > 0 && len(c.Turns) == len(c.Script.Steps)
			},
		})
	}
}

// walker knows one kind of conversation.
type walker[C any] struct {
	wrong func(C) *Violation // what did not go as the model says
	asked func(C) string     // what it asked, in one sentence
	whole func(C) bool       // it was held to its end
}

// walked judges conversations that were made up: those that went wrong, the smallest first,
// then the adapter's own fault, then whether they are enough.
func walked[C any](talk *script.Talk, all []C, min int, w walker[C]) Finding {
	for _, c := range slices.Backward(all) {
		if v := w.wrong(c); v != nil {
			return Finding{Violations: []Violation{*v}}
		}
	}
	switch {
	case talk != nil && talk.Fault != "":
		v := brokenProtocol(talk)
		if n := len(all); n > 0 {
			if asked := w.asked(all[n-1]); asked != "" {
				v.Observed += "; it was asked, " + asked
			}
		}
		return Finding{Violations: []Violation{v}}
	case len(all) < min:
		return Finding{Inconclusive: fmt.Sprintf("only %d of %d conversations were held", len(all), min)}
	}
	for i, c := range all {
		if !w.whole(c) {
			return Finding{Inconclusive: fmt.Sprintf("conversation %d was not held to its end", i+1)}
		}
	}
	return Finding{}
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

// told is what a script asks, in one sentence; "" of none.
func told(s *script.Script) string {
	if s == nil {
		return ""
	}
	return sentence(s.Config, s.Steps)
}

// sentence says in one what was asked.
func sentence[S fmt.Stringer](config fmt.Stringer, steps []S) string {
	var b strings.Builder
	fmt.Fprintf(&b, "with %s", config)
	for i, st := range steps {
		fmt.Fprintf(&b, ", (%d) %s", i+1, st)
	}
	return b.String()
}
