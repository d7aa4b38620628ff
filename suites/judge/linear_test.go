package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
)

// callers tells of operations, one after another.
func callers(ops ...linear.Op) func(*story) {
	return func(h *story) {
		h.Talk = &script.Talk{}
		for i, o := range ops {
			o.Call, o.Return = int64(10*i), int64(10*i+5)
			h.Ops = append(h.Ops, o)
		}
	}
}

func TestLinearWantsAnOrderThatExplainsAll(t *testing.T) {
	first := linear.Op{Kind: linear.Acquire, Session: "s", Lease: "a", Result: linear.Initializer}
	commit := linear.Op{Kind: linear.Commit, Session: "s", Lease: "a", Target: "w1", Result: linear.OK}
	next := linear.Op{Kind: linear.Acquire, Session: "s", Lease: "b", Target: "w1", Result: linear.Bound}
	elsewhere := next
	elsewhere.Target = "w2"
	left := linear.Op{Kind: linear.Acquire, Session: "s", Result: linear.Cancelled}
	failed := left
	failed.Result = "internal"
	other := linear.Op{Kind: linear.Acquire, Session: "t", Lease: "c", Result: linear.Bound, Target: "w1"}
	try(t, judge.Linear([]string{"w1", "w2"}, 3),
		trial{"a right one", callers(first, commit, next), ""},
		trial{"a turn elsewhere", callers(first, commit, elsewhere), violated + "operations on session s"},
		trial{"a wrong one among right ones", callers(first, commit, next, other), violated + "operations on session t"},
		trial{"a wrong one that is thin", callers(other), violated + "session t"},
		trial{"an acquire cancelled for nobody", callers(first, commit, left), violated + "session s"},
		trial{"an error that is never right", callers(first, commit, failed), violated + "internal"},
		trial{"an adapter's fault", func(h *story) { callers(first, commit, next)(h); h.Talk.Fault = "not JSON: xyz" }, violated + "not JSON: xyz"},
		trial{"a few operations", callers(first, commit), doubt + "2 of 3"},
		trial{"no operation", callers(), doubt + "0 of 3"},
		trial{"workers alone", callers(linear.Op{Kind: linear.Workers, Live: []string{"w1"}, Result: linear.OK}), doubt + "0 of 3"},
		trial{"no conversation", nil, doubt + "0 of 3"},
	)
}
