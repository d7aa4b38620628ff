package resilience

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RES001Bodies: bodies that a router may not have kept for a second try.
func (Cases) RES001Bodies() bench.Case {
	const size = 400_000
	return bench.Case{
		ID:          "RES-001/bodies",
		Stimulus:    "two requests of 400 kB and a small one, two of them without a Content-Length, whose connection breaks (reset or closed before headers) at the first worker that they reach, keyless and as a first turn",
		Requirement: "every client is answered by another worker, which has received the whole body",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			large := strings.Repeat("tokens and ", size/len("tokens and ")+1)
			// Three, so that a router which puts each worker aside that broke off has one left.
			for i, q := range []bench.Req{
				{Phase: "large", Prompt: large},
				{Phase: "large", Prompt: large, Chunked: true, Session: r.SessionID(0)},
				{Phase: "small", Chunked: true},
			} {
				q.Key = r.Key()
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: i > 0, Count: 1}})
				r.Do(ctx, q.In(bench.Shapes()[3*i]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(2, "large"), judge.BodyWhole(size, "large"), judge.Served(1, "small"), judge.BodyWhole(1, "small")),
	}
}
