package lineage

import (
	"fmt"
	"strings"
)

// Held is one conversation as it went: the evidence.
type Held struct {
	Script *Script `json:"script"` // what was asked
	Turns  []Turn  `json:"turns"`  // one for each step, in order; fewer if it was cut off
	// Replay, of one that was made up and went wrong, is the conversation with the end that
	// it should have had, in lines that `routeproof adapter check --conversation` plays.
	Replay []string `json:"replay,omitempty"`
}

// Turn is one step as it went.
type Turn struct {
	Left   string `json:"left,omitempty"`   // why it was not asked
	Unable bool   `json:"unable,omitempty"` // left out for want of a claim
	Answer Answer `json:"answer"`
}

// String says what is asked.
func (st *Step) String() string {
	var b strings.Builder
	b.WriteString(st.Op)
	write := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch st.Op {
	case Store, StoreAdmit, Match, MatchAdmit, Frontiers, Lineages:
		write("%s", ID(st.Session))
	}
	if st.At != nil {
		write("on %s", st.At)
	}
	if st.Incarnation != "" {
		write("as %s", st.Incarnation)
	}
	if st.Parent != "" {
		write("under %s", Short(st.Parent))
	}
	switch {
	case len(st.Blocks) > 0:
		write("[%s]", strings.ReplaceAll(chain(st.Blocks), ">", " "))
	case st.Op == Store, st.Op == StoreAdmit, st.Op == Remove, st.Op == PhysicalSet:
		write("[]")
	}
	if st.Block != "" {
		write("%s", Short(st.Block))
	}
	if st.Name != "" && st.Op != Dump {
		write("(%s)", st.Name)
	}
	if st.Ref != "" {
		write("%s", st.Ref)
	}
	if st.Op == Fill {
		write("for %d sessions from %d", st.Times, st.From)
	}
	if st.Op == Advance {
		write("by %v", st.By)
	}
	if st.Op == PhysicalFail {
		write("barrier %t, lower tier %t", st.Barrier, st.LowerTier)
	}
	if st.Config != nil {
		write("with %s", *st.Config)
	}
	return b.String()
}

// Sentence says what is asked and what must come of it.
func (st *Step) Sentence() string {
	switch {
	case st.Same != "":
		return st.String() + " -> as before"
	case len(st.Wants) == 0 || len(st.Wants) == 1 && (st.Wants[0].State == StateDone || st.Wants[0].State == StateTaken):
		return st.String()
	}
	return st.String() + " -> " + AnyOf(st.Wants)
}

// AnyOf says in words what may be answered.
func AnyOf(wants []Answer) string {
	words := make([]string, len(wants))
	for i, w := range wants {
		words[i] = w.String()
	}
	return strings.Join(words, " or ")
}
