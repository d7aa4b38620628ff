package sessionindex

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
)

// around is an index of which one thing is otherwise.
type around struct {
	Indexer
	store  func(Store) Ticket
	match  func(Match) Ticket
	retire func(Member) Removal
	reads  func(string) []Frontier
}

func (a around) AdmitStore(s Store) Ticket {
	if a.store == nil {
		return a.Indexer.AdmitStore(s)
	}
	return a.store(s)
}

func (a around) AdmitMatch(m Match) Ticket {
	if a.match == nil {
		return a.Indexer.AdmitMatch(m)
	}
	return a.match(m)
}

func (a around) BeginRemoval(m Member) Removal {
	if a.retire == nil {
		return a.Indexer.BeginRemoval(m)
	}
	return a.retire(m)
}

func (a around) Frontiers(session string) []Frontier {
	if a.reads == nil {
		return a.Indexer.Frontiers(session)
	}
	return a.reads(session)
}

// grips are made of a function.
type grips func(context.Context) (Result, error)

func (g grips) Apply(ctx context.Context, _ uint64) (Result, error) { return g(ctx) }

// The judge of crowds can tell: each of these is wrong in a way that nobody sees who asks
// alone, or nobody who sees only what is left at the end.
func TestACrowdFindsWhatIsWrong(t *testing.T) {
	rounds, seed := uint64(4000), rand.Uint64()
	for name, wrong := range map[string]func(Indexer) Indexer{
		"a store is as new as its application": func(x Indexer) Indexer {
			return around{Indexer: x, store: func(s Store) Ticket {
				return Ticket{Grip: grips(func(ctx context.Context) (Result, error) { return x.AdmitStore(s).Apply(ctx) })}
			}}
		},
		"a match is as new as its application": func(x Indexer) Indexer {
			return around{Indexer: x, match: func(m Match) Ticket {
				return Ticket{Grip: grips(func(ctx context.Context) (Result, error) { return x.AdmitMatch(m).Apply(ctx) })}
			}}
		},
		"a chain is stored a block at a time": func(x Indexer) Indexer {
			return around{Indexer: x, store: func(s Store) Ticket {
				if len(s.Blocks) < 2 || s.Blocks[0] == s.Blocks[1] || s.Parent == Under(s.Blocks[1]) {
					return x.AdmitStore(s)
				}
				first, second := s, s
				first.Blocks, second.Blocks, second.Parent = s.Blocks[:1], s.Blocks[1:], Under(s.Blocks[0])
				one, two := x.AdmitStore(first), x.AdmitStore(second)
				return Ticket{Grip: grips(func(ctx context.Context) (Result, error) {
					r, err := one.Apply(ctx)
					if err != nil || r.Discarded {
						return r, err
					}
					runtime.Gosched()
					then, err := two.Apply(ctx)
					return Result{Changed: r.Changed || then.Changed}, err
				})}
			}}
		},
		"a worker goes a rank at a time": func(x Indexer) Indexer {
			return around{Indexer: x, retire: func(m Member) Removal {
				for rank := range uint32(2) {
					_, _ = x.BeginRemoval(Member{m.Worker, &rank}).Await(context.Background())
					runtime.Gosched()
				}
				return x.BeginRemoval(m)
			}}
		},
		"a worker's claims end when its removal is awaited": func(x Indexer) Indexer {
			return around{Indexer: x, retire: func(m Member) Removal {
				return Removal{ends(func(ctx context.Context) (int, error) { return x.BeginRemoval(m).Await(ctx) })}
			}}
		},
		"a session is read a rank at a time": func(x Indexer) Indexer {
			return around{Indexer: x, reads: func(session string) (all []Frontier) {
				for _, at := range []WorkerRank{smallRanks[2], smallRanks[0], smallRanks[1]} {
					for _, f := range x.Frontiers(session) {
						if f.At == at {
							all = append(all, f)
						}
					}
					runtime.Gosched()
				}
				return all
			}}
		},
		"a session is read as it was when it was last asked for": func(x Indexer) Indexer {
			var mu sync.Mutex
			last := map[string][]Frontier{}
			return around{Indexer: x, reads: func(session string) []Frontier {
				mu.Lock()
				defer mu.Unlock()
				was, ok := last[session]
				if last[session] = x.Frontiers(session); !ok {
					return last[session]
				}
				return was
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for round := range rounds {
				switch got := crowded(t, wrong, seed, round); got {
				case porcupine.Illegal:
					t.Logf("found in round %d", round)
					return
				case porcupine.Unknown:
					t.Fatalf("seed %d, round %d: undecided", seed, round)
				}
			}
			t.Errorf("seed %d: not found in %d rounds", seed, rounds)
		})
	}
}

type ends func(context.Context) (int, error)

func (e ends) Await(ctx context.Context) (int, error) { return e(ctx) }
