// Package streaming holds the cases of area STR. Each method of Cases is one case.
package streaming

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// Cases are the cases of area STR.
type Cases struct{}

// prompt is how soon an event must be at the client (clause STR-001).
const prompt = 2 * time.Second

// streamed are the ways to ask for a stream.
func streamed() []bench.Shape {
	var out []bench.Shape
	for _, s := range bench.Shapes() {
		if s.Stream {
			out = append(out, s)
		}
	}
	return out
}

// STR001Stepped: the worker sends an event only when the client has seen the
// one before, so a router that holds anything back stops the stream for good.
func (Cases) STR001Stepped() bench.Case {
	const events = 8
	return bench.Case{
		ID:          "STR-001/stepped",
		Stimulus:    "streams whose worker sends each event only after the client has seen the one before",
		Requirement: "each event reaches the client within 2 s of being sent",
		Drive: func(ctx context.Context, r *bench.Run) error {
			shapes := streamed()
			r.Parallel(2*len(shapes), 2*len(shapes), func(i int) {
				q := bench.Req{Key: r.Key(), Deadline: 30 * time.Second}.In(shapes[i/2])
				if i%2 == 1 {
					q.Session = r.SessionID(i)
				}
				steps := events
				if i == 0 { // one goes on for longer than a buffer lasts
					steps = 40 * events
				}
				h := r.Plan(q.Key, bench.Plan{Step: true, Events: steps})
				p := r.Start(ctx, q)
				for n := 1; n <= steps+8; n++ { // role, finish and [DONE] come on top
					h.Advance()
					// It leaves once the event is late by the worker's own clock, not a little before.
					if !p.AwaitEvents(ctx, n, prompt) && !p.AwaitEvents(ctx, n, r.Overdue(q.Key, n, prompt)) {
						break
					}
				}
				if last := p.Peek(); last.Done {
					p.Wait()
					return
				}
				p.Cancel()
				p.Wait()
			})
			return nil
		},
		Judge: judge.Then(judge.Prompt(prompt, 4*events), judge.Served(2*len(streamed()))),
	}
}

// STR002Spacing: a stream at a steady pace stays one.
func (Cases) STR002Spacing() bench.Case {
	const events, apart = 40, 75 * time.Millisecond // a stop of the machine that nobody notices takes six of them
	return bench.Case{
		ID:          "STR-002/spacing",
		Stimulus:    "streams of 40 events, 75 ms apart, and one straight from a worker beside them",
		Requirement: "at least three quarters of each stream's events arrive before the next one is sent",
		Cost:        3300 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			shapes := streamed()
			r.Parallel(2*len(shapes)+1, 2*len(shapes)+1, func(i int) {
				q := bench.Req{Key: r.Key(), Stream: true, Phase: "direct"}
				r.Plan(q.Key, bench.Plan{Events: events, Interval: apart})
				if i == 2*len(shapes) { // what this machine does to a stream without a router
					r.Direct(ctx, r.Workers()[0], q)
					return
				}
				q = q.In(shapes[i/2])
				q.Phase = "routed"
				if i%2 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Do(ctx, q)
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*len(streamed()), "routed"), judge.Spaced(apart, events*len(streamed()), "direct", "routed")),
	}
}

// endpoints are both of them.
var endpoints = []string{history.Chat, history.Completions}
