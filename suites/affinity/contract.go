package affinity

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// ttl is the idle time of scripted cases, on the component's injected clock.
const ttl = 10 * time.Second

var (
	w1, w2, w3 = script.At("w1"), script.At("w2"), script.At("w3")
	three      = []script.Worker{{ID: "w1"}, {ID: "w2"}, {ID: "w3"}}
)

// talk begins a conversation with three live workers.
func talk() *script.Script { return script.New(script.Config{IdleTTL: ttl}, three...) }

// bind adds a session that is bound and idle.
func bind(s *script.Script, name string, a script.Ask, at script.Where) {
	s.Acquire(name, a).Is(script.Initializes)
	s.Commit(name, at).Is(script.Done)
	s.Release(name).Is(script.Done)
}

// AFF003Waiters: first turns meet in the table.
func (Cases) AFF003Waiters() bench.Case {
	s := talk()
	s.Acquire("first", script.S("s")).Is(script.Initializes)
	var waiting []string
	for i := range 19 {
		name := fmt.Sprintf("turn %d", i+2)
		waiting = append(waiting, name)
		s.Acquire(name, script.S("s")).Waits()
	}
	s.Acquire("other", script.S("another session")).Is(script.Initializes)
	s.Acquire("other model", script.S("s").Of("n")).Is(script.Initializes)
	st := s.Commit("first", w2).Is(script.Done)
	for _, name := range waiting {
		st.And(name, script.Bound(w2))
	}
	s.Acquire("late", script.S("s")).Is(script.Bound(w2))
	return bench.Scripted("AFF-003/waiters", "twenty first turns of one session, one of which commits",
		"one initializes, nineteen wait, and all are bound where it commits; another session waits for nobody", s)
}

// AFF003HandOver: initializers that give up, one after another.
func (Cases) AFF003HandOver() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	var waiting []string
	for i := range 6 {
		waiting = append(waiting, fmt.Sprintf("turn %d", i+2))
		s.Acquire(waiting[i], script.S("s")).Waits()
	}
	holder := "a"
	for i := range waiting {
		end := s.Release
		if i%3 == 2 {
			end = s.Invalidate
		}
		next := fmt.Sprintf("heir %d", i+1)
		end(holder).Is(script.Done).HandsTo(next, waiting...)
		s.Count().Is(script.Holds(1, 1))
		holder = next
	}
	s.Acquire("e", script.S("s")).Waits()
	s.Commit(holder, w3).Is(script.Done).And("e", script.Bound(w3))
	return bench.Scripted("AFF-003/hand-over", "an initializer and six that wait; each initializer gives up in turn, the last commits",
		"each time exactly one of those that wait initializes", s)
}

// AFF003Last: nobody is left.
func (Cases) AFF003Last() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Release("a").Is(script.Done).And("b", script.Initializes)
	s.Release("b").Is(script.Done)
	s.Count().Is(script.Holds(0, 0))
	s.Query(script.S("s")).Is(script.Unbound)
	s.Acquire("c", script.S("s")).Is(script.Initializes)
	return bench.Scripted("AFF-003/nobody-left", "an initializer and the one that waits for it both give up",
		"nothing is kept, and the next turn initializes", s)
}

// AFF004Component: what did not commit is not bound.
func (Cases) AFF004Component() bench.Case {
	s := talk()
	for i, end := range []func(string) *script.Step{s.Release, s.Invalidate} {
		name, id := fmt.Sprintf("first %d", i), script.S(fmt.Sprintf("s%d", i))
		s.Acquire(name, id).Is(script.Initializes)
		s.Query(id).Is(script.Unbound)
		end(name).Is(script.Done)
		s.Query(id).Is(script.Unbound)
		s.Count().Is(script.Holds(0, 0))
		s.Acquire("again "+name, id).Is(script.Initializes)
		end("again " + name).Is(script.Done)
	}
	return bench.Scripted("AFF-004/component", "first turns that end without a commit", "they leave no binding and take no place", s)
}

// AFF004Stale: an initializer that is over.
func (Cases) AFF004Stale() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Release("a").Is(script.Done)
	s.Commit("a", w1).Is(script.Fails(script.Stale), script.Fails(script.InvalidArgument))
	s.Query(script.S("s")).Is(script.Unbound)
	s.Acquire("b", script.S("s")).Is(script.Initializes)
	s.Commit("a", w1).Is(script.Fails(script.Stale), script.Fails(script.InvalidArgument))
	s.Query(script.S("s")).Is(script.Unbound)
	s.Commit("b", w2).Is(script.Done)
	s.Release("a").Is(script.Done, script.Fails(script.Stale), script.Fails(script.InvalidArgument))
	s.Query(script.S("s")).Is(script.Bound(w2))
	return bench.Scripted("AFF-004/stale-commit", "a commit by an initializer that has given up, before and after another took its place",
		"it is refused and binds nothing", s)
}

// AFF005Component: a binding to a worker that has left.
func (Cases) AFF005Component() bench.Case {
	s := talk()
	bind(s, "bind s", script.S("s"), w1)
	bind(s, "bind t", script.S("t"), w2)
	s.Live(three[1:]...)
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Acquire("c", script.S("t")).Is(script.Bound(w2))
	s.Commit("a", w3).Is(script.Done).And("b", script.Bound(w3))
	s.Live(three...)
	s.Acquire("d", script.S("s")).Is(script.Bound(w3))
	s.Live()
	s.Acquire("e", script.S("s")).Is(script.Initializes)
	return bench.Scripted("AFF-005/component", "a bound session whose worker leaves, two turns, then the worker's return; then all leave",
		"one turn initializes, the other waits and follows, the session stays where it went, and another worker's session stays; with nobody left a turn initializes", s)
}

