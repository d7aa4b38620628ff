package routing

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// The length that RTE-004/long shows at most, and a silence within it. Limits on answers
// are commonly longer; to wait for each of them would cost more than a run may take.
const (
	longest = 8 * time.Second
	silence = 6 * time.Second
)

// silent lets an answer begin, say nothing for as long as silence, and end.
func silent(ctx context.Context, r *bench.Run, q bench.Req) {
	q.Deadline = longest + 10*time.Second
	h := r.Plan(q.Key, bench.Plan{Step: q.Stream, Events: 3, HoldFinish: true})
	p := r.Start(ctx, q)
	h.Advance()
	if p.AwaitHeaders(ctx, 5*time.Second) {
		r.Pause(ctx, longest-silence)
		h.Advance()
		r.Pause(ctx, silence)
	}
	h.Finish()
	p.Wait()
}

// RTE004Long: answers that go on for longer than the router waits for headers.
func (Cases) RTE004Long() bench.Case {
	n := 2*len(bench.Shapes()) + len(bench.FreshShapes())
	c := long()
	c.Stimulus += "; beside them some of eight seconds, of which they are silent for six"
	c.Cost = longest + 200*time.Millisecond
	drive := c.Drive
	c.Drive = func(ctx context.Context, r *bench.Run) error {
		both := []func(){func() { _ = drive(ctx, r) }} // its error is always nil
		for i, s := range bench.FreshShapes() {
			both = append(both, func() {
				q := bench.Req{Key: r.Key(), Phase: "long"}.In(s)
				if i%2 == 1 {
					q.Session = r.SessionID(100 + i)
				}
				silent(ctx, r, q)
			})
		}
		r.Parallel(len(both), len(both), func(i int) { both[i]() })
		return nil
	}
	c.Judge = judge.All(judge.Served(n, "long"), judge.ResponseKept(n, "long"))
	return c
}

// long is what RTE-004/long is without long silences.
func long() bench.Case {
	const events = 11
	n := 2 * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-004/long",
		Stimulus:    "answers that go on for two and a half times the wait for headers after their headers, keyless and in new sessions, in every shape, all at once, with cookies and other headers on several lines",
		Requirement: "the client has the worker's status, headers with all their values, and body bytes, to their end",
		Claims:      []string{"resilience.headerTimeout"},
		Variant:     "shortHeaderTimeout", Cost: 2700 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			long := 5 * r.HeaderTimeout() / 2
			r.Parallel(n, n, func(i int) {
				q := bench.Req{Key: r.Key(), Phase: "long", Deadline: long + 10*time.Second}.In(bench.Shapes()[i%8])
				if i >= 8 {
					q.Session = r.SessionID(i)
				}
				if q.Stream {
					r.Plan(q.Key, bench.Plan{Header: repeated(), Events: events, Interval: long / (events - 1)})
					r.Do(ctx, q)
					return
				}
				h := r.Plan(q.Key, bench.Plan{Header: repeated(), HoldFinish: true}) // headers and half of the body are out
				p := r.Start(ctx, q)
				if p.AwaitHeaders(ctx, 5*time.Second) {
					r.Pause(ctx, long)
				}
				h.Release()
				p.Wait()
			})
			return nil
		},
		Judge: judge.All(judge.Served(n, "long"), judge.ResponseKept(n, "long")),
	}
}

// RTE004LongDecode: what a decode worker takes its time for.
func (Cases) RTE004LongDecode() bench.Case { return long().In(bench.Decode, "long-decode") }
