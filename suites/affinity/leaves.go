package affinity

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF012Late: clients that leave when they are answered already.
func (Cases) AFF012Late() bench.Case {
	s := talk()
	s.Acquire("first", script.S("s")).Is(script.Initializes)
	s.Acquire("waits", script.S("s")).Waits()
	s.Cancel("first")
	s.Count().Is(script.Holds(1, 1))
	s.Commit("first", w1).Is(script.Done).And("waits", script.Bound(w1))
	s.Acquire("later", script.S("s")).Is(script.Bound(w1))
	s.Release("first").Is(script.Done)
	for _, n := range []string{"first", "waits", "later"} {
		s.Cancel(n)
		s.Cancel(n)
	}
	s.Count().Is(script.Holds(1, 2))
	s.Release("later").Is(script.Done)
	s.Advance(2 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1)) // the one that waited holds it
	s.Cancel("later")
	s.Commit("waits", w1).Is(script.Done)
	s.Release("waits").Is(script.Done)
	s.Advance(ttl - time.Millisecond)
	s.Cancel("waits")
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(time.Millisecond)
	s.Query(script.S("s")).Is(script.Unbound) // nothing of it was a turn
	s.Acquire("heir of nobody", script.S("t")).Is(script.Initializes)
	s.Acquire("b", script.S("t")).Waits()
	s.Acquire("c", script.S("t")).Waits()
	s.Release("heir of nobody").Is(script.Done).HandsTo("heir", "b", "c")
	s.Cancel("heir")
	s.Commit("heir", w2).Is(script.Done).One("follower", script.Bound(w2), "b", "c")
	return bench.Scripted("AFF-012/left-late", "clients that leave when their acquire is answered: an initializer's, one's that waited, a bound one's, an heir's, before and after their leases end",
		"nothing changes: each lease goes on until it is ended, and once", s)
}

// AFF012Waited: those who waited hold what they were bound to.
func (Cases) AFF012Waited() bench.Case {
	s := talk()
	s.Acquire("first", script.S("s")).Is(script.Initializes)
	var waiting []string
	for i := range 6 {
		waiting = append(waiting, fmt.Sprintf("waits %d", i))
		s.Acquire(waiting[i], script.S("s")).Waits()
	}
	st := s.Commit("first", w1).Is(script.Done)
	for _, n := range waiting {
		st.And(n, script.Bound(w1))
	}
	s.Release("first").Is(script.Done)
	s.Count().Is(script.Holds(1, len(waiting)))
	for i, n := range waiting {
		s.Advance(2 * ttl)
		s.Query(script.S("s")).Is(script.Bound(w1))
		s.Release(n).Is(script.Done)
		s.Count().Is(script.Holds(1, len(waiting)-i-1))
	}
	s.Advance(ttl)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-012/waited", "six turns that waited and end one after another, two idle times apart",
		"the session is bound until the last of them has ended, and for one idle time more", s)
}

// AFF011Early: one leaves, the others' time goes on.
func (Cases) AFF011Early() bench.Case {
	const wait = 3 * time.Second
	s := script.New(script.Config{IdleTTL: ttl, InitWait: wait}, three...)
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Advance(time.Second)
	s.Acquire("c", script.S("s")).Waits()
	s.Acquire("other", script.S("t")).Is(script.Initializes)
	s.Acquire("other waits", script.S("t")).Waits()
	s.Advance(time.Second)
	s.Acquire("d", script.S("s")).Waits()
	s.Cancel("b").And("b", script.Fails(script.Cancelled))
	s.Advance(time.Second) // when b's wait would have passed
	s.Advance(time.Second).And("c", script.Fails(script.Unavailable)).And("other waits", script.Fails(script.Unavailable))
	s.Advance(time.Second - time.Millisecond)
	s.Advance(time.Millisecond).And("d", script.Fails(script.Unavailable))
	s.Commit("a", w1).Is(script.Done)
	s.Commit("other", w2).Is(script.Done)
	return bench.Scripted("AFF-011/left-early", "turns of two sessions that came one after another to wait, the first of which leaves",
		"each of the others is answered unavailable when its own longest wait has passed, and not before", s)
}

// AFF003Refused: a first turn whose dispatch is refused.
func (Cases) AFF003Refused() bench.Case {
	s := talk()
	for i, end := range []func(string) *script.Step{s.Release, s.Invalidate} {
		ask := script.S(fmt.Sprintf("s%d", i))
		name := func(n string) string { return fmt.Sprintf("%s %d", n, i) }
		a, waiting := name("first"), []string{name("b"), name("c"), name("d")}
		s.Acquire(a, ask.Pinned(w1)).Is(script.Initializes)
		for _, n := range waiting {
			s.Acquire(n, ask).Waits()
		}
		s.Commit(a, w2).Is(script.Fails(script.InvalidArgument)).MayHandTo(name("heir"), waiting...)
		s.Query(ask).Is(script.Unbound)
		end(a).Is(ended...).HandsTo(name("heir"), waiting...)
		s.Acquire(name("e"), ask).Waits()
		for _, heir := range waiting {
			s.If(name("heir"), heir, func() {
				st := s.Commit(heir, w3).Is(script.Done).And(name("e"), script.Bound(w3))
				for _, n := range waiting {
					if n != heir {
						st.And(n, script.Bound(w3))
					}
				}
			})
		}
		s.Query(ask).Is(script.Bound(w3))
	}
	c := bench.Scripted("AFF-003/refused-dispatch", "pinned first turns, each with three that wait, whose dispatch ends elsewhere and is refused; then they end",
		"once it has ended, with the refusal or after it, exactly one of the three initializes, and the others follow it", s)
	c.Claims = append(c.Claims, "pins.worker")
	return c
}

// AFF003Many: how many may wait.
func (Cases) AFF003Many() bench.Case {
	s := talk()
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	var waiting []string
	for i := range crowd {
		waiting = append(waiting, fmt.Sprintf("turn %d", i+2))
		s.Acquire(waiting[i], script.S("s")).Waits()
	}
	s.Acquire("other", script.S("another session")).Is(script.Initializes)
	s.Cancel(waiting[0]).And(waiting[0], script.Fails(script.Cancelled))
	st := s.Commit("a", w2).Is(script.Done)
	for _, n := range waiting[1:] {
		st.And(n, script.Bound(w2))
	}
	s.Count().Is(script.Holds(2, len(waiting)+1))
	c := patient(bench.Scripted("AFF-003/many", "256 turns that wait for one first turn, of which one leaves",
		"none is refused for their number, and all that stay are bound where the first commits", s))
	c.Cost = time.Second
	return c
}

// crowd is how many turns of a session may wait at least (clause AFF-003).
const crowd = 256
