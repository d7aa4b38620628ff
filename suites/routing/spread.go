// Package routing holds the cases of area RTE. Each method of Cases is one
// case; the suite finds them by reflection, so that a new file needs no list.
package routing

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Cases are the cases of area RTE.
type Cases struct{}

// What RTE-001 must tell apart: among four workers, one that gets half of the
// requests or one that gets a twentieth, from chance.
const (
	alpha      = 1e-6
	power      = 0.99
	bigShare   = 0.5
	smallShare = 0.05
	burst      = 32
)

// alike gives every second of n requests what all requests of one customer behind one
// gateway have in common, and which makes them no session. Where one of it is taken for a
// session's id, half of the requests are at one worker, and an eighth beside them.
func alike(r *bench.Run, n int, q bench.Req) bench.Req {
	if n%2 == 1 {
		q.Header, q.Extra = r.Common()
	}
	return q
}

// RTE001OneAtATime: keyless requests one after another, none overlapping, so
// that no load tells workers apart.
func (Cases) RTE001OneAtATime() bench.Case {
	shapes := bench.Shapes()
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, len(shapes), alpha, bigShare, smallShare, power))
	return bench.Case{
		ID:          "RTE-001/one-at-a-time",
		Stimulus:    "keyless requests one after another, in every shape; half of them share their Authorization, a cookie, X-Forwarded-For and the field user",
		Requirement: "every worker serves some in every shape, none serves half of them",
		Cost:        1500 * time.Millisecond, Limit: bench.LimitFor(plan.N * len(shapes)),
		Drive: func(ctx context.Context, r *bench.Run) error {
			for n := range plan.N {
				// A fixed order of shapes would fall into step with a strict rotation.
				for _, i := range r.Rand().Perm(len(shapes)) {
					r.Do(ctx, alike(r, n, bench.Req{Tokens: 1}).In(shapes[i]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(plan.N*len(shapes)), judge.Share(judge.ByShape, plan.N, plan.Min, plan.Max, nil)),
	}
}

// RTE001Bursts: keyless requests that arrive together, before any load is visible.
func (Cases) RTE001Bursts() bench.Case {
	shapes := bench.Shapes()
	plan := stats.Must(stats.PlanSpreadBy(burst, bench.DefaultWorkers, len(shapes), alpha, bigShare, smallShare, power))
	rounds := plan.N / burst
	// Within one burst only the grossest herd can be told from chance; over all
	// bursts a herd that changes its worker each time would look even.
	inBurst := burst
	for stats.UpperTail(burst, inBurst, 1.0/bench.DefaultWorkers)*float64(rounds*len(shapes)*bench.DefaultWorkers) < alpha {
		inBurst--
	}
	return bench.Case{
		ID:          "RTE-001/bursts",
		Stimulus:    fmt.Sprintf("%d bursts of %d keyless requests at once in every shape, %d in each; half of them share what RTE-001/one-at-a-time's do", rounds, burst, plan.N),
		Requirement: "no burst herds onto one worker, and over all bursts every worker serves its share",
		Cost:        1500 * time.Millisecond, Limit: 2 * time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range rounds {
				for _, s := range shapes {
					qs := make([]bench.Req, burst)
					for j := range qs {
						qs[j] = alike(r, j, bench.Req{Tokens: 1, Phase: burstName(i, s)}).In(s)
					}
					r.Together(ctx, qs)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(plan.N*len(shapes)),
			judge.Share(judge.ByPhase, burst, 0, inBurst, nil),
			judge.Share(judge.ByShape, plan.N, plan.Min, plan.Max, nil)),
	}
}

// RTE001BlankID: a session header without a session in it.
func (Cases) RTE001BlankID() bench.Case {
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, 2, alpha, bigShare, smallShare, power))
	return bench.Case{
		ID:          "RTE-001/blank-id",
		Stimulus:    "requests whose session id is empty or only blanks, one after another, in every shape; half of them share what RTE-001/one-at-a-time's do",
		Requirement: "they are spread like requests without one",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for n := range plan.N {
				for _, i := range r.Rand().Perm(2) {
					id := []string{"", "   "}[i]
					q := bench.Req{Tokens: 1, Phase: fmt.Sprintf("id of %d blanks", len(id)), BlankID: true, Session: id}
					r.Do(ctx, alike(r, n, q).In(bench.Shapes()[r.Rand().IntN(8)]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*plan.N), judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil)),
	}
}
