// Package linear holds the sequential model of session affinity, and checks whether
// what concurrent callers saw can be told as one order of operations on it
// (linearizability, with porcupine). It reads records and touches nothing else.
//
// Time stands still in these histories: no binding lapses, no wait grows too long.
package linear

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind is what an operation does.
type Kind string

// Kinds of operations. Workers declares the live workers for every session at once.
const (
	Acquire    Kind = "acquire"
	Commit     Kind = "commit"
	Release    Kind = "release"
	Invalidate Kind = "invalidate"
	Query      Kind = "query"
	Workers    Kind = "workers"
)

// Result is how it was answered.
type Result string

// Results. Refused is an argument error: a pin that contradicts. Any other word is an
// error that is never right.
const (
	Initializer Result = "initializer"
	Bound       Result = "bound"
	Unbound     Result = "unbound"
	OK          Result = "ok"
	Stale       Result = "stale"
	Cancelled   Result = "cancelled"
	Refused     Result = "refused"
)

// Op is one operation as a caller saw it.
type Op struct {
	Caller  int      `json:"caller"`
	Kind    Kind     `json:"kind"`
	Session string   `json:"session,omitempty"` // of all kinds but Workers
	Lease   string   `json:"lease,omitempty"`   // given, or got
	Pin     string   `json:"pin,omitempty"`     // worker, of Acquire and Query
	Target  string   `json:"target,omitempty"`  // worker: given to Commit, got from Acquire and Query
	Live    []string `json:"live,omitempty"`    // of Workers
	Leaves  bool     `json:"leaves,omitempty"`  // the caller of an Acquire left before it had its answer
	Result  Result   `json:"result"`
	Call    int64    `json:"call"`   // nanoseconds
	Return  int64    `json:"return"` // not before Call
}

func (o Op) String() string {
	s := fmt.Sprintf("caller %d: %s", o.Caller, o.Kind)
	for _, part := range []struct{ what, is string }{{"", o.Session}, {"lease ", o.Lease}, {"pin ", o.Pin}, {"worker ", o.Target}, {"live ", strings.Join(o.Live, ",")}} {
		if part.is != "" {
			s += " " + part.what + part.is
		}
	}
	return s + " -> " + string(o.Result)
}

// state of one session: what a sequential coordinator would hold.
type state struct {
	bound  bool
	target string // while bound
	holder string // the initializer's lease, else empty
	leases string // of the binding, sorted, each followed by a comma
	live   string // workers, each between commas
	// shaky, while bound: the binding may have gone. Who asked while its worker was dead
	// became the initializer that replaces it, and was cancelled before anybody saw that;
	// or did not, and when the worker is back the binding is as good as ever.
	shaky bool
}

func (s state) alive(worker string) bool { return strings.Contains(s.live, ","+worker+",") }

func (s state) has(lease string) bool {
	return strings.HasPrefix(s.leases, lease+",") || strings.Contains(s.leases, ","+lease+",")
}

func (s state) with(lease string) state {
	all := append(strings.Split(strings.TrimSuffix(s.leases, ","), ","), lease)
	if s.leases == "" {
		all = []string{lease}
	}
	slices.Sort(all)
	s.leases = strings.Join(all, ",") + ","
	return s
}

func (s state) without(lease string) state {
	all := slices.DeleteFunc(strings.SplitAfter(s.leases, ","), func(l string) bool { return l == "" || l == lease+"," })
	s.leases = strings.Join(all, "")
	return s
}

func (s state) absent() state { return state{live: s.live} }

// firm is a state in which the binding has been seen.
func (s state) firm() state {
	s.shaky = false
	return s
}

// step says whether the answer is right in the state, and what the state is then.
func step(s state, o Op) (bool, state) {
	switch o.Kind {
	case Workers:
		s.live = "," + strings.Join(o.Live, ",") + ","
		return o.Result == OK, s
	case Acquire:
		return acquire(s, o)
	case Query:
		return query(s, o)
	case Commit:
		switch {
		case s.holder == o.Lease:
			return o.Result == OK, state{bound: true, target: o.Target, leases: o.Lease + ",", live: s.live}
		case s.bound && s.has(o.Lease):
			if o.Result == OK && s.target == o.Target || o.Result == Refused && s.target != o.Target {
				return true, s
			}
			if !s.shaky {
				return false, s
			}
			s = s.absent()
		}
		// A lease whose binding is gone may still check what it knew.
		return o.Result == OK || o.Result == Stale || o.Result == Refused, s
	case Release:
		switch {
		case s.holder == o.Lease:
			return o.Result == OK, s.absent()
		case s.bound && s.has(o.Lease) && o.Result == OK:
			return true, s.without(o.Lease)
		case s.bound && s.has(o.Lease) && !s.shaky:
			return false, s
		case s.bound && s.has(o.Lease):
			s = s.absent()
		}
		return over(o.Result), s
	case Invalidate:
		if s.holder == o.Lease || s.bound && s.has(o.Lease) {
			return o.Result == OK || s.shaky && over(o.Result), s.absent()
		}
		return over(o.Result), s
	}
	return false, s
}

