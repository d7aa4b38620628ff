package affinity

import "sync"

// pool keeps one copy of each value that many entries have in common, for as
// long as one of them has it. It is safe for concurrent use.
type pool[T comparable] struct {
	mu     sync.Mutex
	values map[T]*shared[T]
}

// shared is a value of a pool; the value never changes.
type shared[T comparable] struct {
	value T
	users int // under the pool's lock
}

// take returns the pool's copy of v, made by clone if there is none yet.
func (p *pool[T]) take(v T, clone func(T) T) *shared[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.values[v]
	if s == nil {
		if p.values == nil {
			p.values = make(map[T]*shared[T])
		}
		s = &shared[T]{value: clone(v)}
		p.values[s.value] = s
	}
	s.users++
	return s
}

// drop gives back what take returned.
func (p *pool[T]) drop(s *shared[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if s.users == 0 {
		delete(p.values, s.value)
	}
}

// those returns the values in use that f accepts, or nil.
func (p *pool[T]) those(f func(T) bool) (found map[*shared[T]]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for v, s := range p.values {
		if f(v) {
			if found == nil {
				found = make(map[*shared[T]]bool)
			}
			found[s] = true
		}
	}
	return found
}
