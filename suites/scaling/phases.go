package scaling

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// SCL001Phases: a worker more in each phase, and one less.
func (Cases) SCL001Phases() bench.Case {
	const sessions = 96
	most := stats.Must(stats.MovedAtMost(sessions, 2.0/4, 1e-6))
	return bench.Case{
		ID:          "SCL-001/phases",
		Stimulus:    "96 sessions bound in two phases; a fourth prefill worker joins, first in the list; turns; a fourth decode worker joins; turns; both leave again; turns",
		Requirement: "in each phase, table: nobody moves off a worker that stays; hash: at most twice the fair share moves, and all come back",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split, Alone: true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(phase string) {
				for i, s := range r.Rand().Perm(sessions) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: phase, Tokens: 1}.In(bench.Shapes()[i%8]))
				}
			}
			round("three")
			round("three")
			p := r.JoinAs(ctx, bench.Prefill)
			round("four prefill")
			d := r.JoinAs(ctx, bench.Decode)
			round("four of each")
			if p == "" || d == "" {
				return nil
			}
			r.Leave(ctx, p)
			r.Leave(ctx, d)
			round("three again")
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			rounds := []string{"three", "four prefill", "four of each", "three again"}
			all := []judge.Judge{judge.Served(5 * sessions)}
			stays := func(*history.History, string) bool { return true }
			for _, role := range []string{history.Prefill, history.Decode} {
				all = append(all, judge.Only(role, judge.Sticks(sessions, "three")))
				if h.Session.Kind == "hash" {
					all = append(all, judge.Only(role, judge.MovedAtMost("three", "four of each", most)), judge.Only(role, judge.Moves("three", "three again", sessions, stays)))
					continue
				}
				for i, next := range rounds[1:] {
					all = append(all, judge.Only(role, judge.Moves(rounds[i], next, sessions, stays)))
				}
			}
			return judge.All(all...)(h)
		},
	}
}
