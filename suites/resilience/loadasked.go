package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// RES005Questions: a question sends nothing to the worker that it is about.
func (Cases) RES005Questions() bench.Case {
	const each, questions = 6, 24
	plan := shares()
	return bench.Case{
		ID:          "RES-005/questions",
		Stimulus:    "24 questions about six sessions of one worker; then keyless requests",
		Requirement: "that worker gets its share of the keyless requests, no more and no less",
		Claims:      []string{"affinity.query"},
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			_, here := gathered(ctx, r, each)
			if len(here) == 0 {
				return nil // nobody was served, which the judge holds against the target
			}
			for i := range questions {
				r.Do(ctx, bench.Req{Session: here[i%each], Turn: 1, Asks: true, Phase: "asked", Endpoint: []string{history.Chat, history.Completions}[i%2]})
			}
			for i := range plan.N {
				r.Do(ctx, bench.Req{Phase: "sample", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(questions, "asked"), sampled(plan)),
	}
}
