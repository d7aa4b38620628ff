package affinity

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// ended is what a call on a lease that is over may be answered: it does nothing.
var ended = []script.Outcome{script.Done, script.Fails(script.Stale), script.Fails(script.InvalidArgument)}

// AFF011Cancelled: a client that leaves while it waits.
func (Cases) AFF011Cancelled() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	for _, n := range []string{"b", "c", "d"} {
		s.Acquire(n, script.S("s")).Waits()
	}
	s.Count().Is(script.Holds(1, 1)) // who waits holds nothing
	s.Cancel("c").And("c", script.Fails(script.Cancelled))
	s.Commit("a", w1).Is(script.Done).And("b", script.Bound(w1)).And("d", script.Bound(w1))
	s.Count().Is(script.Holds(1, 3))
	return bench.Scripted("AFF-011/cancelled", "an initializer and three that wait, the client of one of which leaves",
		"that one is answered at once, the others and the initializer go on, and the binding counts three leases", s)
}

// AFF011Heir: nobody inherits who has left.
func (Cases) AFF011Heir() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Acquire("c", script.S("s")).Waits()
	s.Cancel("b").And("b", script.Fails(script.Cancelled))
	s.Release("a").Is(script.Done).And("c", script.Initializes)
	s.Acquire("d", script.S("s")).Waits()
	s.Cancel("d").And("d", script.Fails(script.Cancelled))
	s.Acquire("still initialized", script.S("s")).Waits()
	s.Cancel("still initialized").And("still initialized", script.Fails(script.Cancelled))
	s.Release("c").Is(script.Done)
	s.Count().Is(script.Holds(0, 0))
	s.Acquire("e", script.S("s")).Is(script.Initializes)
	return bench.Scripted("AFF-011/heir", "an initializer that gives up after one of those that wait has left",
		"one that still waits initializes; with none left nothing is kept", s)
}

// AFF011Late: the longest wait.
func (Cases) AFF011Late() bench.Case {
	const wait = 3 * time.Second
	s := script.New(script.Config{IdleTTL: ttl, InitWait: wait}, three...)
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Advance(wait - time.Second)
	s.Acquire("c", script.S("s")).Waits()
	s.Acquire("d", script.S("s")).Waits()
	s.Advance(time.Second).And("b", script.Fails(script.Unavailable))
	s.Advance(wait - 2*time.Second).And("c").And("d") // two of their three seconds have passed
	s.Advance(time.Second).And("c", script.Fails(script.Unavailable)).And("d", script.Fails(script.Unavailable))
	s.Acquire("e", script.S("s")).Waits() // though nobody waited any more
	s.Commit("a", w1).Is(script.Done).And("e", script.Bound(w1))
	s.Count().Is(script.Holds(1, 2))
	return bench.Scripted("AFF-011/init-wait", "turns that wait, for three seconds at most (`initWait`), for an initializer which takes its time",
		"each is answered unavailable when its own longest wait has passed; the initializer is unaffected", s)
}

// AFF012Twice: what is over is over.
func (Cases) AFF012Twice() bench.Case {
	s := talk()
	for _, n := range []string{"a", "b", "c"} {
		if n == "a" {
			s.Acquire(n, script.S("s")).Is(script.Initializes)
			s.Commit(n, w1).Is(script.Done)
			continue
		}
		s.Acquire(n, script.S("s")).Is(script.Bound(w1))
	}
	s.Count().Is(script.Holds(1, 3))
	for range 3 {
		s.Release("a").Is(ended...)
	}
	s.Count().Is(script.Holds(1, 2))
	s.Advance(3 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1)) // b and c hold it
	s.Release("b").Is(script.Done)
	s.Invalidate("b").Is(ended...)
	s.Commit("b", w2).Is(script.Fails(script.Stale), script.Fails(script.InvalidArgument))
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(3 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1)) // c holds it
	s.Release("c").Is(script.Done)
	s.Release("c").Is(ended...)
	s.Count().Is(script.Holds(1, 0))
	s.Advance(ttl)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-012/released-twice", "three leases of one session, ended several times each and in several ways",
		"each counts once: the session is held until the last has ended, and for one idle time more", s)
}

