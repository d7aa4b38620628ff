package pinning

import (
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// PIN003Ranks: pins to ranks that wait.
func (Cases) PIN003Ranks() bench.Case {
	s := talk()
	s.Acquire("a", session).Is(script.Initializes)
	s.Acquire("worker", session.Pinned(w1)).Waits()
	s.Acquire("rank 0", session.Pinned(w1r0)).Waits()
	s.Acquire("rank 1", session.Pinned(w1r1)).Waits()
	s.Commit("a", w1r1).Is(script.Done).And("worker", script.Bound(w1r1)).And("rank 0", invalid).And("rank 1", script.Bound(w1r1))
	s.Count().Is(script.Holds(1, 3))
	return bench.Scripted("PIN-003/ranks", "an initializer that commits at a rank, with turns waiting that are pinned to its worker, to another rank and to that one",
		"the second is refused as invalid, the others are bound to the rank", s)
}

// PIN005High: ranks that a byte cannot tell apart.
func (Cases) PIN005High() bench.Case {
	s := script.New(script.Config{IdleTTL: ttl}, script.Worker{ID: "w1", Ranks: 300})
	high, low, last := script.On("w1", 257), w1r1, script.On("w1", 299)
	s.Acquire("a", session.Pinned(high)).Is(script.Initializes)
	s.Commit("a", high).Is(script.Done)
	s.Acquire("b", session).Is(script.Bound(high))
	s.Acquire("c", session.Pinned(low)).Is(invalid)
	s.Commit("b", low).Is(invalid)
	s.Acquire("d", script.S("t").Pinned(last)).Is(script.Initializes)
	s.Commit("d", last).Is(script.Done)
	s.Query(script.S("t")).Is(script.Bound(last))
	return bench.Scripted("PIN-005/high-rank", "a worker of 300 ranks; pins to ranks 257, 1 and 299", "each is a rank of its own", s)
}

// PIN009Ranks: a worker that comes back with fewer ranks, then with more.
func (Cases) PIN009Ranks() bench.Case {
	live := func(s *script.Script, n int) {
		s.Live(script.Worker{ID: "w1", Ranks: n}, script.Worker{ID: "w2", Ranks: n})
	}
	s := script.New(script.Config{IdleTTL: ttl})
	live(s, 4)
	w1r2, w1r3 := script.On("w1", 2), script.On("w1", 3)
	first, third, fourth, none := script.S("first"), script.S("third"), script.S("fourth"), script.S("none")
	for _, x := range []struct {
		ask script.Ask
		at  script.Where
	}{{first, w1r0}, {third, w1r2}, {fourth, w1r3}, {none, w1}} {
		s.Acquire("bind "+x.ask.Session, x.ask).Is(script.Initializes)
		s.Commit("bind "+x.ask.Session, x.at).Is(script.Done)
		s.Release("bind " + x.ask.Session).Is(script.Done)
		s.Query(x.ask).Is(script.Bound(x.at))
	}
	live(s, 2)
	s.Query(first).Is(script.Bound(w1r0))
	s.Query(none).Is(script.Bound(w1))
	s.Query(third).Is(script.Unbound)
	s.Acquire("moves", third.Pinned(w1r1)).Is(script.Initializes)
	s.Commit("moves", w1r1).Is(script.Done)
	s.Acquire("elsewhere", fourth.Pinned(w2)).Is(script.Initializes)
	s.Commit("elsewhere", w2).Is(script.Done)
	live(s, 4)
	s.Query(third).Is(script.Bound(w1r1))
	s.Query(fourth).Is(script.Bound(w2))
	s.Acquire("back", fourth.Pinned(w1r3)).Is(invalid)
	s.Query(first).Is(script.Bound(w1r0))
	s.Query(none).Is(script.Bound(w1))
	return bench.Scripted("PIN-009/ranks", "sessions bound to ranks 0, 2 and 3 of a worker and to none, which comes back with two ranks and later with four again; pins in between",
		"the sessions whose rank is gone go where a pin takes them, and stay there; the others stay", s)
}
