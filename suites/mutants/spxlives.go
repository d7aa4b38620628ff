package mutants

import (
	"context"
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// discards is a ticket that comes to nothing, without anybody's knowledge.
var discards = sessionindex.Ticket{Grip: applies(func(context.Context) (sessionindex.Result, error) {
	return sessionindex.Result{Discarded: true}, nil
})}

// eventsLate makes an index that takes events in when they are applied.
func eventsLate(x sessionindex.Indexer, changes func(at rank, incarnation string) string) events {
	return events{
		Indexer: x,
		store: func(s sessionindex.Store) sessionindex.Ticket {
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				s.Incarnation = changes(s.At, s.Incarnation)
				return x.AdmitStore(s).Apply(ctx)
			})}
		},
		match: func(m sessionindex.Match) sessionindex.Ticket {
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				m.Incarnation = changes(m.At, m.Incarnation)
				return x.AdmitMatch(m).Apply(ctx)
			})}
		},
	}
}

// registers is an index that registers in its own way.
type registers struct {
	events
	register func(context.Context, sessionindex.Member, string) error
}

func (r registers) Register(ctx context.Context, m sessionindex.Member, incarnation string) error {
	return r.register(ctx, m, incarnation)
}

// SPXLawless knows no lives.
func (Catalogue) SPXLawless() Mutant {
	return indexed("spx/no-lives", "registrations and incarnations are ignored: whoever reports is heard", func(x sessionindex.Indexer) sessionindex.Indexer {
		return registers{eventsLate(x, func(rank, string) string { return "" }), func(context.Context, sessionindex.Member, string) error { return nil }}
	}, "SPX-021/match", "SPX-021/rank", "SPX-022/next", "SPX-025/retired")
}

// SPXStampedLate stamps when it applies.
func (Catalogue) SPXStampedLate() Mutant {
	return indexed("spx/stamped-late", "an event is as new as the moment at which it is applied", func(x sessionindex.Indexer) sessionindex.Indexer {
		return eventsLate(x, func(_ rank, incarnation string) string { return incarnation })
	}, "SPX-023/twice", "SPX-025/back", "SPX-025/version", "SPX-027/clear")
}

// following makes an index whose events come under what is open when they are applied.
func following(id, fault string, takes func(e *events, from events), killedBy ...string) Mutant {
	return indexed(id, fault, func(x sessionindex.Indexer) sessionindex.Indexer {
		open := map[string]string{}
		key := func(m sessionindex.Member) string {
			if m.Rank == nil {
				return m.Worker
			}
			return fmt.Sprint(m.Worker, " ", *m.Rank)
		}
		all := eventsLate(x, func(at rank, incarnation string) string {
			if own, ok := open[fmt.Sprint(at.Worker, " ", at.Rank)]; ok {
				return own
			}
			if whole, ok := open[at.Worker]; ok {
				return whole
			}
			return incarnation
		})
		e := events{Indexer: x}
		takes(&e, all)
		return registers{e, func(ctx context.Context, m sessionindex.Member, incarnation string) error {
			open[key(m)] = incarnation
			return x.Register(ctx, m, incarnation)
		}}
	}, killedBy...)
}

// SPXStoreFollows lets stores join the next life.
func (Catalogue) SPXStoreFollows() Mutant {
	return following("spx/stores-outlive", "a store counts under whatever incarnation is open when it is applied", func(e *events, from events) { e.store = from.store }, "SPX-020/nobody", "SPX-022/between", "SPX-022/lives", "SPX-022/next")
}

// SPXMatchFollows lets matches join the next life.
func (Catalogue) SPXMatchFollows() Mutant {
	return following("spx/matches-outlive", "a match counts under whatever incarnation is open when it is applied", func(e *events, from events) { e.match = from.match }, "SPX-021/match", "SPX-025/back", "SPX-025/retired", "SPX-025/version")
}

// SPXAnyName takes any name that its worker ever had open on any rank.
func (Catalogue) SPXAnyName() Mutant {
	return indexed("spx/name-of-another-rank", "an incarnation of one rank is good for all ranks of its worker", func(x sessionindex.Indexer) sessionindex.Indexer {
		names := map[string]map[string]sessionindex.Member{} // by worker
		change := func(at rank, incarnation string) string {
			if _, ok := names[at.Worker][incarnation]; !ok {
				return incarnation
			}
			for name, m := range names[at.Worker] {
				if m.Rank != nil && *m.Rank == at.Rank {
					return name
				}
			}
			for name, m := range names[at.Worker] {
				if m.Rank == nil {
					return name
				}
			}
			return incarnation
		}
		return registers{eventsLate(x, change), func(ctx context.Context, m sessionindex.Member, incarnation string) error {
			if names[m.Worker] == nil || m.Rank == nil {
				names[m.Worker] = map[string]sessionindex.Member{}
			}
			names[m.Worker][incarnation] = m
			return x.Register(ctx, m, incarnation)
		}}
	}, "SPX-020/rank", "SPX-020/ranks", "SPX-023/twice", "SPX-025/back")
}

