// Package pinning holds the cases of areas PIN and PDS: explicit pins, data-parallel
// ranks, and the two phases of a request. Each method of Cases is one case.
package pinning

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// Cases are the cases of areas PIN and PDS.
type Cases struct{}

const ttl = 10 * time.Second

var (
	w1, w2  = script.At("w1"), script.At("w2")
	w1r0    = script.On("w1", 0)
	w1r1    = script.On("w1", 1)
	w2r0    = script.On("w2", 0)
	ranked  = []script.Worker{{ID: "w1", Ranks: 2}, {ID: "w2", Ranks: 2}, {ID: "w3", Ranks: 2}}
	invalid = script.Fails(script.InvalidArgument)
	session = script.S("s")
)

func talk() *script.Script { return script.New(script.Config{IdleTTL: ttl}, ranked...) }

func bind(s *script.Script, at script.Where) {
	s.Acquire("bind", session).Is(script.Initializes)
	s.Commit("bind", at).Is(script.Done)
	s.Release("bind").Is(script.Done)
}

// PIN001Component: a first turn with a pin.
func (Cases) PIN001Component() bench.Case {
	s := talk()
	s.Acquire("a", session.Pinned(w2)).Is(script.Initializes)
	s.Acquire("b", session).Waits()
	s.Commit("a", w2).Is(script.Done).And("b", script.Bound(w2))
	s.Acquire("c", session.Pinned(w2)).Is(script.Bound(w2))
	s.Query(session).Is(script.Bound(w2))
	return bench.Scripted("PIN-001/component", "a pinned first turn, an unpinned one that waits, and a turn with the same pin", "all are bound to the pin's worker", s)
}

// PIN002Conflict: a pin against a living binding.
func (Cases) PIN002Conflict() bench.Case {
	s := talk()
	bind(s, w1)
	s.Acquire("a", session.Pinned(w2)).Is(invalid)
	s.Query(session.Pinned(w2)).Is(invalid)
	s.Query(session).Is(script.Bound(w1))
	s.Count().Is(script.Holds(1, 0))
	s.Advance(ttl - time.Second)
	s.Acquire("b", session.Pinned(w2)).Is(invalid)
	s.Advance(time.Second)
	s.Query(session).Is(script.Unbound) // what is refused refreshes nothing
	s.Acquire("c", session.Pinned(w2)).Is(script.Initializes)
	s.Commit("c", w2).Is(script.Done)
	return bench.Scripted("PIN-002/component", "a pin to another worker than the bound one: a turn, a question, a turn shortly before the idle time has passed, one after",
		"while the binding lives each is refused as invalid and changes nothing; afterwards the pin binds", s)
}

// PIN002Held: the same while a request is in flight.
func (Cases) PIN002Held() bench.Case {
	s := talk()
	s.Acquire("a", session).Is(script.Initializes)
	s.Commit("a", w1).Is(script.Done)
	s.Acquire("b", session.Pinned(w2)).Is(invalid)
	s.Count().Is(script.Holds(1, 1))
	s.Release("a").Is(script.Done)
	s.Count().Is(script.Holds(1, 0))
	return bench.Scripted("PIN-002/in-flight", "a pin to another worker while a request of the session is in flight", "it is refused and holds nothing", s)
}

// PIN003Waiter: a pin that waits.
func (Cases) PIN003Waiter() bench.Case {
	s := talk()
	s.Acquire("a", session).Is(script.Initializes)
	s.Acquire("b", session.Pinned(w2)).Waits()
	s.Acquire("c", session.Pinned(w1)).Waits()
	s.Acquire("d", session).Waits()
	s.Commit("a", w1).Is(script.Done).And("b", invalid).And("c", script.Bound(w1)).And("d", script.Bound(w1))
	s.Count().Is(script.Holds(1, 3))
	return bench.Scripted("PIN-003/waiters", "an unpinned initializer that commits, with turns waiting that are pinned elsewhere, there, and not at all",
		"the first is refused as invalid, the others are bound, and three leases are held", s)
}

// PIN003Heir: a pinned heir.
func (Cases) PIN003Heir() bench.Case {
	s := talk()
	s.Acquire("a", session.Pinned(w1)).Is(script.Initializes)
	s.Acquire("b", session.Pinned(w2)).Waits()
	s.Release("a").Is(script.Done).And("b", script.Initializes)
	s.Commit("b", w2).Is(script.Done)
	s.Query(session).Is(script.Bound(w2))
	return bench.Scripted("PIN-003/heir", "an initializer pinned to one worker that gives up, and a waiting turn pinned to another", "the heir binds by its own pin", s)
}

// PIN004Fills: the binding knows the rank, the pin does not.
func (Cases) PIN004Fills() bench.Case {
	s := talk()
	bind(s, w1r1)
	s.Acquire("a", session.Pinned(w1)).Is(script.Bound(w1r1))
	s.Acquire("b", session.Pinned(w1r1)).Is(script.Bound(w1r1))
	s.Query(session.Pinned(w1)).Is(script.Bound(w1r1))
	s.Acquire("c", session.Pinned(w1r0)).Is(invalid)
	s.Acquire("d", session.Pinned(w2)).Is(invalid)
	s.Acquire("e", session.Pinned(script.On("w2", 1))).Is(invalid)
	s.Query(session).Is(script.Bound(w1r1))
	s.Count().Is(script.Holds(1, 2))
	return bench.Scripted("PIN-004/component", "a session bound to a worker's rank 1; pins to that worker, to its rank 1, to its rank 0, to another worker, to that one's rank 1",
		"the first two are bound to rank 1, the others refused; the binding stays", s)
}

