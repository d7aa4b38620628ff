package mutants

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

var errSmall = errors.New("too small")

// events is an index that takes events in, in its own way. What is nil is as before.
type events struct {
	sessionindex.Indexer
	store  func(sessionindex.Store) sessionindex.Ticket
	match  func(sessionindex.Match) sessionindex.Ticket
	remove func(ctx context.Context, at rank, blocks []hash) (int, error)
	clear  func(ctx context.Context, at rank) (int, error)
	begin  func(sessionindex.Member) sessionindex.Removal
}

func (e events) AdmitStore(s sessionindex.Store) sessionindex.Ticket {
	if e.store == nil {
		return e.Indexer.AdmitStore(s)
	}
	return e.store(s)
}

func (e events) AdmitMatch(m sessionindex.Match) sessionindex.Ticket {
	if e.match == nil {
		return e.Indexer.AdmitMatch(m)
	}
	return e.match(m)
}

func (e events) Remove(ctx context.Context, at rank, blocks []hash) (int, error) {
	if e.remove == nil {
		return e.Indexer.Remove(ctx, at, blocks)
	}
	return e.remove(ctx, at, blocks)
}

func (e events) Clear(ctx context.Context, at rank) (int, error) {
	if e.clear == nil {
		return e.Indexer.Clear(ctx, at)
	}
	return e.clear(ctx, at)
}

func (e events) BeginRemoval(m sessionindex.Member) sessionindex.Removal {
	if e.begin == nil {
		return e.Indexer.BeginRemoval(m)
	}
	return e.begin(m)
}

// applies is a ticket made of a function.
type applies func(context.Context) (sessionindex.Result, error)

func (f applies) Apply(ctx context.Context, _ uint64) (sessionindex.Result, error) { return f(ctx) }

// awaits is a removal made of a function.
type awaits func(context.Context) (int, error)

func (f awaits) Await(ctx context.Context) (int, error) { return f(ctx) }

// ranksOf are the ranks of a worker on which somebody has something.
func ranksOf(x sessionindex.Indexer, worker string) (all []rank) {
	seen := map[rank]bool{}
	for _, s := range x.Dump().Sessions {
		for _, f := range s.Frontiers {
			if f.At.Worker == worker && !seen[f.At] {
				seen[f.At] = true
				all = append(all, f.At)
			}
		}
	}
	return all
}

// perWorker gives each worker an index of its own.
func perWorker(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
	first, err := sessionindex.NewIndex(cfg, clock, physical)
	if err != nil {
		return nil, err
	}
	second, err := sessionindex.NewIndex(cfg, clock, physical)
	if err != nil {
		return nil, err
	}
	of := func(worker string) sessionindex.Indexer {
		if worker == "w2" {
			return second
		}
		return first
	}
	return split{events{
		Indexer: first,
		store:   func(s sessionindex.Store) sessionindex.Ticket { return of(s.At.Worker).AdmitStore(s) },
		match:   func(m sessionindex.Match) sessionindex.Ticket { return of(m.At.Worker).AdmitMatch(m) },
		remove:  func(ctx context.Context, at rank, b []hash) (int, error) { return of(at.Worker).Remove(ctx, at, b) },
		clear:   func(ctx context.Context, at rank) (int, error) { return of(at.Worker).Clear(ctx, at) },
		begin:   func(m sessionindex.Member) sessionindex.Removal { return of(m.Worker).BeginRemoval(m) },
	}, second}, nil
}

// split is an index in two parts.
type split struct {
	events
	second sessionindex.Indexer
}

func (s split) Register(ctx context.Context, m sessionindex.Member, incarnation string) error {
	if m.Worker == "w2" {
		return s.second.Register(ctx, m, incarnation)
	}
	return s.events.Register(ctx, m, incarnation)
}

func (s split) Frontiers(id string) []sessionindex.Frontier {
	return append(s.events.Frontiers(id), s.second.Frontiers(id)...)
}

func (s split) Lineages(id string, at rank) [][]hash {
	if at.Worker == "w2" {
		return s.second.Lineages(id, at)
	}
	return s.events.Lineages(id, at)
}

