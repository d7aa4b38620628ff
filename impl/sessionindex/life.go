package sessionindex

import (
	"strings"
	"sync"
)

// life knows which incarnation is open on which rank, and what has happened to the rank
// since an event was admitted.
//
// All versions are of one counter, which only grows. An event is stamped with the count
// at its admission; whoever ends claims or evicts blocks raises the count and notes it
// on the rank's stay. So there are two clocks, which bar different things: cleared bars
// the stores that were admitted before it, and evicted makes the matches that were
// admitted before it doubtful, but no more. The end of an incarnation bars both.
//
// A stay that is over is the tombstone of its incarnation. Only the tickets that were
// admitted under it still know it, so it goes with the last of them, whatever number of
// workers comes and goes.
type life struct {
	mu         sync.Mutex
	version    uint64
	registered bool // somebody has ever been
	stays      map[WorkerRank]*stay
	workers    map[string]*worker
}

// stay is one incarnation's time on one rank.
type stay struct {
	incarnation string
	over        bool
	cleared     uint64 // the version at which claims last ended
	evicted     uint64 // the version at which blocks last went, be it one or all
}

// worker has an open incarnation, or a rank that has.
type worker struct {
	open        bool
	incarnation string           // of all ranks but those below, if open
	ranks       map[uint32]*stay // a rank that left an open worker is here, and over
}

func newLife() life { return life{stays: map[WorkerRank]*stay{}, workers: map[string]*worker{}} }

// admit returns the stay under which an event is admitted, and its stamp; no stay if the
// incarnation is not the rank's open one.
//
// As long as nobody has ever been registered, there is no lifecycle: events come without
// an incarnation, and every rank is open to them.
func (l *life) admit(at WorkerRank, incarnation string) (s *stay, stamp uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if incarnation == "" && l.registered {
		return nil, 0
	}
	s = l.stays[at]
	if s == nil {
		s = l.arrive(at, incarnation)
	}
	if s == nil || s.incarnation != incarnation {
		return nil, 0
	}
	return s, l.version
}

// arrive begins the stay of a rank that was not seen before, if its worker is open.
func (l *life) arrive(at WorkerRank, incarnation string) *stay {
	w := l.workers[at.Worker]
	switch {
	case w == nil && incarnation == "":
		w = l.worker(at.Worker)
	case w == nil || !w.open && incarnation != "" || w.ranks[at.Rank] != nil:
		return nil
	}
	return l.begin(w, at, w.incarnation)
}

func (l *life) worker(name string) *worker {
	w := l.workers[name]
	if w == nil {
		w = &worker{ranks: map[uint32]*stay{}}
		l.workers[strings.Clone(name)] = w
	}
	return w
}

func (l *life) begin(w *worker, at WorkerRank, incarnation string) *stay {
	at.Worker = strings.Clone(at.Worker)
	s := &stay{incarnation: incarnation}
	l.stays[at], w.ranks[at.Rank] = s, s
	return s
}

// verdict is what has become of an admitted event.
type verdict uint8

const (
	fresh    verdict = iota
	doubtful         // blocks have gone since it was admitted
	late             // claims have ended since, or the incarnation has
)

// judge says what has become of an event, and the version at which that is so.
func (l *life) judge(s *stay, stamp uint64, isMatch bool) (v verdict, version uint64) {
	if s == nil {
		return late, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s.over, !isMatch && s.cleared > stamp:
		return late, l.version
	case isMatch && s.evicted > stamp:
		return doubtful, l.version
	}
	return fresh, l.version
}

// evict notes that the rank loses blocks.
func (l *life) evict(at WorkerRank) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	if s := l.stays[at]; s != nil { // else no ticket has been admitted that could be applied
		s.evicted = l.version
	}
}

// clear notes that all claims on the rank end.
func (l *life) clear(at WorkerRank) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	if s := l.stays[at]; s != nil {
		s.cleared, s.evicted = l.version, l.version
	}
}

// retire ends the open incarnations of a member and returns how many ranks it visited.
func (l *life) retire(m Member) (visited int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	w := l.workers[m.Worker]
	if w == nil {
		return 1
	}
	if m.Rank == nil {
		for rank, s := range w.ranks {
			s.over = true
			delete(l.stays, WorkerRank{m.Worker, rank})
			visited++
		}
		delete(l.workers, m.Worker)
		return visited
	}
	at := WorkerRank{m.Worker, *m.Rank}
	s := w.ranks[at.Rank]
	if s == nil {
		s = &stay{}
	}
	s.over = true
	delete(l.stays, at)
	if w.open {
		w.ranks[at.Rank] = s
		return 1
	}
	delete(w.ranks, at.Rank)
	if len(w.ranks) == 0 {
		delete(l.workers, m.Worker)
	}
	return 1
}

// isOpen says whether a member has an open incarnation, or a part of it.
func (l *life) isOpen(m Member) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[m.Worker]
	switch {
	case w == nil:
		return false
	case m.Rank == nil:
		return true
	}
	s := w.ranks[*m.Rank]
	return s == nil && w.open || s != nil && !s.over
}

// open opens an incarnation of a member that has none, and says whether it could.
func (l *life) open(m Member, incarnation string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.registered = true
	l.version++
	incarnation = strings.Clone(incarnation)
	if m.Rank == nil {
		if l.workers[m.Worker] != nil {
			return false
		}
		w := l.worker(m.Worker)
		w.open, w.incarnation = true, incarnation
		return true
	}
	w := l.worker(m.Worker)
	if s := w.ranks[*m.Rank]; s == nil && w.open || s != nil && !s.over {
		return false
	}
	l.begin(w, WorkerRank{m.Worker, *m.Rank}, incarnation)
	return true
}
