package selection

import "sync"

// RoundRobin picks the candidate whose last turn is the longest ago; those that
// never had one come first, in the order given. For a fixed list that is plain
// rotation. Unlike a cursor modulo the length of the list it stays fair when the
// list changes from call to call, because workers join, fail or serve
// different models: a newcomer gets one turn and then its share, and nobody is
// skipped because somebody else was left out.
type RoundRobin struct {
	mu   sync.Mutex
	turn uint64
	last map[string]uint64 // id -> turn of its latest pick
}

// NewRoundRobin makes a RoundRobin that has picked nobody yet.
func NewRoundRobin() *RoundRobin {
	return &RoundRobin{last: make(map[string]uint64)}
}

// Pick implements Policy.
func (p *RoundRobin) Pick(candidates []Candidate) int {
	if len(candidates) == 0 {
		return -1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	best, bestTurn := -1, uint64(0)
	for i := range candidates {
		if t := p.last[candidates[i].ID]; best < 0 || t < bestTurn {
			best, bestTurn = i, t
		}
	}
	p.turn++
	p.last[candidates[best].ID] = p.turn
	if len(p.last) > 4*len(candidates)+1024 {
		p.forget(len(p.last) / 2)
	}
	return best
}

// forget drops the ids whose turn is further back than the latest n turns, so
// that ids that never return cost no memory for ever.
func (p *RoundRobin) forget(n int) {
	for id, t := range p.last {
		if t+uint64(n) < p.turn {
			delete(p.last, id)
		}
	}
}