// emptyPlaces keeps sessions that have nothing, up to the limit.
func emptyPlaces(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
	x, err := sessionindex.NewIndex(cfg, clock, physical)
	if err != nil || cfg.Sessions == 0 {
		return x, err
	}
	var used []string
	return events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
		t := x.AdmitStore(s)
		return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
			r, err := t.Apply(ctx)
			if err != nil || r.Discarded {
				return r, err
			}
			for i, id := range used {
				if id == s.Session {
					used = append(used[:i:i], used[i+1:]...)
					break
				}
			}
			if used = append(used, s.Session); len(used) > cfg.Sessions {
				for _, f := range x.Frontiers(used[0]) {
					_, _ = x.Remove(ctx, f.At, []hash{f.Block})
				}
				used = used[1:]
			}
			return r, nil
		})}
	}}, nil
}

// SPXJoinsRanks joins worker and rank.
func (Catalogue) SPXJoinsRanks() Mutant {
	return indexed("spx/joins-ranks", "worker and rank are joined in the key, so that different ones may read alike", func(x sessionindex.Indexer) sessionindex.Indexer {
		first := map[string]rank{}
		key := func(at rank) rank {
			joined := strings.ToLower(fmt.Sprint(strings.TrimSpace(at.Worker), at.Rank))
			if _, seen := first[joined]; !seen {
				first[joined] = at
			}
			return first[joined]
		}
		return places{events{
			Indexer: x,
			store:   func(s sessionindex.Store) sessionindex.Ticket { s.At = key(s.At); return x.AdmitStore(s) },
			match:   func(m sessionindex.Match) sessionindex.Ticket { m.At = key(m.At); return x.AdmitMatch(m) },
			remove:  func(ctx context.Context, at rank, b []hash) (int, error) { return x.Remove(ctx, key(at), b) },
			clear:   func(ctx context.Context, at rank) (int, error) { return x.Clear(ctx, key(at)) },
		}, key}
	}, "SPX-008/names")
}

// places is an index that reads by another key.
type places struct {
	events
	key func(rank) rank
}

func (p places) Lineages(id string, at rank) [][]hash { return p.events.Lineages(id, p.key(at)) }

// SPXRankZero takes rank 0 for every rank.
func (Catalogue) SPXRankZero() Mutant {
	return indexed("spx/one-rank", "what is said of any rank is taken for rank 0", func(x sessionindex.Indexer) sessionindex.Indexer {
		key := func(at rank) rank { at.Rank = 0; return at }
		return events{
			Indexer: x,
			store:   func(s sessionindex.Store) sessionindex.Ticket { s.At = key(s.At); return x.AdmitStore(s) },
			match:   func(m sessionindex.Match) sessionindex.Ticket { m.At = key(m.At); return x.AdmitMatch(m) },
			remove:  func(ctx context.Context, at rank, b []hash) (int, error) { return x.Remove(ctx, key(at), b) },
		}
	}, "SPX-010/above", "SPX-021/rank", "SPX-022/next", "SPX-025/fresh")
}

// SPXClearsWorker clears siblings.
func (Catalogue) SPXClearsWorker() Mutant {
	return indexed("spx/clears-siblings", "clearing a rank clears all ranks of its worker", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, clear: func(ctx context.Context, at rank) (int, error) {
			dropped, err := x.Clear(ctx, at)
			for _, other := range ranksOf(x, at.Worker) {
				n, _ := x.Clear(ctx, other)
				dropped += n
			}
			return dropped, err
		}}
	}, "SPX-008/names", "SPX-012/rank", "SPX-016/evictions", "SPX-027/clear")
}

// SPXEmptyWrites takes an empty list for an event.
func (Catalogue) SPXEmptyWrites() Mutant {
	return indexed("spx/empty-is-use", "a store without blocks is a use of its session", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
			if len(s.Blocks) == 0 {
				for _, f := range x.Frontiers(s.Session) {
					return x.AdmitMatch(sessionindex.Match{Session: s.Session, At: f.At, Block: f.Block, Incarnation: s.Incarnation})
				}
			}
			return x.AdmitStore(s)
		}}
	}, "SPX-015/empty")
}