// AFF012Old: a lease that outlives its binding's successor.
func (Cases) AFF012Old() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Commit("a", w1).Is(script.Done)
	s.Acquire("b", script.S("s")).Is(script.Bound(w1))
	s.Invalidate("a").Is(script.Done)
	bind(s, "c", script.S("s"), w2)
	s.Count().Is(script.Holds(1, 0), script.Holds(1, 1)) // b is over, or will do nothing
	s.Advance(ttl - time.Second)
	s.Release("b").Is(script.Done)
	s.Count().Is(script.Holds(1, 0))
	s.Advance(time.Second)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-012/older-lease", "a lease on a binding that was ended and replaced, released shortly before the newer one lapses",
		"its end does not restart the newer binding's idle time", s)
}

// AFF013Siblings: one failure, several requests.
func (Cases) AFF013Siblings() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Commit("a", w1).Is(script.Done)
	for _, n := range []string{"b", "c", "d", "e", "f"} {
		s.Acquire(n, script.S("s")).Is(script.Bound(w1))
	}
	s.Invalidate("b").Is(script.Done)
	s.Query(script.S("s")).Is(script.Unbound)
	s.Count().Is(script.HoldsSessions(0))
	s.Acquire("again", script.S("s")).Is(script.Initializes)
	s.Acquire("waits", script.S("s")).Waits()
	s.Invalidate("c").Is(script.Done)
	s.Release("e").Is(script.Done)
	s.Commit("f", w1).Is(ended...)
	s.Query(script.S("s")).Is(script.Unbound)
	s.Commit("again", w2).Is(script.Done).And("waits", script.Bound(w2))
	s.Invalidate("d").Is(script.Done)
	s.Commit("f", w1).Is(ended...)
	s.Release("a").Is(script.Done)
	s.Invalidate("b").Is(ended...)
	s.Release("f").Is(script.Done)
	s.Query(script.S("s")).Is(script.Bound(w2))
	s.Count().Is(script.Holds(1, 2))
	return bench.Scripted("AFF-013/siblings", "six requests of a bound session, three of which fail one after another while the session binds anew, and one of which has its dispatch accepted late",
		"the first failure ends the binding; the later ones, and the others' ends, touch neither the new initializer nor the newer binding", s)
}

// AFF013Others: whose binding it is.
func (Cases) AFF013Others() bench.Case {
	s := talk()
	for i, at := range []script.Where{w1, w1, w2} {
		bind(s, fmt.Sprintf("bind %d", i), script.S(fmt.Sprintf("s%d", i)), at)
	}
	s.Acquire("a", script.S("s0")).Is(script.Bound(w1))
	s.Invalidate("a").Is(script.Done)
	s.Query(script.S("s0")).Is(script.Unbound)
	s.Query(script.S("s1")).Is(script.Bound(w1))
	s.Query(script.S("s2")).Is(script.Bound(w2))
	s.Count().Is(script.Holds(2, 0))
	return bench.Scripted("AFF-013/others", "three bound sessions, two of them at one worker, one of which is ended",
		"the other two stay", s)
}

// AFF014Query: looking changes nothing.
func (Cases) AFF014Query() bench.Case {
	s := talk()
	ask := script.S("s")
	s.Query(ask).Is(script.Unbound)
	s.Count().Is(script.Holds(0, 0))
	s.Acquire("a", ask).Is(script.Initializes)
	s.Query(ask).Is(script.Unbound)
	s.Commit("a", w1).Is(script.Done)
	s.Query(ask).Is(script.Bound(w1))
	s.Count().Is(script.Holds(1, 1))
	s.Release("a").Is(script.Done)
	for range 3 {
		s.Advance(ttl / 4)
		s.Query(ask).Is(script.Bound(w1))
	}
	s.Advance(ttl / 4)
	s.Query(ask).Is(script.Unbound)
	s.Query(ask).Is(script.Unbound)
	s.Acquire("b", ask).Is(script.Initializes)
	return bench.Scripted("AFF-014/query", "questions about a session that is unknown, being initialized, bound, and lapsed",
		"each is answered at once with the binding, if there is one; none waits, makes or holds an entry, or restarts the idle time", s)
}

// AFF014Dead: looking at a dead binding.
func (Cases) AFF014Dead() bench.Case {
	s := talk()
	bind(s, "bind", script.S("s"), w1)
	s.Live(three[1:]...)
	s.Query(script.S("s")).Is(script.Unbound)
	s.Live()
	s.Query(script.S("s")).Is(script.Unbound)
	s.Live(three...)
	s.Query(script.S("s")).Is(script.Bound(w1))
	return bench.Scripted("AFF-014/dead-binding", "questions about a session whose worker has left, then all others, and one after the worker is back",
		"the first two do not name the dead worker; they have ended nothing, so that the last finds the binding", s)
}
