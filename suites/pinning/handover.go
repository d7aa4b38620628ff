package pinning

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// soon is how long a step of a drive may take that a clause gives 2 s.
const soon = 2 * time.Second

// PDS001Retried: decodes that break before they have fetched anything.
func (Cases) PDS001Retried() bench.Case {
	const n = 32
	return bench.Case{
		ID:          "PDS-001/decode-down",
		Stimulus:    "a decode worker breaks connections before headers, then refuses them; 64 requests in every shape, keyless and first turns",
		Requirement: "each is answered by another decode worker with the blocks of a prefill of its own, the first one's or that of another",
		Claims:      []string{"resilience.retry"},
		Fleet:       split, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			decode := r.WorkersOf(bench.Decode)
			for k, kind := range []worker.Kind{worker.ResetBeforeHeaders, worker.Refuse} {
				r.Fault(decode[k], bench.Fault{Kind: kind})
				for i := range n {
					q := bench.Req{Phase: string(kind), Tokens: 1}.In(bench.Shapes()[i%8])
					if i/8%2 == 1 {
						q.Session = r.SessionID(n*k + i)
					}
					r.Do(ctx, q)
				}
				r.Heal(decode[k])
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*n), judge.Handed(n, string(worker.ResetBeforeHeaders)), judge.HandedAtLast(n, string(worker.Refuse))),
	}
}

// PDS001UsedUp: decodes that break after they have fetched the blocks.
func (Cases) PDS001UsedUp() bench.Case {
	const n = 16
	return bench.Case{
		ID:          "PDS-001/used-up",
		Stimulus:    "16 requests, in every shape, keyless and first turns, that lie at decode workers which have fetched their blocks; one of these workers crashes before it answers",
		Requirement: "each is answered, by another decode worker where its own has gone, with the blocks of a prefill that nobody has fetched before",
		Claims:      []string{"resilience.retry"},
		Fleet:       split, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			var held []*bench.Handle
			var all []*bench.Pending
			for i := range n {
				q := bench.Req{Key: r.Key(), Phase: "held", Tokens: 1}.In(bench.Shapes()[i%8])
				if i/8 == 1 {
					q.Session = r.SessionID(i)
				}
				held = append(held, r.Plan(q.Key, bench.Plan{Role: bench.Decode, HoldHeaders: true}))
				all = append(all, r.Start(ctx, q))
				r.ArrivedAt(ctx, q.Key, bench.Decode, soon)
			}
			r.Crash(r.WorkersOf(bench.Decode)[1])
			for i, h := range held {
				h.Release()
				all[i].Wait()
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "held"), judge.Handed(n, "held")),
	}
}

// PDS004Bounded: no worker of a phase can answer.
func (Cases) PDS004Bounded() bench.Case {
	const n, most = 16, 5
	return bench.Case{
		ID:          "PDS-004/bounded",
		Stimulus:    "every prefill worker breaks every connection before headers, then every decode worker does; 16 requests in every shape, keyless and first turns",
		Requirement: "at most five dispatches each in either phase, an error at the client within 10 s, and nothing at decode workers without a prefill",
		Fleet:       split, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for k, role := range []bench.Role{bench.Prefill, bench.Decode} {
				r.Parallel(n, n, func(i int) {
					q := bench.Req{Key: r.Key(), Phase: "broken " + string(role)}.In(bench.Shapes()[i%8])
					if i >= n/2 {
						q.Session = r.SessionID(n*k + i)
					}
					r.Plan(q.Key, bench.Plan{Role: role, Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: i%4 >= 2}})
					r.Do(ctx, q)
				})
			}
			return nil
		},
		Judge: judge.All(judge.ErrorSeen(2*n), judge.Reached(1, "broken prefill"), judge.Untouched(history.Decode, 1, "broken prefill"),
			judge.Only(history.Prefill, judge.Dispatches(0, most)), judge.Only(history.Decode, judge.Dispatches(0, most))),
	}
}

// PDS005Decode: clients that leave once their prompt is prefilled.
func (Cases) PDS005Decode() bench.Case {
	moments := bench.Moments()
	const each = 8 // both endpoints, kept-alive or not, keyless or in a bound session
	return bench.Case{
		ID:          "PDS-005/left-in-decode",
		Stimulus:    "clients that leave during decode: before headers, in the middle of an answer, between events and while events flow, on both endpoints, keyless and in sessions",
		Requirement: "the decode worker sees it within 2 s, and nothing is prefilled or decoded again",
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(each*len(moments), each, func(i int) {
				m := moments[i/each]
				q := bench.Req{Key: r.Key(), Phase: m.Name, Endpoint: []string{history.Chat, history.Completions}[i%2], Stream: m.Stream, Kept: i/2%2 == 1, Tokens: 50}
				if i/4%2 == 1 {
					q.Session = r.SessionID(i)
					r.Do(ctx, bench.Req{Session: q.Session, Tokens: 1, Phase: "binds"})
				}
				m.Plan.Role = bench.Decode
				h := r.Plan(q.Key, m.Plan)
				p := r.Start(ctx, q)
				r.ArrivedAt(ctx, q.Key, bench.Decode, soon)
				for e := 1; e <= m.Events; e++ {
					h.Advance()
					p.AwaitEvents(ctx, e, soon)
				}
				p.Cancel()
				p.Wait()
				r.AwaitAbortAt(ctx, q.Key, bench.Decode, soon)
			})
			for _, shape := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "after", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var left []string
			for _, m := range moments {
				left = append(left, m.Name)
			}
			return judge.All(judge.Only(history.Decode, judge.AbortSeen(soon, each*len(moments), left...)),
				judge.Only(history.Prefill, judge.Dispatches(1, 1, left...)), judge.Only(history.Decode, judge.Dispatches(1, 1, left...)), judge.Served(8, "after"))(h)
		},
	}
}

// PDS005Retried: clients that leave while a phase of their request is at a second worker.
func (Cases) PDS005Retried() bench.Case {
	const n = 16
	return bench.Case{
		ID:          "PDS-005/left-in-retry",
		Stimulus:    "a prefill worker refuses connections, then a decode worker does; 32 clients, in every shape, that leave while that phase is held at another",
		Requirement: "the worker that has the request sees it within 2 s, and nothing is sent to decode for who leaves before",
		Claims:      []string{"resilience.retry"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for _, role := range []bench.Role{bench.Prefill, bench.Decode} {
				victim := r.WorkersOf(role)[0]
				r.Fault(victim, bench.Fault{Kind: worker.Refuse})
				r.Parallel(n, n, func(i int) {
					q := bench.Req{Key: r.Key(), Phase: string(role)}.In(bench.Shapes()[i%8])
					r.Plan(q.Key, bench.Plan{Role: role, HoldHeaders: true})
					p := r.Start(ctx, q)
					r.ArrivedAt(ctx, q.Key, role, soon)
					p.Cancel()
					p.Wait()
					r.AwaitAbortAt(ctx, q.Key, role, soon)
				})
				r.Heal(victim)
			}
			r.Do(ctx, bench.Req{Phase: "after"})
			return nil
		},
		Judge: judge.All(judge.Only(history.Prefill, judge.AbortSeen(soon, n, "prefill")), judge.Untouched(history.Decode, n, "prefill"),
			judge.Only(history.Decode, judge.AbortSeen(soon, n, "decode")), judge.Served(1, "after")),
	}
}
