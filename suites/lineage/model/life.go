package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/lineage"
)

// life is who is registered, what is under way, and what the ranks physically hold.
// Moments are counted in steps: what was admitted at one is older than what happens later.
type life struct {
	moment    int
	workers   map[string]string // the open incarnation of a worker
	ranks     map[place]string  // of a rank that has, or had, one of its own; "" where that was removed
	cleared   map[place]int     // moment of the latest clear
	evicted   map[place]int     // moment of the latest remove or clear
	discarded int
	tickets   map[string]ticket
	removals  map[string]removal
	going     []place // retired, and not known to be gone
	failed    []place // whose removal has failed: the next may count what that one dropped
	held      map[place][]string
	barrier   bool // fails
	lowerTier bool // fails
}

// ticket is an event that was taken in.
type ticket struct {
	step   *lineage.Step
	moment int
}

// removal is one that has begun.
type removal struct {
	who     place
	dropped int // -1: nobody can say any more
}

func newLife() life {
	return life{
		workers: map[string]string{}, ranks: map[place]string{}, cleared: map[place]int{}, evicted: map[place]int{},
		tickets: map[string]ticket{}, removals: map[string]removal{}, held: map[place][]string{},
	}
}

// open is the incarnation of a rank, "" if none is open.
func (l *life) open(p place) string {
	if own, ok := l.ranks[p]; ok {
		return own
	}
	return l.workers[p.worker]
}

// opened says whether a worker, or the rank, has something open that would have to be
// removed first.
func (l *life) opened(who place) bool {
	if who.rank >= 0 {
		return l.open(who) != ""
	}
	for p, own := range l.ranks {
		if who.covers(p) && own != "" {
			return true
		}
	}
	return l.workers[who.worker] != ""
}

// retire closes the incarnations of a worker, or of a rank.
func (l *life) retire(who place) {
	if who.rank >= 0 {
		l.ranks[who] = ""
		return
	}
	delete(l.workers, who.worker)
	for p := range l.ranks {
		if who.covers(p) {
			delete(l.ranks, p)
		}
	}
}

// register opens an incarnation.
func (m *Model) register(who place, incarnation string) {
	if m.opened(who) {
		m.clear(who)
	}
	m.retire(who)
	if who.rank >= 0 {
		m.ranks[who] = incarnation
	} else {
		m.workers[who.worker] = incarnation
	}
	for name, r := range m.removals {
		if r.who.covers(who) || who.covers(r.who) {
			m.removals[name] = removal{r.who, -1}
		}
	}
}

// fate is what becomes of a store or a match.
type fate int

const (
	lives fate = iota
	discarded
	unsaid // the rules leave it open
)

// fate of an event that was admitted at a moment.
func (m *Model) fate(st *lineage.Step, moment int) fate {
	p := at(st.At)
	open := m.open(p)
	match := st.Op == lineage.Match || st.Op == lineage.MatchAdmit
	holds := slices.Contains(m.held[p], st.Block)
	switch {
	case st.Incarnation == "":
		return lives // nobody looks after lives in this conversation
	case st.Incarnation != open:
		return discarded
	case !match && m.cleared[p] > moment:
		return discarded
	case !match || m.evicted[p] <= moment:
		return lives
	case !m.claimed("physical") || holds && m.cleared[p] > moment || m.barrier:
		return unsaid
	case holds:
		return lives
	}
	return discarded
}

// isGoing says whether a removal of the place is under way.
func (m *Model) isGoing(p place) bool { return overlaps(m.going, p) }

func overlaps(all []place, p place) bool {
	return slices.ContainsFunc(all, func(g place) bool { return g.covers(p) || p.covers(g) })
}

func (m *Model) gone(who place) {
	m.going = slices.DeleteFunc(m.going, func(g place) bool { return g == who })
	m.failed = slices.DeleteFunc(m.failed, who.covers)
}
