package affinity

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF011Second: a wait that goes on behind another initializer.
func (Cases) AFF011Second() bench.Case {
	const wait = 3 * time.Second
	s := script.New(script.Config{IdleTTL: ttl, InitWait: wait}, three...)
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Acquire("c", script.S("s")).Waits()
	s.Advance(wait - time.Second)
	s.Release("a").Is(script.Done).HandsTo("heir", "b", "c")
	s.Advance(time.Second).One("late", script.Fails(script.Unavailable), "b", "c")
	s.Commit("heir", w1).Is(script.Done)
	s.Count().Is(script.Holds(1, 1))
	return bench.Scripted("AFF-011/second-wait", "two turns that wait two of their three seconds (`initWait`) for a first turn that fails; one takes its place, for another second",
		"the other is answered unavailable when three seconds have passed since it came", s)
}

// AFF005First: a death between a first turn's dispatch and its answer.
func (Cases) AFF005First() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Acquire("c", script.S("s")).Waits()
	s.Live() // nobody is left for a moment: they wait for the first turn, not for a worker
	s.Live(three[1:]...)
	s.Commit("a", w1).Is(script.Done).HandsTo("heir", "b", "c")
	s.Query(script.S("s")).Is(script.Unbound)
	s.Commit("heir", w2).Is(script.Done).One("follower", script.Bound(w2), "b", "c")
	s.Release("a").Is(script.Done)
	s.Query(script.S("s")).Is(script.Bound(w2))
	return bench.Scripted("AFF-005/first-turn", "a first turn and two that wait; all workers leave, and the one that answers the first is not back when it is said to",
		"one of the two initializes and the other follows it: nobody is sent to the dead", s)
}

// AFF015Prefill: what is true of sessions is true in each phase.
func (Cases) AFF015Prefill() bench.Case {
	s := talk()
	ask := script.S("s").In("prefill")
	s.Acquire("a", ask).Is(script.Initializes)
	s.Acquire("b", ask).Waits()
	s.Commit("a", w1).Is(script.Done).And("b", script.Bound(w1))
	s.Acquire("elsewhere", ask.Pinned(w2)).Is(script.Fails(script.InvalidArgument))
	s.Release("a").Is(script.Done)
	s.Advance(2 * ttl)
	s.Query(ask).Is(script.Bound(w1)) // b holds it
	s.Release("b").Is(script.Done)
	s.Advance(ttl)
	s.Query(ask).Is(script.Unbound)
	bind(s, "again", ask, w2)
	s.Acquire("fails", ask).Is(script.Bound(w2))
	s.Invalidate("fails").Is(script.Done)
	s.Query(ask).Is(script.Unbound)
	bind(s, "once more", ask, w3)
	s.Live(three[:2]...)
	s.Acquire("after a death", ask).Is(script.Initializes)
	return bench.Scripted("AFF-015/prefill", "a session in the prefill phase: turns that wait, a pin that contradicts, requests in flight and none, a failure, a death",
		"it is a session like any other", s)
}
