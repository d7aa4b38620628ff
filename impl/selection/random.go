package selection

import "math/rand/v2"

// Random picks uniformly.
type Random struct{ src source }

// NewRandom makes a Random on the given seed.
func NewRandom(seed uint64) *Random { return &Random{src: newSource(seed)} }

// Pick implements Policy.
func (p *Random) Pick(candidates []Candidate) int {
	p.src.mu.Lock()
	defer p.src.mu.Unlock()
	return anyOf(candidates, p.src.rng)
}

// Peek implements Policy.
func (p *Random) Peek(candidates []Candidate) int { return anyOf(candidates, p.src.ahead()) }

func anyOf(candidates []Candidate, r *rand.Rand) int {
	if len(candidates) == 0 {
		return -1
	}
	return r.IntN(len(candidates))
}

// PowerOfTwo draws two different candidates uniformly and picks the one with
// fewer requests in flight; of equals the first drawn, which is uniform.
type PowerOfTwo struct{ src source }

// NewPowerOfTwo makes a PowerOfTwo on the given seed.
func NewPowerOfTwo(seed uint64) *PowerOfTwo { return &PowerOfTwo{src: newSource(seed)} }

// Pick implements Policy.
func (p *PowerOfTwo) Pick(candidates []Candidate) int {
	p.src.mu.Lock()
	defer p.src.mu.Unlock()
	return ofTwo(candidates, p.src.rng)
}

// Peek implements Policy.
func (p *PowerOfTwo) Peek(candidates []Candidate) int { return ofTwo(candidates, p.src.ahead()) }

func ofTwo(candidates []Candidate, r *rand.Rand) int {
	n := len(candidates)
	if n < 2 {
		return n - 1
	}
	first, second := r.IntN(n), r.IntN(n-1)
	if second >= first {
		second++
	}
	if candidates[second].InFlight < candidates[first].InFlight {
		return second
	}
	return first
}