// AFF005Held: the dead worker's own requests.
func (Cases) AFF005Held() bench.Case {
	s := talk()
	s.Acquire("old", script.S("s")).Is(script.Initializes)
	s.Commit("old", w1).Is(script.Done)
	s.Live(three[1:]...)
	s.Acquire("new", script.S("s")).Is(script.Initializes)
	s.Commit("new", w2).Is(script.Done)
	s.Invalidate("old").Is(script.Done)
	s.Query(script.S("s")).Is(script.Bound(w2))
	s.Count().Is(script.Holds(1, 1))
	s.Release("new").Is(script.Done)
	s.Count().Is(script.Holds(1, 0))
	return bench.Scripted("AFF-005/held", "a request that is in flight at a worker that leaves, and ends after its session has moved",
		"its end does not touch the newer binding", s)
}

// AFF006Edge: the last moment.
func (Cases) AFF006Edge() bench.Case {
	s := talk()
	bind(s, "bind", script.S("s"), w1)
	s.Advance(ttl - time.Millisecond)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Acquire("just in time", script.S("s")).Is(script.Bound(w1))
	s.Release("just in time").Is(script.Done)
	s.Advance(ttl)
	s.Query(script.S("s")).Is(script.Unbound)
	s.Acquire("late", script.S("s")).Is(script.Initializes)
	return bench.Scripted("AFF-006/edge", "a turn a millisecond before the idle time has passed, then one exactly when it has",
		"the first finds the binding, the second none: a deadline equal to now has passed", s)
}

// AFF006Restarts: what restarts the idle time, and what does not.
func (Cases) AFF006Restarts() bench.Case {
	s := talk()
	bind(s, "bind", script.S("s"), w1)
	for i := range 4 {
		s.Advance(ttl * 9 / 10)
		name := fmt.Sprintf("turn %d", i)
		s.Acquire(name, script.S("s")).Is(script.Bound(w1))
		s.Release(name).Is(script.Done)
	}
	// A turn that waited is a turn like any other.
	s.Acquire("first", script.S("u")).Is(script.Initializes)
	s.Acquire("waited", script.S("u")).Waits()
	s.Commit("first", w3).Is(script.Done).And("waited", script.Bound(w3))
	s.Release("first").Is(script.Done)
	s.Advance(ttl * 3 / 10)
	s.Release("waited").Is(script.Done)
	s.Advance(ttl * 9 / 10)
	s.Query(script.S("u")).Is(script.Bound(w3))
	s.Advance(ttl / 10)
	s.Query(script.S("u")).Is(script.Unbound)
	// Another session's turns and questions keep nothing alive.
	bind(s, "bind again", script.S("s"), w1)
	s.Advance(ttl * 6 / 10)
	bind(s, "another", script.S("t"), w2)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(ttl * 4 / 10)
	s.Query(script.S("s")).Is(script.Unbound)
	s.Query(script.S("t")).Is(script.Bound(w2))
	return bench.Scripted("AFF-006/restarts", "turns nine tenths of the idle time apart, then only questions and another session's turns",
		"each turn's end restarts the idle time, and nothing else does", s)
}

// AFF006Everybody: whose sessions lapse.
func (Cases) AFF006Everybody() bench.Case {
	s := talk()
	all := []script.Ask{script.S("s").By("t"), script.S("s").Of("n").By("t"), script.S("s").Of("n"), script.S("s")}
	for i, a := range all {
		bind(s, fmt.Sprintf("bind %d", i), a, w1)
	}
	s.Advance(ttl - time.Millisecond)
	for _, a := range all {
		s.Query(a).Is(script.Bound(w1))
	}
	s.Advance(time.Millisecond)
	for i, a := range all {
		s.Query(a).Is(script.Unbound)
		s.Acquire(fmt.Sprintf("again %d", i), a).Is(script.Initializes)
	}
	return bench.Scripted("AFF-006/everybody", "sessions of a tenant and of none, under two models, until the idle time has passed", "all lapse at the same moment", s)
}

// AFF007Component: the hold of requests in flight.
func (Cases) AFF007Component() bench.Case {
	s := talk()
	s.Acquire("long", script.S("s")).Is(script.Initializes)
	s.Commit("long", w1).Is(script.Done)
	s.Advance(5 * ttl)
	s.Acquire("short", script.S("s")).Is(script.Bound(w1))
	s.Release("short").Is(script.Done)
	s.Advance(5 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Release("long").Is(script.Done)
	s.Advance(ttl - time.Millisecond)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(time.Millisecond)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-007/component", "a request of ten idle times, with a short one beside it that ends in between",
		"the session is bound all the while, and for one idle time after the last of them has ended", s)
}

// AFF010Component: cancellation.
func (Cases) AFF010Component() bench.Case {
	s := talk()
	s.Acquire("first", script.S("s")).Is(script.Initializes)
	s.Commit("first", w1).Is(script.Done)
	s.Release("first").Is(script.Done) // its client left in the middle of the answer
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(ttl * 9 / 10)
	s.Acquire("second", script.S("s")).Is(script.Bound(w1))
	s.Release("second").Is(script.Done) // and this one's before it was sent
	s.Advance(ttl * 9 / 10)
	s.Acquire("third", script.S("s")).Is(script.Bound(w1))
	return bench.Scripted("AFF-010/component", "leases that are released early: after the commit, and before anything was sent",
		"the binding stays, and its idle time starts again", s)
}