// SPXRestarts counts lives with a small counter.
func (Catalogue) SPXRestarts() Mutant {
	return indexed("spx/versions-restart", "lives are told apart by a count that begins again when eight have ended", func(x sessionindex.Indexer) sessionindex.Indexer {
		lives, open := map[string]int{}, map[string]string{}
		e := events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
			t, version := x.AdmitStore(s), lives[s.At.Worker]%8
			if s.Incarnation != open[s.At.Worker] {
				return t
			}
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				if lives[s.At.Worker]%8 == version && s.Incarnation != open[s.At.Worker] {
					s.Incarnation = open[s.At.Worker]
					return x.AdmitStore(s).Apply(ctx)
				}
				return t.Apply(ctx)
			})}
		}}
		return registers{e, func(ctx context.Context, m sessionindex.Member, incarnation string) error {
			if m.Rank == nil {
				lives[m.Worker]++
				open[m.Worker] = incarnation
			}
			return x.Register(ctx, m, incarnation)
		}}
	}, "SPX-022/lives")
}

// SPXRemovedLate retires when the removal is awaited.
func (Catalogue) SPXRemovedLate() Mutant {
	return indexed("spx/retires-late", "a removal takes effect when it is awaited, not when it begins", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, begin: func(m sessionindex.Member) sessionindex.Removal {
			var begun *sessionindex.Removal
			return sessionindex.Removal{Grip: awaits(func(ctx context.Context) (int, error) {
				if begun == nil {
					r := x.BeginRemoval(m)
					begun = &r
				}
				return begun.Await(ctx)
			})}
		}}
	}, "SPX-021/worker", "SPX-022/between")
}

// SPXSweeps clears again when the removal is awaited.
func (Catalogue) SPXSweeps() Mutant {
	return indexed("spx/sweeps-the-next", "when a removal is awaited whatever the worker has by then is swept away", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, begin: func(m sessionindex.Member) sessionindex.Removal {
			r := x.BeginRemoval(m)
			return sessionindex.Removal{Grip: awaits(func(ctx context.Context) (int, error) {
				dropped, err := r.Await(ctx)
				for _, at := range ranksOf(x, m.Worker) {
					if m.Rank == nil || *m.Rank == at.Rank {
						_, _ = x.Clear(ctx, at)
					}
				}
				return dropped, err
			})}
		}}
	}, "SPX-022/between")
}

// SPXRemovesWorker removes too much.
func (Catalogue) SPXRemovesWorker() Mutant {
	return indexed("spx/removes-siblings", "the removal of a rank removes its worker", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, begin: func(m sessionindex.Member) sessionindex.Removal {
			m.Rank = nil
			return x.BeginRemoval(m)
		}}
	}, "SPX-020/rank", "SPX-021/rank", "SPX-026/await", "SPX-027/removal")
}

// SPXMissesRank removes too little.
func (Catalogue) SPXMissesRank() Mutant {
	return indexed("spx/misses-a-rank", "the removal of a worker leaves the claims on its highest rank", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, begin: func(m sessionindex.Member) sessionindex.Removal {
			all := ranksOf(x, m.Worker)
			if m.Rank != nil || len(all) < 2 {
				return x.BeginRemoval(m)
			}
			top := all[0]
			for _, at := range all {
				if at.Rank > top.Rank {
					top = at
				}
			}
			var kept []sessionindex.Match
			for _, s := range x.Dump().Sessions {
				for _, f := range s.Frontiers {
					if f.At == top {
						kept = append(kept, sessionindex.Match{Session: s.ID, At: top, Block: f.Block, Incarnation: "kept"})
					}
				}
			}
			r := x.BeginRemoval(m)
			return sessionindex.Removal{Grip: awaits(func(ctx context.Context) (int, error) {
				dropped, err := r.Await(ctx)
				rank := top.Rank
				_ = x.Register(ctx, sessionindex.Member{Worker: m.Worker, Rank: &rank}, "kept")
				for _, k := range kept {
					_, _ = x.AdmitMatch(k).Apply(ctx)
				}
				return dropped - len(kept), err
			})}
		}}
	}, "SPX-020/rank", "SPX-020/worker")
}

// SPXHitsAnother removes by the beginning of a name.
func (Catalogue) SPXHitsAnother() Mutant {
	return indexed("spx/removes-namesakes", "the removal of a worker ends the claims of all workers whose names begin alike", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, begin: func(m sessionindex.Member) sessionindex.Removal {
			for _, s := range x.Dump().Sessions {
				for _, f := range s.Frontiers {
					if m.Rank == nil && f.At.Worker != m.Worker && strings.HasPrefix(f.At.Worker, m.Worker[:1]) {
						_, _ = x.Clear(context.Background(), f.At)
					}
				}
			}
			return x.BeginRemoval(m)
		}}
	}, "SPX-020/no-trace", "SPX-020/rank", "SPX-020/worker", "SPX-027/removal")
}

