package affinity

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF020Instances: two tables that know nothing of each other.
func (Cases) AFF020Instances() bench.Case {
	const wait = 3 * time.Second
	s := script.New(script.Config{IdleTTL: ttl, InitWait: wait}, three...)
	bind(s, "bind s", script.S("s"), w1)
	s.Acquire("first", script.S("t")).Is(script.Initializes)
	s.Acquire("waits", script.S("t")).Waits()
	o := s.Another("other", script.Config{IdleTTL: ttl, InitWait: wait}, three[:2]...)
	o.Query(script.S("s")).Is(script.Unbound)
	o.Count().Is(script.Holds(0, 0))
	o.Acquire("other first", script.S("t")).Is(script.Initializes) // which waits for nobody here
	o.Acquire("other waits", script.S("t")).Waits()
	bind(o, "other s", script.S("s"), w2)
	s.Query(script.S("s")).Is(script.Bound(w1)) // the other has its own, and other workers
	s.Acquire("held", script.S("u")).Is(script.Initializes)
	s.Commit("held", w3).Is(script.Done)
	s.Count().Is(script.Holds(3, 2))
	o.Count().Is(script.Holds(2, 1))
	o.Live(three[1:]...)
	s.Acquire("still there", script.S("s")).Is(script.Bound(w1))
	s.Release("still there").Is(script.Done)
	o.Advance(wait).And("other waits", script.Fails(script.Unavailable))
	o.Advance(2 * ttl)
	o.Query(script.S("s")).Is(script.Unbound)
	s.Query(script.S("s")).Is(script.Bound(w1)) // here no time has passed
	o.Acquire("other waits again", script.S("t")).Waits()
	third := s.Another("third", script.Config{IdleTTL: ttl}, three...)
	bind(third, "third s", script.S("s"), w3)
	o.Close().And("other waits again", script.Fails(script.Cancelled))
	fourth := s.Another("fourth", script.Config{IdleTTL: ttl}, three...)
	fourth.Query(script.S("s")).Is(script.Unbound)
	third.Query(script.S("s")).Is(script.Bound(w3))
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Count().Is(script.Holds(3, 2))
	s.Commit("first", w2).Is(script.Done).And("waits", script.Bound(w2))
	s.Advance(2 * ttl)
	s.Query(script.S("u")).Is(script.Bound(w3)) // its request is in flight
	s.Query(script.S("s")).Is(script.Unbound)
	s.Release("held").Is(script.Done)
	s.Advance(ttl)
	s.Query(script.S("u")).Is(script.Unbound)
	return bench.Scripted("AFF-020/instances", "two instances with the same sessions, other workers and times, in both of which a turn waits and one is in flight; one of them is ended, with a third and a fourth made before and after",
		"what is done in one changes nothing in the other; who waits in the one that ends is answered cancelled, and nobody else", s)
}

// AFF020Batch: operations in batches, and what is left behind by none of them.
func (Cases) AFF020Batch() bench.Case {
	r1 := script.On("w1", 1)
	s := script.New(script.Config{IdleTTL: ttl}, script.Worker{ID: "w1", Ranks: 2}, script.Worker{ID: "w2", Ranks: 2})
	s.Acquire("outside", script.S("o")).Is(script.Initializes)
	s.Acquire("waits", script.S("o")).Waits()
	s.InBatch(func() {
		s.Query(script.S("s")).Is(script.Unbound)
		s.Acquire("a", script.S("s").Pinned(r1)).Is(script.Initializes)
		s.Acquire("would wait", script.S("s")).Is(script.Fails(script.Cancelled))
		s.Release("b").Is(script.Fails(script.InvalidArgument)) // which comes later
		s.Acquire("b", script.S("t")).Is(script.Initializes)
		s.Commit("a", script.At("w2")).Is(script.Fails(script.InvalidArgument))
		s.Release("would wait").Is(script.Fails(script.InvalidArgument)) // it has no lease
	})
	s.InBatch(func() { // whether a refused commit ends a lease is the library's business: others go on
		s.Release("a").Is(ended...)
		s.Acquire("c", script.S("s")).Is(script.Initializes)
		s.Acquire("would wait too", script.S("s")).Is(script.Fails(script.Cancelled))
		s.Commit("c", r1).Is(script.Done)
		s.Query(script.S("s")).Is(script.Bound(r1))
		s.Acquire("d", script.S("s")).Is(script.Bound(r1))
		s.Acquire("contradicts", script.S("s").Pinned(script.At("w2"))).Is(script.Fails(script.InvalidArgument))
		s.Release("c").Is(script.Done)
		s.Commit("c", r1).Is(script.Fails(script.Stale), script.Fails(script.InvalidArgument))
		s.Commit("d", r1).Is(script.Done)
		s.Commit("b", script.On("w2", 0)).Is(script.Done)
		s.Release("b").Is(script.Done)
		s.Query(script.S("t")).Is(script.Bound(script.On("w2", 0)))
	})
	s.Query(script.S("t")).Is(script.Bound(script.On("w2", 0)))
	s.Count().Is(script.Holds(3, 2)) // nobody is left who would have waited
	s.Advance(2 * ttl)
	s.Query(script.S("s")).Is(script.Bound(r1)) // d holds it
	s.InBatch(func() {
		s.Invalidate("d").Is(script.Done)
		s.Query(script.S("s")).Is(script.Unbound)
		s.Commit("outside", script.On("w1", 0)).Is(script.Done).And("waits", script.Bound(script.On("w1", 0)))
		s.Release("outside").Is(script.Done)
	})
	s.Count().Is(script.HoldsSessions(1), script.HoldsSessions(2)) // t has lapsed, and may count
	s.InBatch(func() {
		for i, a := range apart {
			name := fmt.Sprintf("apart %d", i)
			s.Acquire(name, a).Is(script.Initializes)
			s.Commit(name, script.On("w1", i%2)).Is(script.Done)
			s.Release(name).Is(script.Done)
		}
	})
	for i, a := range apart {
		s.Query(a).Is(script.Bound(script.On("w1", i%2)))
	}
	return bench.Scripted("AFF-020/batch", "turns in batches, with leases from the same batch, from before it, and of operations that give none; some would wait, and one waits outside",
		"each is answered as by itself, one after another; who would wait leaves at once, and nothing of it is left", s)
}

// apart are sessions that differ in one part of their key each.
var apart = []script.Ask{
	script.S("k"), script.S("k").Of("n"), script.S("k").By("t"), script.S("k").In("prefill"), script.S("l"), script.S("k").By("u"),
}
