package pinning

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// pinned is a turn that waits, and its pin; nil is none.
type pinned struct {
	name string
	pin  *script.Where
	at   script.Where // where it is dispatched if it initializes
}

// heirs is a conversation in which an initializer gives up, then the one that took its
// place, whichever that is; and the third binds. Each is held to its own pin all along.
func heirs(waiting []pinned) *script.Script {
	s := talk()
	s.Acquire("first", session.Pinned(w1)).Is(script.Initializes)
	for _, p := range waiting {
		ask := session
		ask.Pin = p.pin
		s.Acquire(p.name, ask).Waits()
	}
	s.Release("first").Is(script.Done).HandsTo("second", names(waiting)...)
	for _, second := range waiting {
		s.If("second", second.name, func() {
			rest := without(waiting, second)
			third := "third after " + second.name
			s.Invalidate("second").Is(script.Done).HandsTo(third, names(rest)...)
			for _, p := range rest {
				s.If(third, p.name, func() { binds(s, p, without(rest, p)) })
			}
		})
	}
	return s
}

// binds has an initializer commit, and says what becomes of those that wait.
func binds(s *script.Script, p pinned, rest []pinned) {
	st := s.Commit(p.name, p.at).Is(script.Done)
	held := 1
	for _, o := range rest {
		if o.pin == nil || o.pin.Worker == p.at.Worker && (o.pin.Rank == nil || o.pin.Same(p.at)) {
			st.And(o.name, script.Bound(p.at))
			held++
		} else {
			st.And(o.name, invalid)
		}
	}
	s.Count().Is(script.Holds(1, held))
	s.Query(session).Is(script.Bound(p.at))
}

func names(all []pinned) (names []string) {
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}

func without(all []pinned, one pinned) (rest []pinned) {
	for _, p := range all {
		if p.name != one.name {
			rest = append(rest, p)
		}
	}
	return rest
}

// PIN003HandOver: pins that outlive those they waited for.
func (Cases) PIN003HandOver() bench.Case {
	w3 := script.At("w3")
	s := heirs([]pinned{{"none", nil, w1}, {"to w1", &w1, w1}, {"to w2", &w2, w2}, {"to w2 too", &w2, w2}, {"to w3", &w3, w3}})
	return bench.Scripted("PIN-003/hand-over", "an initializer that gives up, then its heir, with turns waiting that are pinned to three workers and not at all; the third that initializes commits by its own pin",
		"each of the others is held to its own pin, as long as it waits and whoever it waits for", s)
}

// PIN003HandOverRanks: the same for ranks.
func (Cases) PIN003HandOverRanks() bench.Case {
	w2r1 := script.On("w2", 1)
	s := heirs([]pinned{{"to the worker", &w1, w1r0}, {"to rank 0", &w1r0, w1r0}, {"to rank 1", &w1r1, w1r1}, {"to the other's rank 1", &w2r1, w2r1}})
	return bench.Scripted("PIN-003/hand-over-ranks", "an initializer that gives up, then its heir, with turns waiting that are pinned to ranks of two workers and to a worker; the third that initializes commits by its own pin",
		"each of the others is held to its own pin, its rank too, as long as it waits", s)
}

// PIN003Left: pins of those that have left.
func (Cases) PIN003Left() bench.Case {
	const wait = 3 * time.Second
	w3 := script.At("w3")
	s := script.New(script.Config{IdleTTL: ttl, InitWait: wait}, ranked...)
	s.Acquire("first", session).Is(script.Initializes)
	s.Acquire("too long", session.Pinned(w3)).Waits()
	s.Advance(time.Second)
	s.Acquire("a", session.Pinned(w1)).Waits()
	s.Acquire("b", session).Waits()
	s.Acquire("c", session.Pinned(w2)).Waits()
	s.Acquire("leaves", session.Pinned(w3)).Waits()
	s.Acquire("d", session.Pinned(w1)).Waits()
	s.Advance(wait-time.Second).And("too long", script.Fails(script.Unavailable))
	s.Cancel("leaves").And("leaves", script.Fails(script.Cancelled))
	s.Commit("first", w1).Is(script.Done).And("a", script.Bound(w1)).And("b", script.Bound(w1)).And("c", invalid).And("d", script.Bound(w1))
	s.Count().Is(script.Holds(1, 4))
	return bench.Scripted("PIN-003/left", "turns that wait, of which one with a pin waits for too long and another leaves", "their pins go with them: each of the others is held to its own", s)
}

// PIN003HeirRefused: an heir is held to its pin, whoever it is.
func (Cases) PIN003HeirRefused() bench.Case {
	s := talk()
	s.Acquire("first", session).Is(script.Initializes)
	var waiting []string
	for i := range 4 {
		waiting = append(waiting, fmt.Sprintf("waits %d", i))
		s.Acquire(waiting[i], session.Pinned(w1)).Waits()
	}
	s.Release("first").Is(script.Done).HandsTo("second", waiting...)
	s.Release("second").Is(script.Done).HandsTo("third", waiting...)
	s.Commit("third", w2).Is(invalid).MayHandTo("fourth", waiting...)
	s.Query(session).Is(script.Unbound)
	s.Release("third").Is(script.Done).HandsTo("fourth", waiting...)
	s.Commit("fourth", w1).Is(script.Done).One("last", script.Bound(w1), waiting...)
	s.Query(session).Is(script.Bound(w1))
	return bench.Scripted("PIN-003/heir-refused", "four turns with one pin that wait for an unpinned one; two give up, the third's dispatch ends elsewhere",
		"it is refused and binds nothing, and the fourth takes its place and binds by the pin", s)
}
