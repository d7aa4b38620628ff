package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF009Lapsed: sessions whose time has passed make room for others.
func (Cases) AFF009Lapsed() bench.Case {
	return bench.Case{
		ID:          "AFF-009/lapsed",
		Stimulus:    "as many bound sessions as the declared capacity; when all have lapsed, three quarters as many new ones, two turns each",
		Requirement: "the new sessions are served and stay on their workers",
		Claims:      []string{"affinity.idleTTL"},
		Variant:     "shortTTL+smallCapacity", Alone: true, Cost: 3 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n := r.Capacity()
			r.Parallel(n, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "old", Tokens: 1}.In(bench.Shapes()[s%8]))
			})
			r.Pause(ctx, r.IdleTTL()*5/4+250*time.Millisecond)
			for t := range 2 {
				r.Parallel(fresh(n), 8, func(s int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(n + s), Turn: t, Phase: "new", Tokens: 1}.In(bench.Shapes()[(s+t)%8]))
				})
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			n := h.Session.Capacity
			return judge.All(judge.Served(n, "old"), judge.Served(2*fresh(n), "new"), judge.Kept(fresh(n)/2, "new"))(h)
		},
	}
}

// fresh is how many new sessions a table of n must hold when all old ones have
// lapsed: a router may need a few places for itself.
func fresh(n int) int { return max(1, n*3/4) }

// AFF009Full: one session more than the table holds, and then some.
func (Cases) AFF009Full() bench.Case {
	const more = 24
	return bench.Case{
		ID:          "AFF-009/full",
		Stimulus:    "as many bound sessions as the declared capacity, 24 more, then a turn of each of the first",
		Requirement: "the 24 are refused or served as declared; without eviction the first stay on their workers",
		Variant:     "smallCapacity", Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range r.Capacity() {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "within"}.In(bench.Shapes()[s%8]))
			}
			for s := range more {
				r.Do(ctx, bench.Req{Session: r.SessionID(r.Capacity() + s), Phase: "beyond"}.In(bench.Shapes()[s%8]))
			}
			for s := range r.Capacity() {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "again"}.In(bench.Shapes()[(s+3)%8]))
			}
			return nil
		},
		Judge: fullAsDeclared(more),
	}
}

// fullAsDeclared judges so many new sessions beyond a full table.
func fullAsDeclared(more int) judge.Judge {
	return func(h *history.History) judge.Finding {
		all := []judge.Judge{judge.Served(h.Session.Capacity, "within"), judge.Served(h.Session.Capacity, "again")}
		switch h.Session.AtCapacity {
		case "refuse":
			all = append(all, judge.Exhausted(more, "beyond"))
		default:
			all = append(all, judge.Served(more, "beyond"))
		}
		if h.Session.AtCapacity != "evict" {
			all = append(all, judge.Sticks(h.Session.Capacity, "within", "again"))
		}
		return judge.All(all...)(h)
	}
}