// SPXLongRefused looks at the chain before the id.
func (Catalogue) SPXLongRefused() Mutant {
	return indexed("spx/refuses-ignored", "what comes under an id that is too long is refused where it would be under another", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
			if len(s.Session) > sessionindex.MaxSessionBytes && len(s.Blocks) > 1 && s.Blocks[0] == s.Blocks[len(s.Blocks)-1] {
				s.Session = ""
			}
			return x.AdmitStore(s)
		}}
	}, "SPX-014/ignored")
}

// SPXLongDiscarded takes a long id for a reason to discard.
func (Catalogue) SPXLongDiscarded() Mutant {
	return indexed("spx/discards-ignored", "what comes under an id that is too long is discarded, and counted, when it is applied", func(x sessionindex.Indexer) sessionindex.Indexer {
		return events{
			Indexer: x,
			store: func(s sessionindex.Store) sessionindex.Ticket {
				if len(s.Session) > sessionindex.MaxSessionBytes {
					s.Incarnation = "of nobody"
				}
				return x.AdmitStore(s)
			},
			match: func(m sessionindex.Match) sessionindex.Ticket {
				if len(m.Session) > sessionindex.MaxSessionBytes {
					m.Incarnation = "of nobody"
				}
				return x.AdmitMatch(m)
			},
		}
	}, "SPX-014/admitted", "SPX-014/bytes", "SPX-014/ignored")
}

// SPXTellsAgain answers by what it was told.
func (Catalogue) SPXTellsAgain() Mutant {
	return indexed("spx/changed-by-others", "a store of what another session's store has brought about answers that it has changed something", func(x sessionindex.Indexer) sessionindex.Indexer {
		told := map[string]bool{}
		return events{Indexer: x, store: func(s sessionindex.Store) sessionindex.Ticket {
			key := fmt.Sprint(s.Session, s.At, s.Parent, s.Blocks)
			before := told[key]
			told[key] = true
			p, given := s.Parent.Value()
			t := x.AdmitStore(s)
			return sessionindex.Ticket{Grip: applies(func(ctx context.Context) (sessionindex.Result, error) {
				_, known := x.LineagesFrom("", s.At, p)
				r, err := t.Apply(ctx)
				if err == nil && given && known == nil && !before && !r.Discarded && len(s.Blocks) == 1 {
					r.Changed = true
				}
				return r, err
			})}
		}}
	}, "SPX-005/others", "SPX-005/own", "SPX-006/one-by-one", "SPX-014/bytes")
}

// SPXReadsMake makes what it looks at.
func (Catalogue) SPXReadsMake() Mutant {
	return indexed("spx/reads-make-known", "an anchor that nobody knows is known after it was asked for", func(x sessionindex.Indexer) sessionindex.Indexer { return asks{x} }, "SPX-007/unknown", "SPX-017/places", "SPX-017/unwinds", "SPX-029/reads")
}

type asks struct{ sessionindex.Indexer }

func (a asks) LineagesFrom(session string, at rank, anchor hash) ([][]hash, error) {
	all, err := a.Indexer.LineagesFrom(session, at, anchor)
	if err != nil {
		for _, s := range a.Dump().Sessions {
			_, _ = a.AdmitMatch(sessionindex.Match{Session: s.ID, At: s.Frontiers[0].At, Block: anchor, Incarnation: "usual"}).Apply(context.Background())
			break
		}
	}
	return all, err
}

// SPXDefaultRoom has another limit.
func (Catalogue) SPXDefaultRoom() Mutant {
	return ownLimit("spx/default-10000", "without a setting 10,000 sessions are held", 10_000)
}

// SPXDefaultEndless has none.
func (Catalogue) SPXDefaultEndless() Mutant {
	return ownLimit("spx/default-endless", "without a setting there is no limit of sessions", 1<<30)
}

func ownLimit(id, fault string, sessions int) Mutant {
	return index(id, fault, func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		if cfg.Sessions == 0 {
			cfg.Sessions = sessions
		}
		return sessionindex.NewIndex(cfg, clock, physical)
	}, "SPX-031/sessions")
}

// SPXDefault keeps for another time.
func (Catalogue) SPXDefault() Mutant {
	return index("spx/default-hour", "without a setting blocks without use are kept for an hour", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		if cfg.Retention == 0 {
			cfg.Retention = 12 * sessionindex.DefaultRetention
		}
		return sessionindex.NewIndex(cfg, clock, physical)
	}, "SPX-030/retention")
}
