package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF003Long: a first turn that takes its time.
func (Cases) AFF003Long() bench.Case {
	const sessions, width = 2, 4
	const hold = 6 * time.Second // longer than a lock that somebody holds on lease
	return bench.Case{
		ID:          "AFF-003/held-long",
		Stimulus:    "new sessions whose first turn is held for six seconds, or three quarters of the time that the router waits for headers; four more turns of each meanwhile, one when it is answered",
		Requirement: "the turns meanwhile reach its worker, or none, and the last one reaches it",
		Cost:        hold + time.Second/2,
		Drive: func(ctx context.Context, r *bench.Run) error {
			began := time.Now()
			hold := hold
			if limit := r.HeaderTimeout(); limit > 0 {
				hold = min(hold, limit*3/4)
			}
			const patience = 2 * bench.RequestDeadline // of clients that are to outwait the hold
			firsts, holds := make([]*bench.Pending, sessions), make([]*bench.Handle, sessions)
			waiting := make([][]*bench.Pending, sessions)
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Tokens: 1, Phase: "first", Deadline: patience}.In(bench.Shapes()[3*s])
				holds[s] = r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				firsts[s] = r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				waiting[s] = follow(ctx, r, width, bench.Req{Session: q.Session, Turn: 4 * s, Tokens: 1, Phase: "meanwhile", Deadline: patience})
			}
			r.Pause(ctx, time.Until(began.Add(hold)))
			for s, h := range holds {
				h.Release()
				for _, p := range append(waiting[s], firsts[s]) {
					p.Wait()
				}
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 9, Tokens: 1, Phase: "later"}.In(bench.Shapes()[3*s+1]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "first"), judge.Served(sessions, "later"), judge.Sticks(sessions)),
	}
}

// AFF003ManyHTTP: more turns that wait than a small queue holds.
func (Cases) AFF003ManyHTTP() bench.Case {
	const width = 256
	return bench.Case{
		ID:          "AFF-003/many-http",
		Stimulus:    "a new session whose first turn is held, 256 more turns of it, in every shape; then the first is answered",
		Requirement: "all are served, by one worker",
		Alone:       true, Cost: 1500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			q := bench.Req{Key: r.Key(), Session: r.SessionID(0), Tokens: 1, Phase: "first"}
			h := r.Plan(q.Key, bench.Plan{HoldHeaders: true})
			first := r.Start(ctx, q)
			r.Arrived(ctx, q.Key, 2*time.Second)
			waiting := followFor(ctx, r, time.Second, width, bench.Req{Session: q.Session, Tokens: 1, Phase: "waits"})
			h.Release()
			first.Wait()
			for _, p := range waiting {
				p.Wait()
			}
			return nil
		},
		Judge: judge.All(judge.Served(1, "first"), judge.Served(width, "waits"), judge.Sticks(1)),
	}
}

// AFF003Silent: no worker says anything to a first turn for which others wait.
func (Cases) AFF003Silent() bench.Case {
	const width = 8 // of one session: a router that puts silent workers aside has others left for it
	return bench.Case{
		ID:          "AFF-003/first-silent",
		Stimulus:    "a new session whose first turn no worker answers until the router gives up, eight more turns of it meanwhile, in every shape; then two turns more",
		Requirement: "the eight are answered, all at one worker, and so are the later turns",
		Claims:      []string{"affinity.commitOnSuccess", "resilience.headerTimeout"},
		Variant:     shortHeaders, Alone: true, Cost: 2500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			q := bench.Req{Key: r.Key(), Session: r.SessionID(0), Tokens: 1, Phase: "silent", Deadline: 20 * time.Second}
			r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.HangRequests}})
			first := r.Start(ctx, q)
			r.Arrived(ctx, q.Key, 2*time.Second)
			waiting := follow(ctx, r, width, bench.Req{Session: q.Session, Tokens: 1, Phase: "waits", Deadline: 20 * time.Second})
			first.Wait()
			for _, p := range waiting {
				p.Wait()
			}
			for t := range 2 {
				r.Do(ctx, bench.Req{Session: q.Session, Turn: width + 1 + t, Tokens: 1, Phase: "later"}.In(bench.Shapes()[3*t]))
			}
			return nil
		},
		Judge: judge.All(judge.Unserved(1, "silent"), judge.Served(width, "waits"), judge.Served(2, "later"), judge.Settled(1, "waits"), judge.Settled(1, "later")),
	}
}

// AFF003PrefillSilent: no prefill worker does.
func (c Cases) AFF003PrefillSilent() bench.Case {
	return c.AFF003Silent().In(bench.Prefill, "prefill-silent")
}

// AFF003PrefillFails: the first turn's prefill fails.
func (Cases) AFF003PrefillFails() bench.Case {
	return inherited("first-fails", "is then answered 500", true, status(500)).In(bench.Prefill, "prefill-fails")
}
