package streaming

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// broken makes a case of workers that break off in the middle of an answer.
func broken(name, how string, close bool) bench.Case {
	after := []int{0, 1, 2, 12, 40}
	return bench.Case{
		ID:          "STR-003/" + name,
		Stimulus:    "workers that " + how + " after headers, after 1, 2, 12 and 40 events, or in the middle of an answer that is not streamed",
		Requirement: "the client's answer is visibly broken",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for _, n := range after {
					q := bench.Req{Key: r.Key(), Tokens: 64, Phase: "broken"}.In(s)
					if n%4 == 0 { // a bound session's answers too
						q.Session = r.SessionID(10*i + n)
						r.Do(ctx, bench.Req{Session: q.Session, Tokens: 1, Phase: "binds"}.In(s))
					}
					r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: n, Close: close}})
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.Broken(len(after)*len(bench.Shapes()), "broken"),
	}
}

// STR003Reset: the connection is reset.
func (Cases) STR003Reset() bench.Case { return broken("reset", "reset the connection", false) }

// STR003Closed: the connection is closed in the ordinary way, as a process that
// exits does, without the end that the framing calls for.
func (Cases) STR003Closed() bench.Case { return broken("closed", "close the connection", true) }

// abort is how soon a worker must see that its client left (clause STR-004).
const abort = 2 * time.Second

// STR004Leave: clients leave at every moment of a request's life.
func (Cases) STR004Leave() bench.Case {
	moments := bench.Moments()
	return bench.Case{
		ID:          "STR-004/leave",
		Stimulus:    "clients that close their connection before headers, in the middle of an answer, between events and while events flow, on both endpoints",
		Requirement: "the worker sees the abort within 2 s",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n := 2 * len(moments) * len(endpoints)
			r.Parallel(2*n, n, func(j int) {
				i := j / 2
				m := moments[i/2/len(endpoints)]
				q := bench.Req{Key: r.Key(), Phase: m.Name, Endpoint: endpoints[i/2%len(endpoints)], Stream: m.Stream, Kept: j%2 == 0, Tokens: 50}
				if i%2 == 1 { // in a bound session
					q.Session = r.SessionID(j)
					r.Do(ctx, bench.Req{Session: q.Session, Tokens: 1, Phase: "binds"})
				}
				if q.Kept { // over a connection that has served a request before
					r.Do(ctx, bench.Req{Kept: true, Tokens: 1, Phase: "warms"})
				}
				h := r.Plan(q.Key, m.Plan)
				p := r.Start(ctx, q)
				if !r.Arrived(ctx, q.Key, prompt) {
					p.Cancel()
					return
				}
				for e := 1; e <= m.Events; e++ {
					h.Advance()
					if !p.AwaitEvents(ctx, e, prompt) {
						r.Mark("note", "", fmt.Sprintf("%s: %s saw only %d events", q.Key, m.Name, e-1))
						break
					}
				}
				p.Cancel()
				p.Wait()
				r.AwaitAbort(ctx, q.Key, abort)
			})
			return nil
		},
		Judge: judge.AbortSeen(abort, 2*len(moments)*len(endpoints)),
	}
}

// STR004Retried: clients leave while their request is at a second worker.
func (Cases) STR004Retried() bench.Case {
	const n = 32
	return bench.Case{
		ID:          "STR-004/leave-retried",
		Stimulus:    "one worker of four refuses connections; 32 clients, streaming or not, on both endpoints, that leave before headers",
		Requirement: "the worker that has the request sees the abort within 2 s",
		Alone:       true, Claims: []string{"resilience.retry"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Fault(r.Workers()[0], bench.Fault{Kind: worker.Refuse})
			r.Parallel(n, n, func(i int) {
				q := bench.Req{Key: r.Key(), Phase: "retried"}.In(bench.Shapes()[i%8])
				r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				p := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, prompt)
				p.Cancel()
				p.Wait()
				r.AwaitAbort(ctx, q.Key, abort)
			})
			return nil
		},
		Judge: judge.AbortSeen(abort, n, "retried"),
	}
}
