package resilience

import (
	"context"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RES008Answered: answers that a router might hope to better elsewhere.
func (Cases) RES008Answered() bench.Case {
	codes := []int{408, 429, 500, 502, 503, 504}
	return bench.Case{
		ID:          "RES-008/answered",
		Stimulus:    "requests that whichever worker they reach answers 408, 429, 500, 502, 503 or 504, keyless and as first turns, in every shape; good ones between",
		Requirement: "each reaches one worker, and its client gets that worker's answer",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, code := range codes {
				for j, s := range bench.Shapes() {
					for _, session := range []string{"", r.SessionID(8*i + j)} {
						q := bench.Req{Key: r.Key(), Session: session, Phase: "answered", Tokens: 1}.In(s)
						r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}})
						r.Do(ctx, q)
						r.Do(ctx, bench.Req{Phase: "between", Tokens: 1}.In(s)) // successes between errors keep circuits closed
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.PassedOn("answered"), judge.Reached(2*len(codes)*len(bench.Shapes()), "answered")),
	}
}
