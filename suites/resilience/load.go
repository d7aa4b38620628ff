package resilience

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// ending is one way for a request to end early through its client.
type ending struct {
	name   string
	plan   bench.Plan
	stream bool
	events int // the client leaves once it has seen so many; -1: it stays
}

// RES005Load: everything that ends early ends at one worker, so that a count
// that leaks makes that worker look busy.
func (Cases) RES005Load() bench.Case {
	endings := []ending{
		{"left before headers", bench.Plan{HoldHeaders: true}, false, 0},
		{"left before headers of a stream", bench.Plan{HoldHeaders: true}, true, 0},
		{"left in the middle of an answer", bench.Plan{HoldFinish: true}, false, 0},
		{"left between events", bench.Plan{Step: true, Events: 20}, true, 1},
		{"client error", bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: 400}}, false, -1},
		{"client error to a stream", bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: 400}}, true, -1},
	}
	for i, code := range []int{401, 403, 404, 408, 413, 422} {
		endings = append(endings, ending{fmt.Sprint("answered ", code), bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}}, i%2 == 1, -1})
	}
	const sessions, each = 40, 12
	plan := stats.Must(stats.PlanSpread(bench.DefaultWorkers, 1, 1e-6, 0.5, 0.05, 0.99))
	return bench.Case{
		ID:          "RES-005/no-load-left",
		Stimulus:    "at one worker, 12 requests each that clients leave before headers, in the middle of an answer and between events, or that are answered 400, 401, 403, 404, 408, 413 or 422; then keyless requests",
		Requirement: "that worker gets its share of the keyless requests",
		Alone:       true,
		Claims:      []string{"streaming.cancel"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			var here []string // sessions of the one worker
			busy := ""
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound"}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				w := r.Served(q.Key)
				if busy == "" {
					busy = w
				}
				if w == busy {
					here = append(here, q.Session)
				}
			}
			if busy == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Mark("note", busy, "all early ends are at this worker")
			for _, e := range endings {
				r.Parallel(each, each, func(i int) { end(ctx, r, e, here[i%len(here)], []string{history.Chat, history.Completions}[i%2]) })
			}
			for i := range plan.N {
				r.Do(ctx, bench.Req{Phase: "sample", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Reached(each*len(endings)/2, "ended"),
			judge.Served(plan.N, "sample"), judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, nil, "sample")),
	}
}

// end sends one request that ends as e says.
func end(ctx context.Context, r *bench.Run, e ending, session, endpoint string) {
	const soon = 2 * time.Second
	q := bench.Req{Key: r.Key(), Session: session, Turn: 1, Phase: "ended", Stream: e.stream, Endpoint: endpoint}
	h := r.Plan(q.Key, e.plan)
	p := r.Start(ctx, q)
	if e.events >= 0 {
		r.Arrived(ctx, q.Key, soon)
		for n := 1; n <= e.events; n++ {
			h.Advance()
			p.AwaitEvents(ctx, n, soon)
		}
		p.Cancel()
		r.AwaitAbort(ctx, q.Key, soon)
	}
	p.Wait()
}
