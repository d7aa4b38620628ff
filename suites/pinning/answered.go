package pinning

import (
	"context"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// PIN001Answered: pinned workers that answer with errors.
func (Cases) PIN001Answered() bench.Case {
	const least = 40
	return bench.Case{
		ID:          "PIN-001/answered",
		Stimulus:    "requests that their pinned worker answers with each error status that is in use and some that are not, keyless and as first turns, in a seeded order of shapes; good ones between",
		Requirement: "each reaches that worker alone, and its client gets that worker's answer",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			for i, code := range append(bench.Usual(), r.Others(2)...) {
				s := bench.Shapes()[r.Rand().IntN(8)]
				q := bench.Req{Key: r.Key(), Pin: at(workers[i%len(workers)]), Phase: "answered", Tokens: 1}.In(s)
				if i/len(workers)%2 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Do(ctx, bench.Req{Pin: q.Pin, Phase: "between", Tokens: 1}.In(s)) // successes between errors keep circuits closed
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}})
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.PassedOn("answered"), judge.AsPinned(0, "answered"), judge.AsPinned(least, "between"), judge.Reached(least, "answered")),
	}
}
