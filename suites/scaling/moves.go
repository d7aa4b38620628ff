// Package scaling holds the cases of area SCL. Each method of Cases is one case.
package scaling

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Cases are the cases of area SCL.
type Cases struct{}

// SCL001Moves: three workers, four, three again.
func (Cases) SCL001Moves() bench.Case {
	const sessions = 200
	// A hash may give the new worker up to twice its fair share of a quarter.
	most := stats.Must(stats.MovedAtMost(sessions, 2.0/4, 1e-6))
	return bench.Case{
		ID:          "SCL-001/three-four-three",
		Stimulus:    "200 bound sessions; a fourth worker joins, first in the list; turns; it leaves again; turns",
		Requirement: "table: nobody moves off a worker that stays; hash: at most twice the fair share moves, and all come back",
		Workers:     3, Alone: true, Cost: 700e6, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(phase string) {
				for i, s := range r.Rand().Perm(sessions) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: phase}.In(bench.Shapes()[i%8]))
				}
			}
			round("three")
			round("three")
			id := r.Join(ctx)
			if id == "" {
				return nil
			}
			round("four")
			r.Leave(ctx, id)
			round("three again")
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := []judge.Judge{
				judge.Served(2*sessions, "three"), judge.Served(sessions, "four"), judge.Served(sessions, "three again"),
				judge.Sticks(sessions, "three"), judge.Placed(sessions*2/3, "three"),
			}
			stays := func(*history.History, string) bool { return true }
			switch h.Session.Kind {
			case "hash":
				all = append(all, judge.MovedAtMost("three", "four", most), judge.Moves("three", "three again", sessions, stays))
			default:
				all = append(all, judge.Moves("three", "four", sessions, stays), judge.Moves("four", "three again", sessions, stays))
			}
			return judge.All(all...)(h)
		},
	}
}