// SPXKeepsFormer registers over what is open.
func (Catalogue) SPXKeepsFormer() Mutant {
	return indexed("spx/keeps-the-former", "what a worker has stays when it is registered anew", func(x sessionindex.Indexer) sessionindex.Indexer {
		return registers{events{Indexer: x}, func(ctx context.Context, m sessionindex.Member, incarnation string) error {
			var kept []sessionindex.Match
			for _, s := range x.Dump().Sessions {
				for _, f := range s.Frontiers {
					if covers(m, f.At) {
						kept = append(kept, sessionindex.Match{Session: s.ID, At: f.At, Block: f.Block, Incarnation: incarnation})
					}
				}
			}
			err := x.Register(ctx, m, incarnation)
			for _, k := range kept {
				_, _ = x.AdmitMatch(k).Apply(ctx)
			}
			return err
		}}
	}, "SPX-020/ranks", "SPX-020/replaced")
}

// SPXUncounted does not count.
func (Catalogue) SPXUncounted() Mutant {
	return indexed("spx/discards-quietly", "what is discarded is not counted", func(x sessionindex.Indexer) sessionindex.Indexer { return quiet{x} }, "SPX-021/match", "SPX-021/worker", "SPX-022/lives", "SPX-022/next")
}

type quiet struct{ sessionindex.Indexer }

func (quiet) Discarded() uint64 { return 0 }

// SPXDiscardKnows keeps the blocks of what it discards.
func (Catalogue) SPXDiscardKnows() Mutant {
	return indexed("spx/discarded-blocks-stay", "the blocks of a discarded store are known afterwards", func(x sessionindex.Indexer) sessionindex.Indexer {
		made := false
		return events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
			t := x.AdmitStore(s)
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				r, err := t.Apply(ctx)
				if r.Discarded {
					if !made {
						made = true
						_ = x.Register(ctx, sessionindex.Member{Worker: "nobody"}, "nobody's")
					}
					s.At, s.Incarnation, s.Session = rank{Worker: "nobody"}, "nobody's", "nobody's"
					_, _ = x.AdmitStore(s).Apply(ctx)
					_, _ = x.Clear(ctx, s.At)
				}
				return r, err
			})}
		}}
	}, "SPX-020/no-trace", "SPX-021/worker", "SPX-022/lives", "SPX-022/next", "SPX-023/cleared")
}

// SPXEvictionBars discards good stores.
func (Catalogue) SPXEvictionBars() Mutant {
	return indexed("spx/evictions-discard", "a store that was taken in before an eviction of its rank is discarded", func(x sessionindex.Indexer) sessionindex.Indexer {
		evictions := map[rank]int{}
		return events{
			Indexer: x,
			store: func(s sessionindex.Store) sessionindex.Ticket {
				t, version := x.AdmitStore(s), evictions[s.At]
				return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
					if evictions[s.At] != version {
						return discards.Apply(ctx)
					}
					return t.Apply(ctx)
				})}
			},
			remove: func(ctx context.Context, at rank, b []hash) (int, error) {
				evictions[at]++
				return x.Remove(ctx, at, b)
			},
		}
	}, "SPX-024/orders", "SPX-024/stored")
}

// SPXClearSkips takes the next store along.
func (Catalogue) SPXClearSkips() Mutant {
	return indexed("spx/clear-takes-the-next", "a clear discards the next store of its rank as well", func(x sessionindex.Indexer) sessionindex.Indexer {
		cleared := map[rank]bool{}
		return events{
			Indexer: x,
			store: func(s sessionindex.Store) sessionindex.Ticket {
				if cleared[s.At] {
					delete(cleared, s.At)
					return discards
				}
				return x.AdmitStore(s)
			},
			clear: func(ctx context.Context, at rank) (int, error) { cleared[at] = true; return x.Clear(ctx, at) },
		}
	}, "SPX-012/rank", "SPX-016/empty", "SPX-017/places", "SPX-023/twice")
}

// SPXClearRetires ends incarnations.
func (Catalogue) SPXClearRetires() Mutant {
	return indexed("spx/clear-retires", "a clear ends the incarnation of its rank", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, clear: func(ctx context.Context, at rank) (int, error) {
			return x.BeginRemoval(sessionindex.Member{Worker: at.Worker, Rank: &at.Rank}).Await(ctx)
		}}
	}, "SPX-012/rank", "SPX-016/empty", "SPX-023/twice", "SPX-026/flush")
}

// SPXClearIdle looks whether there is anything to clear.
func (Catalogue) SPXClearIdle() Mutant {
	return indexed("spx/clear-of-nothing", "a clear of a rank without claims divides nothing", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, clear: func(ctx context.Context, at rank) (int, error) {
			for _, other := range ranksOf(x, at.Worker) {
				if other == at {
					return x.Clear(ctx, at)
				}
			}
			return 0, nil
		}}
	}, "SPX-023/twice")
}
