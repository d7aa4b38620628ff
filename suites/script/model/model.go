// Package model is session affinity as its rules say it, one operation after another:
// decisions 1 to 14, the clauses of suites/spec (AFF, PIN) and suites/target/component.md,
// and nothing of any library. It says how a step of a conversation may go, makes
// conversations at random, and shrinks those that went otherwise.
//
// Where the rules leave a choice (which waiter inherits, which of two equally idle
// bindings is evicted, ...), there are several states that a component may be in; the
// model keeps all that explain what was answered so far.
package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/script"
)

// Model follows one conversation.
type Model struct {
	states []state
}

// New begins with an empty instance.
func New(c script.Config) *Model {
	r := rules{ttl: c.IdleTTL, wait: c.InitWait, capacity: c.Capacity, full: or(c.AtCapacity, "refuse")}
	if r.wait == 0 {
		r.wait = defaultWait
	}
	if r.capacity == 0 {
		r.capacity = defaultCapacity
		return &Model{states: []state{{rules: r}}} // which no conversation fills
	}
	m := &Model{}
	for _, r.tables = range []tables{one, onePerPhase, onePerModelAndPhase} {
		m.states = append(m.states, state{rules: r})
	}
	return m
}

// Way is one way in which a step may go.
type Way struct {
	Wants   []script.Want // what is answered, each one of its outcomes
	Waiting []string      // what is not
	next    state
}

// Ways lists all in which a step may go.
func (m *Model) Ways(st *script.Step) (all []Way) {
	for _, s := range m.states {
		all = append(all, s.step(st)...)
	}
	for i := range all {
		for _, w := range all[i].next.waiting {
			all[i].Waiting = append(all[i].Waiting, w.name)
		}
	}
	return all
}

// Difference is a step that went as it may not.
type Difference struct {
	Expected, Observed string
	Nearest            Way // of those in which it may go, the one most like it
}

// Follow takes a step as it went. After a difference the model is of no use.
func (m *Model) Follow(st *script.Step, turn script.Turn) *Difference {
	ways := m.Ways(st)
	var next []state
	seen := map[string]bool{}
	for _, w := range ways {
		if !w.is(turn) {
			continue
		}
		if d := w.next.digest(); !seen[d] {
			seen[d] = true
			next = append(next, w.next)
		}
	}
	if len(ways) == 0 {
		return &Difference{Expected: "a step that can be asked", Observed: "one that refers to nothing"}
	}
	if len(next) == 0 {
		slices.SortStableFunc(ways, func(a, b Way) int { return b.like(turn) - a.like(turn) })
		return &Difference{Expected: expected(st, ways), Observed: observed(st, turn), Nearest: ways[0]}
	}
	m.states = next
	return nil
}

// is says whether a turn went this way.
func (w Way) is(turn script.Turn) bool {
	n := len(turn.Answers) + len(turn.Waiting)
	return n == len(w.Wants)+len(w.Waiting) && w.like(turn) == n
}

// like is how many operations went this way.
func (w Way) like(turn script.Turn) (n int) {
	for _, a := range turn.Answers {
		i := slices.IndexFunc(w.Wants, func(x script.Want) bool { return x.Name == a.Name })
		if i >= 0 && slices.ContainsFunc(w.Wants[i].AnyOf, func(o script.Outcome) bool { return o.Meets(a.Outcome) }) {
			n++
		}
	}
	for _, name := range turn.Waiting {
		if slices.Contains(w.Waiting, name) {
			n++
		}
	}
	return n
}

// shown is how many ways a difference lists.
const shown = 4

func expected(st *script.Step, ways []Way) string {
	var all []string
	for _, w := range ways {
		var parts []string
		for _, x := range w.Wants {
			parts = append(parts, st.Subject(x.Name)+" "+script.AnyOf(x.AnyOf))
		}
		if slices.Contains(w.Waiting, st.Name) {
			parts = append(parts, st.Name+" to wait")
		}
		if s := strings.Join(parts, ", "); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if len(all) > shown {
		all = append(all[:shown], fmt.Sprintf("in %d ways more", len(all)-shown))
	}
	return strings.Join(all, "; or ")
}

func observed(st *script.Step, turn script.Turn) string {
	var parts []string
	for _, a := range turn.Answers {
		s := st.Subject(a.Name) + " was answered: " + a.Outcome.String()
		if a.Text != "" {
			s += fmt.Sprintf(" (%.160s)", a.Text)
		}
		parts = append(parts, s)
	}
	if len(turn.Waiting) > 0 {
		parts = append(parts, strings.Join(turn.Waiting, ", ")+" waiting")
	}
	return strings.Join(parts, "; ")
}
