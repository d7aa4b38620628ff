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
	last map[seat]uint64 // -> turn of its latest pick
}

// seat is a rank of a worker.
type seat struct {
	id   string
	rank int
}

// NewRoundRobin makes a RoundRobin that has picked nobody yet.
func NewRoundRobin() *RoundRobin {
	return &RoundRobin{last: make(map[seat]uint64)}
}

// Pick implements Policy.
func (p *RoundRobin) Pick(candidates []Candidate) int {
	if len(candidates) == 0 {
		return -1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	best := p.longest(candidates)
	p.turn++
	p.last[seat{candidates[best].ID, candidates[best].Rank}] = p.turn
	if len(p.last) > 4*len(candidates)+1024 {
		p.forget(len(p.last) / 2)
	}
	return best
}

// Peek implements Policy.
func (p *RoundRobin) Peek(candidates []Candidate) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.longest(candidates)
}

// longest returns whose last turn is the longest ago, or -1; the lock is held.
func (p *RoundRobin) longest(candidates []Candidate) int {
	best, bestTurn := -1, uint64(0)
	for i := range candidates {
		if t := p.last[seat{candidates[i].ID, candidates[i].Rank}]; best < 0 || t < bestTurn {
			best, bestTurn = i, t
		}
	}
	return best
}

// forget drops those whose turn is further back than the latest n turns, so
// that those that never return cost no memory for ever.
func (p *RoundRobin) forget(n int) {
	for s, t := range p.last {
		if t+uint64(n) < p.turn {
			delete(p.last, s)
		}
	}
}
