package script

import "fmt"

// Outcome is an answer, or what one may be.
type Outcome struct {
	State string `json:"state"`           // see below; for an error "error" and its Kind
	Kind  string `json:"kind,omitempty"`  // of an error
	At    *Where `json:"at,omitempty"`    // of Bound; nil wants no particular one
	Sum   *Sum   `json:"count,omitempty"` // of Counted
}

// Sum is what a component holds.
type Sum struct {
	Sessions int `json:"sessions"` // places taken in the table
	Leases   int `json:"leases"`   // in flight on bound sessions
}

// States of answers.
const (
	StateInitializer = "initializer"
	StateBound       = "bound"
	StateUnpinned    = "unpinned" // served without a binding
	StateUnbound     = "unbound"  // a query found no binding
	StateDone        = "done"
	StateCounted     = "counted"
	StateError       = "error"
)

// Error kinds.
const (
	InvalidArgument   = "invalid_argument"
	ResourceExhausted = "resource_exhausted"
	Unavailable       = "unavailable"
	Cancelled         = "cancelled"
	Stale             = "stale"
)

// Outcomes without a particular target.
var (
	Initializes = Outcome{State: StateInitializer}
	BoundAny    = Outcome{State: StateBound}
	Unpinned    = Outcome{State: StateUnpinned}
	Unbound     = Outcome{State: StateUnbound}
	Done        = Outcome{State: StateDone}
)

// Bound is a lease on, or news of, a binding to a target.
func Bound(w Where) Outcome { return Outcome{State: StateBound, At: &w} }

// Fails is an error of a kind.
func Fails(kind string) Outcome { return Outcome{State: StateError, Kind: kind} }

// Holds is a count.
func Holds(sessions, leases int) Outcome {
	return Outcome{State: StateCounted, Sum: &Sum{sessions, leases}}
}

// HoldsSessions is a count of sessions, with whatever leases.
func HoldsSessions(sessions int) Outcome {
	return Outcome{State: StateCounted, Sum: &Sum{sessions, anyLeases}}
}

const anyLeases = -1

// Meets says whether an answer is what o allows.
func (o Outcome) Meets(answer Outcome) bool {
	switch {
	case o.State != answer.State || o.Kind != answer.Kind:
		return false
	case o.Sum != nil && !o.Sum.meets(answer.Sum):
		return false
	case o.At != nil && (answer.At == nil || !o.At.Same(*answer.At)):
		return false
	}
	return true
}

func (s Sum) meets(answer *Sum) bool {
	return answer != nil && s.Sessions == answer.Sessions && (s.Leases == anyLeases || s.Leases == answer.Leases)
}

func (o Outcome) String() string {
	switch {
	case o.State == StateError:
		return "an error of kind " + o.Kind
	case o.State == StateInitializer:
		return "to initialize"
	case o.State == StateBound && o.At != nil:
		return "bound to " + o.At.String()
	case o.State == StateUnbound:
		return "not bound"
	case o.State == StateUnpinned:
		return "served without a binding"
	case o.Sum != nil && o.Sum.Leases == anyLeases:
		return fmt.Sprintf("%d sessions", o.Sum.Sessions)
	case o.Sum != nil:
		return fmt.Sprintf("%d sessions and %d leases", o.Sum.Sessions, o.Sum.Leases)
	}
	return o.State
}
