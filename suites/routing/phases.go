package routing

import (
	"context"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// RTE001Phases: keyless requests at the workers of each phase.
func (Cases) RTE001Phases() bench.Case {
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, 2, alpha, bigShare, smallShare, power))
	even := judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil)
	return bench.Case{
		ID:          "RTE-001/phases",
		Stimulus:    "four prefill and four decode workers; keyless requests one after another, in every shape and a seeded order",
		Requirement: "in each phase every worker serves some, none serves half of them",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Fleet{Prefill: bench.DefaultWorkers, Decode: bench.DefaultWorkers}, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for range plan.N {
				r.Do(ctx, bench.Req{Tokens: 1}.In(bench.Shapes()[r.Rand().IntN(8)]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(plan.N), judge.Only(history.Prefill, even), judge.Only(history.Decode, even)),
	}
}

// RTE003Decode: what a client sends arrives at the worker that answers it.
func (c Cases) RTE003Decode() bench.Case {
	decode := c.RTE003Request().In(bench.Decode, "decode")
	n := 4 * len(bench.Shapes())
	decode.Requirement = "the decode worker's ledger shows the same path and headers, the prefill worker's the same path and Authorization"
	decode.Judge = judge.All(judge.Served(n), judge.Only(history.Decode, judge.HeadersKept(n)),
		judge.Only(history.Prefill, judge.PathKept(n, []string{"Authorization"})))
	return decode
}

// RTE004Decode: what a decode worker answers arrives, also when it is an error.
func (c Cases) RTE004Decode() bench.Case { return c.RTE004Response().In(bench.Decode, "decode") }

// RTE004Prefill: so does what a prefill worker answers, when it is an error.
func (Cases) RTE004Prefill() bench.Case {
	statuses := []int{400, 401, 413, 422, 429, 500, 503, 504}
	n := len(statuses) * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-004/prefill",
		Stimulus:    "error answers (eight of 400 to 504, with Retry-After) of prefill workers, with cookies and other headers on several lines, keyless and in bound sessions, in every shape",
		Requirement: "the client has the worker's status, headers with all their values, and body bytes",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Session: r.SessionID(i), Tokens: 1, Phase: "binds"}.In(s))
				for j, status := range statuses {
					q := bench.Req{Key: r.Key(), Phase: "refused", Header: http.Header{"X-Mock-Echo": {echo}}}.In(s)
					if (i+j)%2 == 1 {
						q.Session = r.SessionID(i)
					}
					r.Plan(q.Key, bench.Plan{Role: bench.Prefill, Header: repeated(), Fault: &bench.Fault{Kind: worker.Status, Status: status, RetryAfter: 7}})
					r.Do(ctx, q)
					r.Do(ctx, bench.Req{Tokens: 1, Phase: "between"}.In(s)) // successes between errors keep circuits closed
				}
			}
			return nil
		},
		Judge: judge.Only(history.Prefill, judge.ResponseKept(n, "refused")),
	}
}
