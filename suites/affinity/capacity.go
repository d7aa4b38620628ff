package affinity

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

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
		Judge: func(h *history.History) judge.Finding {
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
		},
	}
}
