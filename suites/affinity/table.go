package affinity

import (
	"fmt"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// small begins a conversation with a table of few places.
func small(places int, atCapacity string) *script.Script {
	return script.New(script.Config{IdleTTL: ttl, Capacity: places, AtCapacity: atCapacity}, three...)
}

func id(i int) script.Ask { return script.S(fmt.Sprintf("s%d", i)) }

// AFF009Refuse: a table that refuses.
func (Cases) AFF009Refuse() bench.Case {
	s := small(3, "refuse")
	bind(s, "bind 0", id(0), w1)
	s.Acquire("held", id(1)).Is(script.Initializes)
	s.Commit("held", w2).Is(script.Done)
	s.Acquire("initializing", id(2)).Is(script.Initializes)
	for i := 3; i < 6; i++ {
		s.Acquire(fmt.Sprintf("beyond %d", i), id(i)).Is(script.Fails(script.ResourceExhausted))
	}
	s.Count().Is(script.Holds(3, 2))
	s.Acquire("known", id(0)).Is(script.Bound(w1))
	s.Acquire("waits", id(2)).Waits()
	s.Release("initializing").Is(script.Done).And("waits", script.Initializes)
	s.Acquire("still full", id(6)).Is(script.Fails(script.ResourceExhausted))
	s.Release("waits").Is(script.Done)
	s.Acquire("room", id(7)).Is(script.Initializes)
	s.Invalidate("held").Is(script.Done)
	s.Acquire("more room", id(8)).Is(script.Initializes)
	return bench.Scripted("AFF-009/refuse", "a table of three places, held by a bound session, one in flight and one being initialized",
		"new sessions are refused, known ones served, and each place that is given up is used again", s)
}

// AFF009Unpinned: a table that lets new sessions pass.
func (Cases) AFF009Unpinned() bench.Case {
	s := small(2, "unpinned")
	bind(s, "bind 0", id(0), w1)
	bind(s, "bind 1", id(1), w2)
	s.Acquire("beyond", id(2)).Is(script.Unpinned)
	s.Acquire("beyond too", id(2)).Is(script.Unpinned)
	s.Query(id(2)).Is(script.Unbound)
	s.Query(id(0)).Is(script.Bound(w1))
	s.Query(id(1)).Is(script.Bound(w2))
	s.Count().Is(script.Holds(2, 0))
	s.Acquire("ends", id(0)).Is(script.Bound(w1))
	s.Invalidate("ends").Is(script.Done)
	s.Acquire("room", id(2)).Is(script.Initializes)
	s.Acquire("full again", id(3)).Is(script.Unpinned)
	return bench.Scripted("AFF-009/unpinned", "a table of two places and a third session; then one of the two ends",
		"it is served without a binding, waits for nobody, and the two stay; when there is room it is bound like any other", s)
}

// AFF009UnpinnedLapsed: what lapses makes room there, too.
func (Cases) AFF009UnpinnedLapsed() bench.Case {
	s := small(2, "unpinned")
	bind(s, "bind 0", id(0), w1)
	bind(s, "bind 1", id(1), w2)
	s.Acquire("beyond", id(2)).Is(script.Unpinned)
	s.Advance(ttl)
	bind(s, "bind 2", id(2), w3)
	bind(s, "bind 3", id(3), w1)
	s.Query(id(2)).Is(script.Bound(w3))
	s.Acquire("beyond again", id(4)).Is(script.Unpinned)
	return bench.Scripted("AFF-009/unpinned-lapsed", "a table of two places that serves a third session without a binding; when both have lapsed, two new ones",
		"the new ones are bound, and the next is served without a binding again", s)
}

// AFF009Evict: a table that makes room.
func (Cases) AFF009Evict() bench.Case {
	s := small(3, "evict")
	for i := range 3 {
		bind(s, fmt.Sprintf("bind %d", i), id(i), w1)
		s.Advance(time.Second)
	}
	s.Acquire("use", id(0)).Is(script.Bound(w1)) // now s1 has been idle for longest
	s.Release("use").Is(script.Done)
	s.Advance(time.Second)
	s.Acquire("hold", id(2)).Is(script.Bound(w1))
	bind(s, "beyond", id(3), w2)
	s.Query(id(1)).Is(script.Unbound)
	s.Query(id(0)).Is(script.Bound(w1))
	bind(s, "beyond too", id(4), w2)
	s.Query(id(0)).Is(script.Unbound)
	s.Query(id(2)).Is(script.Bound(w1)) // in flight: never evicted
	s.Query(id(3)).Is(script.Bound(w2))
	s.Count().Is(script.Holds(3, 1))
	s.Acquire("hold too", id(3)).Is(script.Bound(w2))
	s.Acquire("initializing", id(5)).Is(script.Initializes) // in the place of s4
	s.Acquire("nobody idle", id(6)).Is(script.Fails(script.ResourceExhausted), script.Unpinned)
	s.Query(id(2)).Is(script.Bound(w1))
	s.Query(id(3)).Is(script.Bound(w2))
	s.Commit("initializing", w3).Is(script.Done)
	s.Query(id(5)).Is(script.Bound(w3))
	return bench.Scripted("AFF-009/evict", "a table of three places, one of which is in flight, and two sessions more; then two in flight and one being initialized, and one more",
		"each ends the binding that has been idle for longest, and never one in flight or being initialized", s)
}

// AFF009Expired: who goes first.
func (Cases) AFF009Expired() bench.Case {
	s := small(3, "refuse")
	bind(s, "bind 0", id(0), w1)
	s.Advance(ttl - time.Second)
	bind(s, "bind 1", id(1), w2)
	bind(s, "bind 2", id(2), w2)
	s.Acquire("too early", id(3)).Is(script.Fails(script.ResourceExhausted))
	s.Advance(time.Second)
	s.Acquire("in time", id(3)).Is(script.Initializes)
	s.Acquire("one only", id(4)).Is(script.Fails(script.ResourceExhausted))
	s.Query(id(1)).Is(script.Bound(w2))
	s.Query(id(2)).Is(script.Bound(w2))
	s.Advance(ttl)
	for i := 5; i < 7; i++ {
		s.Acquire(fmt.Sprintf("later %d", i), id(i)).Is(script.Initializes)
	}
	s.Acquire("full again", id(7)).Is(script.Fails(script.ResourceExhausted))
	return bench.Scripted("AFF-009/expired", "a full table, in which first one and then the other sessions lapse",
		"as many new sessions find a place as have lapsed, in the moment in which they do, and no more", s)
}

// AFF009Same: a lapsed session's own place.
func (Cases) AFF009Same() bench.Case {
	s := small(1, "refuse")
	for i := range 3 {
		bind(s, fmt.Sprintf("life %d", i), id(0), []script.Where{w1, w2, w3}[i])
		s.Acquire(fmt.Sprintf("other %d", i), id(1)).Is(script.Fails(script.ResourceExhausted))
		s.Advance(ttl)
	}
	bind(s, "other", id(1), w1)
	s.Count().Is(script.Holds(1, 0))
	s.Live(three[1:]...)
	bind(s, "after a death", id(1), w2)
	return bench.Scripted("AFF-009/own-place", "a table of one place whose session lapses and comes back, three times, then another session, whose worker leaves",
		"each is placed anew each time and never needs a second place", s)
}

// AFF015Keys: what tells sessions apart.
func (Cases) AFF015Keys() bench.Case {
	s := talk()
	asks := []script.Ask{
		script.S("s"), script.S("S"), script.S(" s"), script.S("s "), script.S("s\u0000"), script.S("ß"), script.S("ss"), script.S("\u00e9"), script.S("e\u0301"),
		script.S("s").Of("n"), script.S("s").Of("N"), script.S("n").Of("s"),
		script.S(strings.Repeat("x", 255) + "0"), script.S(strings.Repeat("x", 255) + "1"),
		script.S(strings.Repeat("x", 127) + "0" + strings.Repeat("z", 128)), script.S(strings.Repeat("x", 127) + "1" + strings.Repeat("z", 128)),
	}
	return keys(s, "AFF-015/ids-and-models", "ids that differ in case, blanks, length or encoding, and one id under several models", asks)
}

// AFF015Tenants: an id that two tenants use.
func (Cases) AFF015Tenants() bench.Case {
	s := talk()
	return keys(s, "AFF-015/tenants", "one id used by several tenants, under two models", []script.Ask{
		script.S("s"), script.S("s").By("t"), script.S("s").By("T"), script.S("t").By("s"), script.S("s").Of("t"), script.S("s").Of("t").By("t"),
		// What a key that is written in one piece takes for the same.
		script.S("xs"), script.S("s").Of("x").By("m"), script.S("s").Of("c").By("a:b"), script.S("s").Of("b:c").By("a"),
		script.S("s").Of("c").By("a/b"), script.S("s").Of("b/c").By("a"), script.S("s").Of("c").By("a\u0000b"), script.S("s").Of("b\u0000c").By("a"),
	})
}

// AFF015Phases: an id in two phases.
func (Cases) AFF015Phases() bench.Case {
	s := talk()
	return keys(s, "AFF-015/phases", "one id in the prefill phase and in the decode phase", []script.Ask{
		script.S("s").In("prefill"), script.S("s").In("decode"), script.S("t").In("prefill"), script.S("t").In("decode"),
	})
}

func keys(s *script.Script, id, stimulus string, asks []script.Ask) bench.Case {
	at := func(i int) script.Where { return []script.Where{w1, w2, w3}[i%3] }
	name := func(i int) string { return fmt.Sprintf("bind %d", i) }
	for i, a := range asks { // all at once: none waits for another
		s.Acquire(name(i), a).Is(script.Initializes)
	}
	for i := range asks {
		s.Commit(name(i), at(i)).Is(script.Done)
		s.Release(name(i)).Is(script.Done)
	}
	for i, a := range asks {
		s.Query(a).Is(script.Bound(at(i)))
	}
	s.Acquire("one", asks[0]).Is(script.Bound(at(0)))
	s.Invalidate("one").Is(script.Done)
	for i, a := range asks[1:] {
		s.Query(a).Is(script.Bound(at(i + 1)))
	}
	return bench.Scripted(id, stimulus, "each is a session of its own, and ending one ends no other", s)
}

// AFF015Waiters: whom a first turn answers.
func (Cases) AFF015Waiters() bench.Case {
	return waiters("AFF-015/waiters", "first turns of sessions that differ in case, in one byte or in their model, two that wait for each; some give up, then the others commit", []script.Ask{
		script.S("s"), script.S("S"), script.S("s "), script.S("s").Of("n"), script.S("n").Of("s"),
	})
}

// AFF015WaitersApart: the same for tenants and phases.
func (Cases) AFF015WaitersApart() bench.Case {
	return waiters("AFF-015/waiters-apart", "first turns of one id in two phases and of several tenants, two that wait for each; some give up, then the others commit", []script.Ask{
		script.S("s"), script.S("s").In("prefill"), script.S("s").By("t"), script.S("s").By("t").In("prefill"), script.S("s").By("u"),
	})
}

func waiters(id, stimulus string, asks []script.Ask) bench.Case {
	s := talk()
	first := func(i int) string { return fmt.Sprintf("first %d", i) }
	waits := func(i, n int) string { return fmt.Sprintf("waits %d-%d", i, n) }
	for i, a := range asks {
		s.Acquire(first(i), a).Is(script.Initializes)
		s.Acquire(waits(i, 1), a).Waits()
		s.Acquire(waits(i, 2), a).Waits()
	}
	for i := 1; i < len(asks); i += 2 {
		s.Release(first(i)).Is(script.Done).HandsTo(fmt.Sprintf("heir %d", i), waits(i, 1), waits(i, 2))
	}
	for i := 0; i < len(asks); i += 2 {
		s.Commit(first(i), w1).Is(script.Done).And(waits(i, 1), script.Bound(w1)).And(waits(i, 2), script.Bound(w1))
	}
	for i, a := range asks {
		s.Query(a).Is([]script.Outcome{script.Bound(w1), script.Unbound}[i%2])
	}
	return bench.Scripted(id, stimulus, "each answers those that wait for it, and nobody else", s)
}

// AFF016Settings: what an instance may be made with.
func (Cases) AFF016Settings() bench.Case {
	s := talk()
	const year = 31_536_000 * time.Second
	for _, bad := range []time.Duration{0, time.Millisecond, time.Second - time.Millisecond, year + time.Second, -time.Second} {
		s.Create(script.Config{IdleTTL: bad}).Is(script.Fails(script.InvalidArgument))
	}
	for _, good := range []time.Duration{time.Second, time.Minute, year} {
		s.Create(script.Config{IdleTTL: good}).Is(script.Done)
	}
	s.Create(script.Config{IdleTTL: ttl, Capacity: -1}).Is(script.Fails(script.InvalidArgument))
	return bench.Scripted("AFF-016/settings", "idle times just inside and just outside 1 s to 31,536,000 s, a negative capacity",
		"what is out of range is refused as invalid", s)
}
