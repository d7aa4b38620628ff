// Package pinning holds the cases of areas PIN and PDS: explicit pins, data-parallel
// ranks, and the two phases of a request. Each method of Cases is one case.
package pinning

import (
	"fmt"
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

// PIN001Agrees: pins that say what is so.
func (Cases) PIN001Agrees() bench.Case {
	s := talk()
	bind(s, w1)
	for i := range 9 {
		s.Acquire(fmt.Sprintf("turn %d", i), session.Pinned(w1)).Is(script.Bound(w1))
		s.Query(session.Pinned(w1)).Is(script.Bound(w1))
	}
	s.Count().Is(script.Holds(1, 9))
	return bench.Scripted("PIN-001/agrees", "nine turns of a bound session at once, each pinned to its worker, and questions between", "all are bound there", s)
}

// PIN002Conflict: a pin against a living binding.
func (Cases) PIN002Conflict() bench.Case {
	s := talk()
	bind(s, w1)
	for _, other := range []string{"w2", "w", "w10", "W1"} { // the last three are near to its name, and nobody's
		s.Acquire("a", session.Pinned(script.At(other))).Is(invalid)
		s.Query(session.Pinned(script.At(other))).Is(invalid)
	}
	s.Query(session).Is(script.Bound(w1))
	s.Count().Is(script.Holds(1, 0))
	s.Advance(ttl - time.Second)
	s.Acquire("agrees", session.Pinned(w1)).Is(script.Bound(w1)) // a turn like any other
	s.Release("agrees").Is(script.Done)
	s.Advance(ttl - time.Second)
	s.Query(session.Pinned(w1)).Is(script.Bound(w1)) // a question like any other
	s.Acquire("b", session.Pinned(w2)).Is(invalid)
	s.Advance(time.Second)
	s.Query(session.Pinned(w1)).Is(script.Unbound) // what is refused refreshes nothing
	s.Query(session.Pinned(w2)).Is(script.Unbound)
	s.Query(session).Is(script.Unbound)
	s.Acquire("c", session.Pinned(w2)).Is(script.Initializes)
	s.Commit("c", w2).Is(script.Done)
	return bench.Scripted("PIN-002/component", "pins to others than the bound worker: turns, questions, a turn shortly before the idle time has passed, one after; pins to the bound worker between",
		"while the binding lives each is refused as invalid and changes nothing; afterwards the pin binds", s)
}

// PIN002Held: the same while a request is in flight.
func (Cases) PIN002Held() bench.Case {
	s := talk()
	s.Acquire("a", session).Is(script.Initializes)
	s.Commit("a", w1).Is(script.Done)
	s.Acquire("b", session.Pinned(w2)).Is(invalid)
	s.Count().Is(script.Holds(1, 1))
	s.Acquire("other model", session.Of("n")).Is(script.Initializes)
	s.Commit("other model", w2).Is(script.Done)
	s.Acquire("other model's", session.Of("n").Pinned(w1)).Is(invalid)
	s.Release("other model").Is(script.Done)
	s.Release("a").Is(script.Done)
	s.Count().Is(script.Holds(2, 0))
	return bench.Scripted("PIN-002/in-flight", "pins to other workers while a request of the session is in flight, under two models", "they are refused and hold nothing", s)
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
	t := script.S("t")
	s.Acquire("c", t.Pinned(w1)).Is(script.Initializes)
	s.Acquire("d", t.Pinned(w2)).Waits()
	s.Release("c").Is(script.Done).And("d", script.Initializes)
	s.Commit("d", w1).Is(invalid)
	s.Query(t).Is(script.Unbound)
	return bench.Scripted("PIN-003/heir", "an initializer pinned to one worker that gives up, and a waiting turn pinned to another, in two sessions",
		"the heir binds by its own pin, and its dispatch to the other worker is refused", s)
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
	for _, n := range []string{"a", "b"} { // the binding's rank is theirs, whatever their pins left open
		s.Commit(n, w1r0).Is(invalid)
		s.Commit(n, w1r1).Is(script.Done)
		s.Release(n).Is(script.Done)
	}
	s.Query(session).Is(script.Bound(w1r1))
	return bench.Scripted("PIN-004/component", "a session bound to a worker's rank 1; pins to that worker, to its rank 1, to its rank 0, to another worker, to that one's rank 1; dispatches of the first two to rank 0, then to rank 1",
		"the first two are bound to rank 1 and their dispatches to rank 0 refused, as are the others; the binding stays", s)
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
	s.Acquire("e", script.S("u").Pinned(w1)).Is(script.Initializes)
	s.Commit("e", w1r0).Is(script.Done)
	s.Query(script.S("u")).Is(script.Bound(w1r0))
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
	t := script.S("t")
	s.Acquire("first", t).Is(script.Initializes)
	s.Acquire("waits", t).Waits()
	s.Commit("first", w1r1).Is(script.Done).And("waits", script.Bound(w1r1))
	s.Commit("first", w2r0).Is(invalid, script.Fails(script.Stale)) // it has said where it went
	s.Commit("waits", w2r0).Is(invalid)
	s.Commit("waits", w1r1).Is(script.Done)
	s.Commit("first", w1r1).Is(script.Done, invalid, script.Fails(script.Stale))
	s.Query(t).Is(script.Bound(w1r1))
	s.Count().Is(script.Holds(2, 2))
	return bench.Scripted("PIN-007/component", "dispatches of a session bound to a rank that end at another worker, another rank, or without one; then of a turn that had waited, and a second one of a first turn",
		"each is refused, and the binding does not move", s)
}

// PIN007Initializer: the same for a first turn.
func (Cases) PIN007Initializer() bench.Case {
	s := talk()
	s.Acquire("a", session.Pinned(w1)).Is(script.Initializes)
	for range 2 { // once refused, its pin counts as before
		s.Commit("a", w2).Is(invalid, script.Fails(script.Stale))
		s.Query(session).Is(script.Unbound)
	}
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
	s.Acquire("initializing", session).Is(script.Initializes)
	s.Acquire("would wait", session.Pinned(script.Where{Rank: &zero})).Is(invalid)
	s.Release("initializing").Is(script.Done)
	bind(s, w1r0)
	s.Acquire("bound", session.Pinned(script.Where{Rank: &zero})).Is(invalid)
	s.Query(session.Pinned(script.Where{Rank: &zero})).Is(invalid)
	s.Query(session).Is(script.Bound(w1r0))
	s.Count().Is(script.Holds(1, 0))
	return bench.Scripted("PIN-008/component", "a rank without a worker: for a new session, one being initialized and a bound one, as a turn and as a question", "each is refused as invalid and changes nothing", s)
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
	return bench.Scripted("PIN-009/component", "a session whose worker has left the list, a turn with a pin to a living one, and the first worker's return",
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
