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

// Difference is a step that went as it may not.
type Difference struct {
	At                 int // which of the steps that were asked together
	Expected, Observed string
	Nearest            Way             // of those in which it may go, the one most like it
	Woken              []script.Answer // of operations that waited, by the steps before it in its batch
}

// path is a way through several steps.
type path struct {
	state state
	left  []script.Answer // of operations that waited, which no step has accounted for yet
}

// Follow takes steps as they went that were asked together: one, or a batch. Answers to
// what had waited are taken for those of whichever step may have brought them. After a
// difference the model is of no use.
func (m *Model) Follow(steps []*script.Step, turns []script.Turn) *Difference {
	begin := path{}
	for i, turn := range turns {
		for _, a := range turn.Answers {
			if a.Name != steps[i].Name {
				begin.left = append(begin.left, a)
			}
		}
	}
	var paths []path
	for _, s := range m.states {
		paths = append(paths, path{s, begin.left})
	}
	for i, st := range steps {
		turn, last := turns[i], i == len(steps)-1
		var ways []Way
		var next []path
		seen := map[string]bool{}
		for _, p := range paths {
			for _, w := range p.state.step(st) {
				ways = append(ways, w.named())
				left, ok := w.takes(st.Name, turn, p.left)
				if !ok || last && (len(left) > 0 || !w.leaves(turn)) {
					continue
				}
				if d := w.next.digest() + fmt.Sprint("|", names(left)); !seen[d] {
					seen[d] = true
					next = append(next, path{w.next, left})
				}
			}
		}
		if len(ways) == 0 {
			return &Difference{At: i, Expected: "a step that can be asked", Observed: "one that refers to nothing"}
		}
		if len(next) == 0 {
			slices.SortStableFunc(ways, func(a, b Way) int { return b.like(turn) - a.like(turn) })
			left := paths[0].left
			turn.Answers = append(own(st.Name, turn), left...)
			return &Difference{At: i, Expected: expected(st, ways), Observed: observed(st, turn), Nearest: ways[0], Woken: without(begin.left, left)}
		}
		paths = next
	}
	m.states = nil
	for _, p := range paths {
		m.states = append(m.states, p.state)
	}
	return nil
}

// named says in the way who waits after it.
func (w Way) named() Way {
	w.Waiting = nil
	for _, x := range w.next.waiting {
		w.Waiting = append(w.Waiting, x.name)
	}
	return w
}

// takes says whether the answers to a step are those of this way, and which of the
// others are then left.
func (w Way) takes(name string, turn script.Turn, others []script.Answer) (left []script.Answer, ok bool) {
	mine := own(name, turn)
	left = slices.Clone(others)
	for _, want := range w.Wants {
		from := &left
		if want.Name == name {
			from = &mine
		}
		i := slices.IndexFunc(*from, func(a script.Answer) bool { return a.Name == want.Name && meets(want, a) })
		if i < 0 {
			return nil, false
		}
		*from = slices.Delete(*from, i, i+1)
	}
	return left, len(mine) == 0
}

// leaves says whether those wait after this way who did after the turn.
func (w Way) leaves(turn script.Turn) bool {
	return len(w.next.waiting) == len(turn.Waiting) &&
		!slices.ContainsFunc(w.next.waiting, func(x waiter) bool { return !slices.Contains(turn.Waiting, x.name) })
}

func own(name string, turn script.Turn) []script.Answer {
	return slices.DeleteFunc(slices.Clone(turn.Answers), func(a script.Answer) bool { return a.Name != name })
}

func meets(w script.Want, a script.Answer) bool {
	return slices.ContainsFunc(w.AnyOf, func(o script.Outcome) bool { return o.Meets(a.Outcome) })
}

func names(all []script.Answer) (names []string) {
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// without are the answers that are not among some.
func without(all, some []script.Answer) []script.Answer {
	return slices.DeleteFunc(slices.Clone(all), func(a script.Answer) bool { return slices.Contains(names(some), a.Name) })
}

// like is how many operations went this way.
func (w Way) like(turn script.Turn) (n int) {
	for _, a := range turn.Answers {
		i := slices.IndexFunc(w.Wants, func(x script.Want) bool { return x.Name == a.Name })
		if i >= 0 && meets(w.Wants[i], a) {
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
