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

// Candidate is a worker that may be picked.
type Candidate struct {
	ID       string // stable over the worker's life
	InFlight int    // requests dispatched to it and not over, never negative
}

// Policy picks a candidate.
type Policy interface {
	// Pick returns an index into candidates, or -1 if there are none. It keeps
	// no reference to the slice, which the caller may reuse.
	Pick(candidates []Candidate) int
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
	rng *rand.Rand
}

// stream separates this package's numbers from other users of the same seed.
const stream = 0x73656c656374696f

func newSource(seed uint64) source {
	return source{rng: rand.New(rand.NewPCG(seed, stream))}
}
