package mutants

import (
	"context"
	"errors"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// believing is a physical index that says something else.
type believing struct {
	sessionindex.Physical
	holds   func(bool) bool
	barrier func(error) error
}

func (p believing) Holds(ctx context.Context, at rank, b hash) (bool, error) {
	holds, err := p.Physical.Holds(ctx, at, b)
	if p.holds != nil {
		holds = p.holds(holds)
	}
	return holds, err
}

func (p believing) Barrier(ctx context.Context, m ...sessionindex.Member) error {
	err := p.Physical.Barrier(ctx, m...)
	if p.barrier != nil {
		err = p.barrier(err)
	}
	return err
}

// SPXStaleMatch believes stale matches.
func (Catalogue) SPXStaleMatch() Mutant {
	return upon("spx/stale-matches", "a match counts although its rank has lost blocks since", func(p sessionindex.Physical) sessionindex.Physical {
		return believing{Physical: p, holds: func(bool) bool { return true }}
	}, "SPX-025/back", "SPX-025/gone", "SPX-025/version")
}

// SPXStaleNever believes none.
func (Catalogue) SPXStaleNever() Mutant {
	return upon("spx/stale-is-lost", "a match is discarded if its rank has lost blocks since, although it holds this one", func(p sessionindex.Physical) sessionindex.Physical {
		return believing{Physical: p, holds: func(bool) bool { return false }}
	}, "SPX-025/back")
}

// SPXAlwaysAsks asks about every match.
func (Catalogue) SPXAlwaysAsks() Mutant {
	return index("spx/asks-always", "a match counts only if the physical index holds its block, lost blocks or not", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(cfg, clock, physical)
		if err != nil {
			return nil, err
		}
		return events{Indexer: x, match: func(m sessionindex.Match) sessionindex.Ticket {
			t := x.AdmitMatch(m)
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				if holds, err := physical.Holds(ctx, m.At, m.Block); err != nil || !holds {
					return discards.Apply(ctx)
				}
				return t.Apply(ctx)
			})}
		}}, nil
	}, "SPX-010/first", "SPX-021/match", "SPX-025/fresh", "SPX-025/retired")
}

// SPXOneVersion has one version for all ranks.
func (Catalogue) SPXOneVersion() Mutant {
	return index("spx/one-version", "an eviction on any rank makes the matches of all ranks doubtful", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(cfg, clock, physical)
		if err != nil {
			return nil, err
		}
		evictions := 0
		return events{
			Indexer: x,
			match: func(m sessionindex.Match) sessionindex.Ticket {
				t, version := x.AdmitMatch(m), evictions
				return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
					if holds, err := physical.Holds(ctx, m.At, m.Block); evictions != version && (err != nil || !holds) {
						return discards.Apply(ctx)
					}
					return t.Apply(ctx)
				})}
			},
			remove: func(ctx context.Context, at rank, b []hash) (int, error) { evictions++; return x.Remove(ctx, at, b) },
		}, nil
	}, "SPX-025/fresh", "SPX-025/gone", "SPX-025/version")
}

// SPXAcknowledges says yes to everything.
func (Catalogue) SPXAcknowledges() Mutant {
	return upon("spx/acknowledges", "waiting for the physical index that fails is taken for done", func(p sessionindex.Physical) sessionindex.Physical {
		return believing{Physical: p, barrier: func(error) error { return nil }}
	}, "SPX-026/await", "SPX-026/flush", "SPX-026/removal")
}

// SPXGivesUp cannot finish what has failed once.
func (Catalogue) SPXGivesUp() Mutant {
	return upon("spx/fails-for-ever", "waiting for the physical index fails for ever once it has failed", func(p sessionindex.Physical) sessionindex.Physical {
		var failed error
		return believing{Physical: p, barrier: func(err error) error {
			if failed == nil {
				failed = err
			}
			return failed
		}}
	}, "SPX-026/await", "SPX-026/flush", "SPX-026/removal")
}

// SPXLowerFirst clears what is below first.
func (Catalogue) SPXLowerFirst() Mutant {
	return index("spx/lower-tier-first", "where the lower tiers cannot be cleared the claims are kept", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(cfg, clock, physical)
		if err != nil {
			return nil, err
		}
		return events{
			Indexer: x,
			clear: func(ctx context.Context, at rank) (int, error) {
				if err := physical.ClearLowerTiers(ctx, sessionindex.Member{Worker: at.Worker, Rank: &at.Rank}); err != nil {
					return 0, err
				}
				return x.Clear(ctx, at)
			},
			begin: func(m sessionindex.Member) sessionindex.Removal {
				if err := physical.ClearLowerTiers(context.Background(), m); err != nil {
					return sessionindex.Removal{Grip: awaits(func(ctx context.Context) (int, error) { return 0, err })}
				}
				return x.BeginRemoval(m)
			},
		}, nil
	}, "SPX-027/clear", "SPX-027/removal")
}

// SPXLowerQuiet keeps the failure to itself.
func (Catalogue) SPXLowerQuiet() Mutant {
	return indexed("spx/lower-tier-quietly", "a failure to clear the lower tiers is not said", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, clear: func(ctx context.Context, at rank) (int, error) {
			dropped, err := x.Clear(ctx, at)
			if err != nil && !errors.Is(err, context.Canceled) {
				err = nil
			}
			return dropped, err
		}}
	}, "SPX-027/clear")
}
