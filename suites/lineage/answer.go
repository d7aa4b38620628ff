package lineage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/script"
)

// Answer is an answer, or what one may be.
type Answer struct {
	State     string     `json:"state"`
	Kind      string     `json:"kind,omitempty"`  // of an error; in a want, empty is any that refuses a store
	Block     string     `json:"block,omitempty"` // of an error; in a want, empty is any
	Count     int        `json:"count,omitempty"` // of Counted: frontiers that were lost; in a want, -1 is any
	Frontiers []Frontier `json:"frontiers,omitempty"`
	Chains    [][]string `json:"chains,omitempty"`
	Size      *Sizes     `json:"size,omitempty"`
	Dump      *State     `json:"dump,omitempty"`
	Text      string     `json:"text,omitempty"` // an error's message
}

// States of answers.
const (
	StateDone      = "done"
	StateChanged   = "changed"
	StateUnchanged = "unchanged"
	StateDiscarded = "discarded"
	StateTaken     = "taken"
	StateCounted   = "counted"
	StateFrontiers = "frontiers"
	StateChains    = "chains"
	StateSize      = "size"
	StateDump      = "dump"
	StateError     = "error"
)

// Error kinds.
const (
	CyclicParent      = "cyclic_parent"
	ConflictingParent = "conflicting_parent"
	UnknownParent     = "unknown_parent"
	UnknownAnchor     = "unknown_anchor"
	InvalidArgument   = "invalid_argument"
	Unavailable       = "unavailable"
)

// Frontier is the deepest block of one of a session's chains on a rank.
type Frontier struct {
	At    script.Where `json:"at"`
	Block string       `json:"block"`
}

// Sizes is how much an index holds.
type Sizes struct {
	Blocks    int  `json:"blocks"`
	Sessions  int  `json:"sessions"`
	Discarded *int `json:"discarded,omitempty"` // nil where nobody tells, or, in a want, asks
}

// State is everything that an index holds.
type State struct {
	Blocks   []Known       `json:"blocks"`
	Sessions []HeldSession `json:"sessions"` // the least recently used first
}

// Known is a known block.
type Known struct {
	Block   string `json:"block"`
	Parent  string `json:"parent,omitempty"`
	Phantom bool   `json:"phantom,omitempty"`
}

// HeldSession is a session that has something.
type HeldSession struct {
	Session   string     `json:"session"`
	Frontiers []Frontier `json:"frontiers"`
}

// Answers without particulars.
var (
	Done      = Answer{State: StateDone}
	Changed   = Answer{State: StateChanged}
	Unchanged = Answer{State: StateUnchanged}
	Discarded = Answer{State: StateDiscarded}
	Taken     = Answer{State: StateTaken}
	Refused   = Answer{State: StateError} // as a store may be, whatever the reason
	AnyCount  = Answer{State: StateCounted, Count: -1}
)

// Fails is an error of a kind that names no block, or whatever block.
func Fails(kind string) Answer { return Answer{State: StateError, Kind: kind} }

// FailsAt is an error that names a block.
func FailsAt(kind, block string) Answer {
	return Answer{State: StateError, Kind: kind, Block: block}
}

// Counts is how many frontiers were lost.
func Counts(n int) Answer { return Answer{State: StateCounted, Count: n} }

// Reaches are frontiers, in any order.
func Reaches(all ...Frontier) Answer { return Answer{State: StateFrontiers, Frontiers: all} }

// F is a frontier.
func F(at script.Where, block string) Frontier { return Frontier{at, block} }

// Chains are lineages, in any order.
func Chains(all ...[]string) Answer { return Answer{State: StateChains, Chains: all} }

// Sized is how much is held.
func Sized(blocks, sessions int) Answer {
	return Answer{State: StateSize, Size: &Sizes{Blocks: blocks, Sessions: sessions}}
}

// Discarding adds how much was discarded.
func (a Answer) Discarding(n int) Answer {
	size := *a.Size
	size.Discarded = &n
	a.Size = &size
	return a
}

// Meets says whether an answer is what the want allows.
func (a Answer) Meets(answer Answer) bool {
	switch {
	case a.State != answer.State:
		return false
	case a.State == StateError && a.Kind == "":
		return slices.Contains([]string{CyclicParent, ConflictingParent, UnknownParent}, answer.Kind)
	case a.State == StateError:
		return a.Kind == answer.Kind && (a.Block == "" || a.Block == answer.Block)
	case a.State == StateCounted:
		return a.Count == -1 || a.Count == answer.Count
	case a.State == StateSize && a.Size.Discarded == nil:
		return answer.Size.Blocks == a.Size.Blocks && answer.Size.Sessions == a.Size.Sessions
	}
	return a.String() == answer.String()
}

// String says it in words, in one order only: answers that mean the same read alike.
func (a Answer) String() string {
	switch a.State {
	case StateError:
		s := "an error of kind " + a.Kind
		if a.Kind == "" {
			s = "a refusal"
		}
		if a.Block != "" {
			s += " at block " + Short(a.Block)
		}
		return s
	case StateCounted:
		if a.Count == -1 {
			return "a count"
		}
		return fmt.Sprintf("%d frontiers lost", a.Count)
	case StateFrontiers:
		return "frontiers " + list(a.Frontiers)
	case StateChains:
		all := make([]string, len(a.Chains))
		for i, c := range a.Chains {
			all[i] = chain(c)
		}
		slices.Sort(all)
		return "chains {" + strings.Join(all, ", ") + "}"
	case StateSize:
		s := fmt.Sprintf("%d blocks and %d sessions", a.Size.Blocks, a.Size.Sessions)
		if a.Size.Discarded != nil {
			s += fmt.Sprintf(", %d discarded", *a.Size.Discarded)
		}
		return s
	case StateDump:
		return a.Dump.String()
	case StateUnchanged:
		return "no change"
	}
	return a.State
}

func (s *State) String() string {
	blocks := make([]string, len(s.Blocks))
	for i, b := range s.Blocks {
		blocks[i] = Short(b.Block)
		if b.Parent != "" {
			blocks[i] = Short(b.Parent) + ">" + blocks[i]
		}
		if b.Phantom {
			blocks[i] += " (phantom)"
		}
	}
	slices.Sort(blocks)
	sessions := make([]string, len(s.Sessions))
	for i, x := range s.Sessions {
		sessions[i] = fmt.Sprintf("%s %s", ID(x.Session), list(x.Frontiers))
	}
	return fmt.Sprintf("blocks {%s}, sessions [%s]", strings.Join(blocks, ", "), strings.Join(sessions, ", "))
}

func (f Frontier) String() string { return f.At.String() + " " + Short(f.Block) }

func list(all []Frontier) string {
	words := make([]string, len(all))
	for i, f := range all {
		words[i] = f.String()
	}
	slices.Sort(words)
	return "{" + strings.Join(words, ", ") + "}"
}

// Short is a block without its leading zeros, for messages.
func Short(block string) string {
	if s := strings.TrimLeft(block, "0"); s != "" {
		return s
	}
	return "0"
}

func chain(blocks []string) string {
	words := make([]string, len(blocks))
	for i, b := range blocks {
		words[i] = Short(b)
	}
	return strings.Join(words, ">")
}

// ID is a session id, shortened for messages.
func ID(id string) string {
	if len(id) > 24 {
		return fmt.Sprintf("%q...%q (%d bytes)", id[:8], id[len(id)-2:], len(id))
	}
	return fmt.Sprintf("%q", id)
}
