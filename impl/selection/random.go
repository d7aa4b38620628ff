package selection

// Random picks uniformly.
type Random struct{ src source }

// NewRandom makes a Random on the given seed.
func NewRandom(seed uint64) *Random { return &Random{src: newSource(seed)} }

// Pick implements Policy.
func (p *Random) Pick(candidates []Candidate) int {
	if len(candidates) == 0 {
		return -1
	}
	p.src.mu.Lock()
	defer p.src.mu.Unlock()
	return p.src.rng.IntN(len(candidates))
}

// PowerOfTwo draws two different candidates uniformly and picks the one with
// fewer requests in flight; of equals the first drawn, which is uniform.
type PowerOfTwo struct{ src source }

// NewPowerOfTwo makes a PowerOfTwo on the given seed.
func NewPowerOfTwo(seed uint64) *PowerOfTwo { return &PowerOfTwo{src: newSource(seed)} }

// Pick implements Policy.
func (p *PowerOfTwo) Pick(candidates []Candidate) int {
	n := len(candidates)
	if n < 2 {
		return n - 1
	}
	p.src.mu.Lock()
	first := p.src.rng.IntN(n)
	second := p.src.rng.IntN(n - 1)
	p.src.mu.Unlock()
	if second >= first {
		second++
	}
	if candidates[second].InFlight < candidates[first].InFlight {
		return second
	}
	return first
}
