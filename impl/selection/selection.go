// Package selection picks one worker out of several. It knows identities and
// loads, and nothing of HTTP, sessions or prefixes. Every policy is safe for
// concurrent use and takes its randomness from a given seed, so that a run can
// be repeated.
package selection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// Candidate is a worker that may be picked, or one data-parallel rank of it.
type Candidate struct {
	ID       string // the worker's, stable over its life
	Rank     int    // 0 where the worker has only one
	InFlight int    // requests dispatched to the rank and not over, never negative
}

// Policy picks a candidate.
type Policy interface {
	// Pick returns an index into candidates, or -1 if there are none. It keeps
	// no reference to the slice, which the caller may reuse.
	Pick(candidates []Candidate) int
	// Peek returns what Pick would, and leaves no trace: the next Pick is what it
	// would have been.
	Peek(candidates []Candidate) int
}

// Names of the policies, as ByName knows them.
const (
	NameRoundRobin  = "round-robin"
	NameRandom      = "random"
	NamePowerOfTwo  = "power-of-two"
	NameLeastLoaded = "least-loaded"
)

// Names lists the policies that ByName knows.
func Names() []string {
	return []string{NameRoundRobin, NameRandom, NamePowerOfTwo, NameLeastLoaded}
}

// ByName makes the named policy. The seed feeds its random choices; round robin
// makes none. An unknown name is an error that lists the known ones.
func ByName(name string, seed uint64) (Policy, error) {
	switch name {
	case NameRoundRobin:
		return NewRoundRobin(), nil
	case NameRandom:
		return NewRandom(seed), nil
	case NamePowerOfTwo:
		return NewPowerOfTwo(seed), nil
	case NameLeastLoaded:
		return NewLeastLoaded(seed), nil
	}
	return nil, fmt.Errorf("selection policy %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
}

// source is a seeded generator behind a lock.
type source struct {
	mu  sync.Mutex
	pcg *rand.PCG
	rng *rand.Rand // on pcg; under the lock
}

// stream separates this package's numbers from other users of the same seed.
const stream = 0x73656c656374696f

func newSource(seed uint64) source {
	pcg := rand.NewPCG(seed, stream)
	return source{pcg: pcg, rng: rand.New(pcg)}
}

// ahead returns a generator that says what the source's will say next.
func (s *source) ahead() *rand.Rand {
	s.mu.Lock()
	defer s.mu.Unlock()
	pcg := *s.pcg
	return rand.New(&pcg)
}
