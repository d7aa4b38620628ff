package sessionindex

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
)

// swaps lets every other event of a rank overtake the one before it.
type swaps struct {
	*Index
	mu   sync.Mutex
	held map[WorkerRank]func() error
}

func (s *swaps) swap(at WorkerRank, tell func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[at]
	if held == nil {
		s.held[at] = tell
		return nil
	}
	delete(s.held, at)
	if err := tell(); err != nil {
		return err
	}
	return held()
}

func (s *swaps) EnqueueStore(e Store) error {
	return s.swap(e.At, func() error { return s.Index.EnqueueStore(e) })
}

func (s *swaps) EnqueueRemove(at WorkerRank, b []Hash) error {
	return s.swap(at, func() error { return s.Index.EnqueueRemove(at, b) })
}

func (s *swaps) EnqueueClear(at WorkerRank) error {
	return s.swap(at, func() error { return s.Index.EnqueueClear(at) })
}

// hasty does not wait.
type hasty struct{ *Index }

func (hasty) Flush(context.Context) error { return nil }

// torn stores a block at a time.
type torn struct{ *Index }

func (x torn) EnqueueStore(s Store) error {
	for i := range s.Blocks {
		one := s
		if one.Blocks = s.Blocks[i : i+1]; i > 0 {
			one.Parent = Under(s.Blocks[i-1])
		}
		if err := x.Index.EnqueueStore(one); err != nil {
			return err
		}
	}
	return nil
}

// forgetful loses clears.
type forgetful struct{ *Index }

func (forgetful) EnqueueClear(WorkerRank) error { return nil }

func TestTheCrowdOfLanesFindsWhatIsWrong(t *testing.T) {
	rounds, seed := uint64(100), rand.Uint64()
	for name, around := range map[string]func(*Index) laned{
		"events overtake each other": func(x *Index) laned { return &swaps{Index: x, held: map[WorkerRank]func() error{}} },
		"a flush does not wait":      func(x *Index) laned { return hasty{x} },
		"a chain comes in pieces":    func(x *Index) laned { return torn{x} },
		"clears are lost":            func(x *Index) laned { return forgetful{x} },
	} {
		t.Run(name, func(t *testing.T) {
			for round := range rounds {
				if err := laneCrowd(t, around, seed, round); err != nil {
					t.Logf("found in round %d: %.200v", round, err)
					return
				}
			}
			t.Errorf("seed %d: not found in %d rounds", seed, rounds)
		})
	}
}

// lifeless hears whoever says something.
type lifeless struct{ *Index }

func (x lifeless) EnqueueStore(s Store) error {
	s.Incarnation = ""
	return x.Index.EnqueueStore(s)
}

func (lifeless) Register(context.Context, Member, string) error { return nil }

func TestTheGhostHuntFindsGhosts(t *testing.T) {
	if err := ghosts(t, func(x *Index) leaving { return lifeless{x} }); err == nil {
		t.Error("nothing was found")
	}
}
