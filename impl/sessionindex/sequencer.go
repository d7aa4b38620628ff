package sessionindex

import (
	"strings"
	"sync"
)

// Sequencer lets the physical index and the session index see a rank's events in one
// order: who tells both does so within Do. The zero value is ready. It keeps nothing of
// workers that nobody is about.
type Sequencer struct {
	mu      sync.Mutex
	workers map[string]*sequenced
}

// sequenced is a worker that somebody is about: a rank's caller shares it, a caller for
// the whole worker has it alone.
type sequenced struct {
	users int
	all   sync.RWMutex
	ranks map[uint32]*sequencedRank
}

type sequencedRank struct {
	users int
	mu    sync.Mutex
}

// Do runs f while nobody else is within Do for the same rank; for a whole worker, for
// any rank of it. f must not call Do.
func (s *Sequencer) Do(m Member, f func()) {
	w, r := s.enter(m)
	defer s.leave(m, w, r)
	if r == nil {
		w.all.Lock()
		defer w.all.Unlock()
	} else {
		w.all.RLock()
		defer w.all.RUnlock()
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	f()
}

func (s *Sequencer) enter(m Member) (w *sequenced, r *sequencedRank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers == nil {
		s.workers = map[string]*sequenced{}
	}
	if w = s.workers[m.Worker]; w == nil {
		w = &sequenced{ranks: map[uint32]*sequencedRank{}}
		s.workers[strings.Clone(m.Worker)] = w
	}
	w.users++
	if m.Rank == nil {
		return w, nil
	}
	if r = w.ranks[*m.Rank]; r == nil {
		r = new(sequencedRank)
		w.ranks[*m.Rank] = r
	}
	r.users++
	return w, r
}

func (s *Sequencer) leave(m Member, w *sequenced, r *sequencedRank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r != nil {
		if r.users--; r.users == 0 {
			delete(w.ranks, *m.Rank)
		}
	}
	if w.users--; w.users == 0 {
		delete(s.workers, m.Worker)
	}
}
