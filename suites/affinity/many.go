package affinity

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// more is a number that does not fit into a byte.
const more = 260

// patient gives a conversation of many lines its time: an adapter may need some
// milliseconds for each.
func patient(c bench.Case) bench.Case {
	c.Limit = 2 * time.Minute
	return c
}

// AFF012Many: more requests in flight than a small counter holds.
func (Cases) AFF012Many() bench.Case {
	s := talk()
	turn := func(i int) string { return fmt.Sprintf("turn %d", i) }
	s.Acquire(turn(0), script.S("s")).Is(script.Initializes)
	s.Commit(turn(0), w1).Is(script.Done)
	for i := 1; i < more; i++ {
		s.Acquire(turn(i), script.S("s")).Is(script.Bound(w1))
	}
	s.Count().Is(script.Holds(1, more))
	s.Advance(2 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1))
	for i := 1; i < more; i++ {
		s.Release(turn(i)).Is(script.Done)
	}
	s.Count().Is(script.Holds(1, 1))
	s.Advance(2 * ttl)
	s.Query(script.S("s")).Is(script.Bound(w1)) // the first one holds it
	s.Release(turn(0)).Is(script.Done)
	s.Count().Is(script.Holds(1, 0))
	s.Advance(ttl)
	s.Query(script.S("s")).Is(script.Unbound)
	return patient(bench.Scripted("AFF-012/many", "a session with 260 requests in flight, of which all but the first end",
		"it is held as long as one is in flight, and for one idle time more", s))
}

// AFF009Large: a table of some size.
func (Cases) AFF009Large() bench.Case {
	s := script.New(script.Config{IdleTTL: ttl, Capacity: more, AtCapacity: "refuse"}, three...)
	at := func(i int) script.Where { return []script.Where{w1, w2, w3}[i%3] }
	for i := range more {
		name := fmt.Sprintf("turn %d", i)
		s.Acquire(name, id(i)).Is(script.Initializes)
		s.Commit(name, at(i)).Is(script.Done)
	}
	s.Acquire("beyond", id(more)).Is(script.Fails(script.ResourceExhausted))
	for i := 0; i < more; i += 7 {
		s.Query(id(i)).Is(script.Bound(at(i)))
	}
	s.Count().Is(script.Holds(more, more))
	return patient(bench.Scripted("AFF-009/large", "a table of 260 places, 260 sessions, and one more", "all 260 are bound, and the one is refused", s))
}

// AFF016Longest: the longest idle time there is.
func (Cases) AFF016Longest() bench.Case {
	const year = 31_536_000 * time.Second
	s := script.New(script.Config{IdleTTL: year}, three...)
	bind(s, "bind", script.S("s"), w1)
	s.Advance(year - time.Millisecond)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(time.Millisecond)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-016/longest", "an idle time of 31,536,000 s", "it is what a session lives for, to the millisecond", s)
}

// AFF016Odd: times that are no round numbers, the longest wait longer than the idle time.
func (Cases) AFF016Odd() bench.Case {
	const idle, wait = 1001 * time.Millisecond, 2999 * time.Millisecond
	s := script.New(script.Config{IdleTTL: idle, InitWait: wait}, three...)
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Advance(wait - time.Millisecond)
	s.Advance(time.Millisecond).And("b", script.Fails(script.Unavailable))
	s.Commit("a", w1).Is(script.Done)
	s.Release("a").Is(script.Done)
	s.Advance(idle - time.Millisecond)
	s.Query(script.S("s")).Is(script.Bound(w1))
	s.Advance(time.Millisecond)
	s.Query(script.S("s")).Is(script.Unbound)
	return bench.Scripted("AFF-016/odd", "an idle time of 1,001 ms and a longest wait of 2,999 ms", "each is kept to the millisecond", s)
}
