package selection

import "math/rand/v2"

// LeastLoaded picks the candidate with the fewest requests in flight, and among
// equals uniformly at random, so that sequential requests to an idle fleet
// spread instead of piling up on the first worker of the list.
type LeastLoaded struct{ src source }

// NewLeastLoaded makes a LeastLoaded on the given seed.
func NewLeastLoaded(seed uint64) *LeastLoaded { return &LeastLoaded{src: newSource(seed)} }

// Pick implements Policy.
func (p *LeastLoaded) Pick(candidates []Candidate) int {
	p.src.mu.Lock()
	defer p.src.mu.Unlock()
	return leastOf(candidates, p.src.rng)
}

// Peek implements Policy.
func (p *LeastLoaded) Peek(candidates []Candidate) int { return leastOf(candidates, p.src.ahead()) }

func leastOf(candidates []Candidate, r *rand.Rand) int {
	if len(candidates) == 0 {
		return -1
	}
	least, ties := candidates[0].InFlight, 0
	for i := range candidates {
		switch n := candidates[i].InFlight; {
		case n < least:
			least, ties = n, 1
		case n == least:
			ties++
		}
	}
	skip := r.IntN(ties)
	for i := range candidates {
		if candidates[i].InFlight != least {
			continue
		}
		if skip == 0 {
			return i
		}
		skip--
	}
	return -1
}
