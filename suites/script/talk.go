package script

import (
	"fmt"
	"strings"
	"time"
)

// Talk is a conversation as it went: the evidence beside its script.
type Talk struct {
	Adapter string   `json:"adapter"` // name and version, as it says
	Claims  []string `json:"claims"`
	Turns   []Turn   `json:"turns"` // one for each step, in order; fewer if it was cut off
	// Fault is what the adapter did against the protocol, with the offending line, or
	// would not do at all; nothing was asked after it.
	Fault string `json:"fault,omitempty"`
	Lines []Line `json:"lines"`
}

// Held is one of many conversations that are made up as they go.
type Held struct {
	Script *Script `json:"script"` // what was asked; its steps want nothing in particular
	Turns  []Turn  `json:"turns"`  // one for each step, in order; fewer if it was cut off
	// Replay, of one that went wrong, is the conversation with the end that it should have
	// had, in lines that `routeproof adapter check --conversation` plays to an adapter.
	Replay []string `json:"replay,omitempty"`
}

// Turn is one step as it went.
type Turn struct {
	Step    string   `json:"step"`
	Left    string   `json:"left,omitempty"`   // why it was not asked
	Answers []Answer `json:"answers"`          // what was answered since the step before, in the order in which it was asked
	Waiting []string `json:"waiting"`          // what was not
	Unable  bool     `json:"unable,omitempty"` // left out for want of a claim, or because something else was so
}

// Answer is what an operation was answered.
type Answer struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text,omitempty"` // of an error
}

// Line is one line of the protocol.
type Line struct {
	At   time.Duration `json:"at"`
	Sent bool          `json:"sent"` // by us
	Text string        `json:"text"`
}

// String says what is asked.
func (st *Step) String() string {
	var b strings.Builder
	b.WriteString(st.Op)
	switch {
	case st.Ask != nil && st.Op == Acquire:
		fmt.Fprintf(&b, " %s of %s", st.Name, st.Ask)
	case st.Ask != nil:
		fmt.Fprintf(&b, " %s", st.Ask)
	case st.Ref != "":
		fmt.Fprintf(&b, " %s", st.Ref)
	case st.By != 0:
		fmt.Fprintf(&b, " by %v", st.By)
	case st.Op == SetWorkers && len(st.Workers) == 0:
		b.WriteString(" to nobody")
	case st.Op == SetWorkers:
		for i, w := range st.Workers {
			fmt.Fprintf(&b, "%s %s", comma(i), w.ID)
			if w.Ranks > 1 {
				fmt.Fprintf(&b, " (%d ranks)", w.Ranks)
			}
		}
	case st.Config != nil && !strings.HasPrefix(st.Name, st.Op+" #") && st.Name != "":
		fmt.Fprintf(&b, " %s with %s", st.Name, *st.Config)
	case st.Config != nil:
		fmt.Fprintf(&b, " with %s", *st.Config)
	}
	if st.At != nil {
		fmt.Fprintf(&b, " at %s", st.At)
	}
	switch {
	case st.Op == Close:
		fmt.Fprintf(&b, " %s", st.Instance)
	case st.Instance != "":
		fmt.Fprintf(&b, " in instance %s", st.Instance)
	}
	if st.Batch != 0 {
		fmt.Fprintf(&b, " (batch %d)", st.Batch)
	}
	for _, w := range st.When {
		fmt.Fprintf(&b, ", if %s is %s", w.Name, w.Is)
	}
	return b.String()
}

// Sentence says what is asked and what must come of it.
func (st *Step) Sentence() string {
	var all []string
	for _, w := range st.Wants {
		who := w.Name
		if who == st.Name {
			who = "it"
		}
		words := make([]string, len(w.AnyOf))
		for i, o := range w.AnyOf {
			words[i] = o.String()
		}
		switch {
		case len(words) == 0:
			all = append(all, who+" waits")
		case len(words) == 1 && w.AnyOf[0].State == StateDone && who == "it":
		default:
			all = append(all, who+": "+strings.Join(words, " or "))
		}
	}
	if p := st.Passes; p != nil {
		all = append(all, p.String())
	}
	if len(all) == 0 {
		return st.String()
	}
	return st.String() + " -> " + strings.Join(all, "; ")
}

func (p *Pass) String() string {
	s := fmt.Sprintf("one of %s: %s", strings.Join(p.Among, ", "), p.Outcome)
	if p.Early {
		s += ", now or at a later step"
	}
	return s
}

func (c Config) String() string {
	s := fmt.Sprintf("idleTTL %v", c.IdleTTL)
	if c.InitWait != 0 {
		s += fmt.Sprintf(", initWait %v", c.InitWait)
	}
	if c.Capacity != 0 {
		s += fmt.Sprintf(", capacity %d", c.Capacity)
	}
	if c.AtCapacity != "" {
		s += ", " + c.AtCapacity
	}
	return s
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func (a *Ask) String() string {
	id := a.Session
	if len(id) > 24 {
		id = fmt.Sprintf("%.16s...%s (%d bytes)", id, id[len(id)-2:], len(id))
	}
	b := fmt.Sprintf("session %q", id)
	for _, x := range []struct{ what, is string }{{"model", a.Model}, {"tenant", a.Tenant}, {"phase", a.Phase}} {
		if x.is != "" {
			b += fmt.Sprintf(", %s %s", x.what, x.is)
		}
	}
	if a.Pin != nil {
		b += ", pinned to " + a.Pin.String()
	}
	return b
}
