package discovery

import (
	"slices"
	"sync"
)

// Static is a worker set that is replaced as a whole while others read it. It
// is safe for concurrent use.
type Static struct {
	mu      sync.Mutex
	workers []Worker
	changed chan struct{}
}

// NewStatic makes a set of the given workers, or returns Validate's error.
func NewStatic(workers ...Worker) (*Static, error) {
	s := &Static{changed: make(chan struct{})}
	if err := s.Set(workers); err != nil {
		return nil, err
	}
	return s, nil
}

// Set replaces the whole set. An invalid set is refused with Validate's error,
// and the old one stays.
func (s *Static) Set(workers []Worker) error {
	if err := Validate(workers); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers = clone(workers)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Snapshot returns the set in the order in which it was given. The caller owns it.
func (s *Static) Snapshot() []Worker {
	workers, _ := s.Watch()
	return workers
}

// Watch returns the set and a channel that is closed when it has been replaced.
// Whoever calls Watch again after that misses no last state.
func (s *Static) Watch() ([]Worker, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.workers), s.changed
}

func clone(workers []Worker) []Worker {
	out := slices.Clone(workers)
	for i := range out {
		out[i].Models = slices.Clone(out[i].Models)
	}
	return out
}