// over says whether the end of a lease that had ended before is answered so.
func over(r Result) bool { return r == OK || r == Stale }

func acquire(s state, o Op) (bool, state) {
	dead := s.bound && !s.alive(s.target)
	switch o.Result {
	case Cancelled:
		s.shaky = s.shaky || dead
		return o.Leaves, s
	case Initializer:
		free := s.holder == "" && (!s.bound || dead || s.shaky)
		return free, state{holder: o.Lease, live: s.live}
	case Bound:
		return s.bound && !dead && s.target == o.Target && (o.Pin == "" || o.Pin == s.target), s.with(o.Lease).firm()
	case Refused:
		return s.bound && !dead && o.Pin != "" && o.Pin != s.target, s.firm()
	}
	return false, s
}

func query(s state, o Op) (bool, state) {
	bound := s.bound && s.alive(s.target)
	switch o.Result {
	case Bound:
		return bound && s.target == o.Target && (o.Pin == "" || o.Pin == s.target), s.firm()
	case Refused:
		return bound && o.Pin != "" && o.Pin != s.target, s.firm()
	case Unbound:
		if bound && s.shaky {
			return true, s.absent()
		}
		return !bound, s
	}
	return false, s
}

// model is the model of one session, in which the given workers live at first.
func model(live []string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{live: "," + strings.Join(live, ",") + ","} },
		Step: func(s, in, _ any) (bool, any) {
			ok, next := step(s.(state), in.(Op))
			return ok, next
		},
		DescribeOperation: func(in, _ any) string { return in.(Op).String() },
	}
}

// Verdict is what a check came to.
type Verdict struct {
	Checked int    // operations in sessions whose history is right
	Bad     string // a session whose history no order explains; empty if there is none
	Around  []Op   // its operations, in the order of their calls
	Until   []Op   // the most of them that an order explains, in that order
	Then    []Op   // what no order explains after those: the first to have returned
	Unknown int    // sessions that the time did not suffice for
}

// Check checks each session's history by itself, in which the given workers live at
// first. limit bounds the check of one session.
func Check(ops []Op, live []string, limit time.Duration) Verdict {
	var common []Op
	by := map[string][]Op{}
	var order []string
	for _, o := range ops {
		switch {
		case o.Kind == Workers:
			common = append(common, o)
		case by[o.Session] == nil:
			order = append(order, o.Session)
			fallthrough
		default:
			by[o.Session] = append(by[o.Session], o)
		}
	}
	slices.Sort(order)
	var v Verdict
	for _, s := range order {
		mine := slices.Concat(by[s], common)
		slices.SortStableFunc(mine, func(a, b Op) int { return int(a.Call - b.Call) })
		history := make([]porcupine.Operation, len(mine))
		for i, o := range mine {
			history[i] = porcupine.Operation{ClientId: o.Caller, Input: o, Call: o.Call, Return: o.Return}
		}
		result, how := porcupine.CheckOperationsVerbose(model(live), history, limit)
		switch result {
		case porcupine.Ok:
			v.Checked += len(mine)
		case porcupine.Unknown:
			v.Unknown++
		default:
			if v.Bad == "" {
				v.Bad, v.Around = s, mine
				v.Until, v.Then = explained(mine, how)
			}
		}
	}
	return v
}

// explained splits a session's operations: into those of the longest order that
// explains what it holds, and, of the others, the first that returned.
func explained(ops []Op, how porcupine.LinearizationInfo) (until, then []Op) {
	var longest []porcupine.Operation
	for _, part := range how.PartialLinearizationsOperations() {
		for _, order := range part {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	in := map[moment]int{}
	for _, o := range longest {
		until = append(until, o.Input.(Op))
		in[key(o.Input.(Op))]++
	}
	for _, o := range ops {
		if k := key(o); in[k] > 0 {
			in[k]--
		} else {
			then = append(then, o)
		}
	}
	slices.SortStableFunc(then, func(a, b Op) int { return int(a.Return - b.Return) })
	return until, then[:min(len(then), 3)]
}

// moment tells operations apart.
type moment struct {
	caller       int
	kind         Kind
	call, finish int64
}

func key(o Op) moment { return moment{o.Caller, o.Kind, o.Call, o.Return} }