// PIN005Zero: rank 0 is a rank.
func (Cases) PIN005Zero() bench.Case {
	s := talk()
	bind(s, w1r0)
	s.Query(session).Is(script.Bound(w1r0))
	s.Acquire("a", session).Is(script.Bound(w1r0))
	s.Acquire("b", session.Pinned(w1)).Is(script.Bound(w1r0))
	s.Acquire("c", session.Pinned(w1r1)).Is(invalid)
	s.Acquire("d", script.S("t").Pinned(w1r0)).Is(script.Initializes)
	s.Commit("d", w1r1).Is(invalid)
	s.Query(script.S("t")).Is(script.Unbound)
	return bench.Scripted("PIN-005/component", "bindings and pins to rank 0", "rank 0 is kept apart from no rank, in a binding and in a pin", s)
}

// PIN006Narrow: a pin to a rank of a worker that is bound without one.
func (Cases) PIN006Narrow() bench.Case {
	s := talk()
	bind(s, w1)
	s.Acquire("a", session.Pinned(w1r1)).Is(invalid, script.Bound(w1), script.Bound(w1r1))
	s.Query(session).Is(script.Bound(w1))
	s.Acquire("b", session).Is(script.Bound(w1))
	s.Commit("b", w1r0).Is(script.Done) // the dispatch found a rank
	s.Query(session).Is(script.Bound(w1))
	s.Acquire("c", session).Is(script.Bound(w1))
	s.Commit("c", w1r1).Is(script.Done)
	s.Query(session).Is(script.Bound(w1))
	return bench.Scripted("PIN-006/component", "a session bound to a worker without a rank: a turn pinned to a rank, then two whose dispatches add different ranks",
		"the pin is refused or served, the dispatches are accepted, and the binding stays without a rank", s)
}

// PIN007Moves: a dispatch that ends elsewhere.
func (Cases) PIN007Moves() bench.Case {
	s := talk()
	bind(s, w1r1)
	for i, other := range []script.Where{w2r0, w1r0, w1} {
		name := []string{"to another worker", "to another rank", "to no rank"}[i]
		s.Acquire(name, session).Is(script.Bound(w1r1))
		s.Commit(name, other).Is(invalid)
		s.Query(session).Is(script.Bound(w1r1))
		s.Release(name).Is(script.Done)
	}
	s.Count().Is(script.Holds(1, 0))
	return bench.Scripted("PIN-007/component", "dispatches of a session bound to a rank that end at another worker, another rank, or without one",
		"each is refused, and the binding does not move", s)
}

// PIN007Initializer: the same for a first turn.
func (Cases) PIN007Initializer() bench.Case {
	s := talk()
	s.Acquire("a", session.Pinned(w1)).Is(script.Initializes)
	s.Commit("a", w2).Is(invalid)
	s.Query(session).Is(script.Unbound)
	s.Release("a").Is(script.Done)
	s.Query(session).Is(script.Unbound)
	s.Acquire("b", session).Is(script.Initializes)
	s.Commit("b", w2).Is(script.Done)
	s.Acquire("c", script.S("t").Pinned(w1r1)).Is(script.Initializes)
	s.Commit("c", w1).Is(invalid)
	s.Query(script.S("t")).Is(script.Unbound)
	return bench.Scripted("PIN-007/first-turn", "pinned first turns whose dispatch ends elsewhere, or without the rank",
		"they are refused and bind nothing, and the next turn initializes", s)
}

// PIN008Alone: a rank without a worker.
func (Cases) PIN008Alone() bench.Case {
	s := talk()
	zero, one := 0, 1
	for _, rank := range []*int{&zero, &one} {
		alone := script.Where{Rank: rank}
		s.Acquire("new", session.Pinned(alone)).Is(invalid)
		s.Query(session.Pinned(alone)).Is(invalid)
	}
	s.Count().Is(script.Holds(0, 0))
	bind(s, w1r0)
	s.Acquire("bound", session.Pinned(script.Where{Rank: &zero})).Is(invalid)
	s.Query(session).Is(script.Bound(w1r0))
	s.Count().Is(script.Holds(1, 0))
	return bench.Scripted("PIN-008/component", "a rank without a worker: for a new session and a bound one, as a turn and as a question", "each is refused as invalid and changes nothing", s)
}

// PIN009Dead: a pin out of an outage.
func (Cases) PIN009Dead() bench.Case {
	s := talk()
	bind(s, w1)
	s.Live(ranked[1:]...)
	s.Acquire("a", session.Pinned(w2)).Is(script.Initializes)
	s.Commit("a", w2).Is(script.Done)
	s.Live(ranked...)
	s.Acquire("b", session).Is(script.Bound(w2))
	s.Acquire("c", session.Pinned(w1)).Is(invalid)
	return bench.Scripted("PIN-009/component", "a session whose worker has left, a turn with a pin to a living one, and the first worker's return",
		"the dead binding is dropped and the pin binds, for good", s)
}

// PIN009Back: a worker that comes back in time.
func (Cases) PIN009Back() bench.Case {
	s := talk()
	bind(s, w1)
	s.Acquire("a", session.Pinned(w2)).Is(invalid)
	s.Live(ranked[1:]...)
	s.Query(session.Pinned(w2)).Is(script.Unbound)
	s.Live(ranked...)
	s.Acquire("b", session.Pinned(w2)).Is(invalid)
	s.Acquire("c", session).Is(script.Bound(w1))
	return bench.Scripted("PIN-009/back-in-time", "a contradicting pin before the bound worker leaves and after it is back, with only a question in between",
		"both are refused: while the bound worker lives its binding holds", s)
}
