package affinity

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// split is a fleet in two phases.
var split = bench.Split

// phase is one of the two: what is true of a session's worker where a request is served
// by one must be true of its worker in each.
type phase struct {
	role      bench.Role
	is, other string // as judges name it, and the other one
}

var (
	prefill = phase{bench.Prefill, history.Prefill, history.Decode}
	decode  = phase{bench.Decode, history.Decode, history.Prefill}
)

// here limits a plan to the workers of the phase.
func (p phase) here(plan bench.Plan) bench.Plan {
	plan.Role = p.role
	return plan
}

// Of the phase alone, and of the other.
func (p phase) only(j judge.Judge) judge.Judge   { return judge.Only(p.is, j) }
func (p phase) beside(j judge.Judge) judge.Judge { return judge.Only(p.other, j) }

// stick requires the sessions to stick in both phases.
func stick(sessions int, phases ...string) judge.Judge {
	return judge.All(prefill.only(judge.Sticks(sessions, phases...)), decode.only(judge.Sticks(sessions, phases...)))
}

// between sends a few keyless requests, which keep a strict rotation from falling into step.
func between(ctx context.Context, r *bench.Run) {
	for range r.Rand().IntN(3) {
		keyless(ctx, r)
	}
}

// keyless sends a request of nobody's. Where others' requests only have to be there, their
// connections are kept alive: new ones would cost more than the requests.
func keyless(ctx context.Context, r *bench.Run) {
	r.Do(ctx, bench.Req{Phase: "between", Tokens: 1, Kept: true})
}

// newcomer binds another session. Who places new sessions where the fewest are would
// otherwise rightly place one that has just lost its binding where it was.
func newcomer(ctx context.Context, r *bench.Run, n int) {
	r.Do(ctx, bench.Req{Session: r.SessionID(1_000_000 + n), Phase: "newcomer", Tokens: 1, Kept: true})
}

// AFF022Prefill: a prefill worker that is broken.
func (Cases) AFF022Prefill() bench.Case { return errorIn(prefill) }

// AFF022Decode: a decode worker that is broken.
func (Cases) AFF022Decode() bench.Case { return errorIn(decode) }

func errorIn(p phase) bench.Case {
	codes := []int{500, 502, 504, 507}
	plan, alpha := replan(1)
	return bench.Case{
		ID:          "AFF-022/" + p.is,
		Stimulus:    fmt.Sprintf("sessions bound in two phases, one turn of which has its %s answered 500, 502, 504 or 507, in every shape; then another turn, of every second session two", p.is),
		Requirement: fmt.Sprintf("the error is passed on from one worker, the next turns have another %s worker as new sessions have, and keep it, and the same %s worker", p.is, p.other),
		Claims:      []string{"pds.split"},
		Fleet:       split, Alone: true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range plan.N {
				id := r.SessionID(s)
				r.Do(ctx, bench.Req{Session: id, Phase: "bound", Tokens: 1}.In(bench.Shapes()[s%8]))
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "error", Tokens: 1}.In(bench.Shapes()[(s+3)%8])
				r.Plan(q.Key, p.here(status(codes[s/8%len(codes)]).plan))
				r.Do(ctx, q)
				between(ctx, r)
				for t := range 1 + s%2 {
					r.Do(ctx, bench.Req{Session: id, Turn: 2 + t, Phase: "after", Tokens: 1}.In(bench.Shapes()[(s+5+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(plan.N, "bound"), p.only(judge.PassedOn("error")), p.beside(judge.Sticks(plan.N)),
			p.only(judge.Settled(plan.N/2, "after")),
			p.only(judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "error", "after", "between",
				"a session whose worker answered with an error to be placed like a new one"))),
	}
}

// AFF004Prefill: first turns that fail in prefill.
func (Cases) AFF004Prefill() bench.Case { return failedIn(prefill) }

// AFF004Decode: first turns that fail in decode.
func (Cases) AFF004Decode() bench.Case { return failedIn(decode) }

func failedIn(p phase) bench.Case {
	failures := []failure{status(400), status(429), status(500), broken("reset", false)} // the last may keep workers out of sight
	plan, alpha := replan(len(failures))
	return bench.Case{
		ID:          "AFF-004/" + p.is,
		Stimulus:    fmt.Sprintf("new sessions whose first turn has its %s answered 400, 429 or 500, or broken before headers wherever it is tried, in every shape; then a second turn", p.is),
		Requirement: fmt.Sprintf("in %s the second turns are placed like new, not on the worker that failed", p.is),
		Claims:      []string{"pds.split"},
		Fleet:       split, Alone: true, Cost: 1500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for n, f := range failures {
				for s := range plan.N {
					id := r.SessionID(n*plan.N + s)
					q := bench.Req{Key: r.Key(), Session: id, Tokens: 1, Phase: f.name}.In(bench.Shapes()[s%8])
					r.Plan(q.Key, p.here(f.plan))
					r.Do(ctx, q)
					between(ctx, r)
					r.Do(ctx, bench.Req{Session: id, Turn: 1, Tokens: 1, Phase: "after " + f.name}.In(bench.Shapes()[(5*s+3)%8]))
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var all []judge.Judge
			for _, f := range failures {
				all = append(all, judge.Unserved(plan.N, f.name), p.only(judge.Replaced(judge.ByPhase, plan.N*3/4, alpha,
					f.name, "after "+f.name, "between", "a session whose first turn failed ("+f.name+") to be placed like a new one")))
			}
			return judge.All(all...)(h)
		},
	}
}

// AFF010Prefill: mishaps on a living prefill worker.
func (Cases) AFF010Prefill() bench.Case {
	return staysIn(prefill, "its prefill answered 400, 404 or 422, or is left by its client meanwhile",
		mishap{name: "400", plan: status(400).plan}, mishap{name: "404", plan: status(404).plan}, mishap{name: "422", plan: status(422).plan},
		mishap{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true})
}

// AFF010Decode: mishaps on a living decode worker.
func (Cases) AFF010Decode() bench.Case {
	return staysIn(decode, "its decode answered 400, 404 or 422, is left by its client before headers or between events, breaks off in the middle of its answer, or is a stream that ends with an error event",
		mishap{name: "400", plan: status(400).plan}, mishap{name: "404", plan: status(404).plan}, mishap{name: "422", plan: status(422).plan},
		mishap{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true},
		mishap{name: "left between events", plan: bench.Plan{Step: true, Events: 20}, leave: true, events: 2},
		mishap{name: "reset", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3}}},
		erring)
}

func staysIn(p phase, what string, mishaps ...mishap) bench.Case {
	const each = 12
	return bench.Case{
		ID:          "AFF-010/" + p.is,
		Stimulus:    "sessions bound in two phases, one request of which has " + what + ", in every shape; then two more turns",
		Requirement: "in each phase all turns are at one worker",
		Claims:      []string{"pds.split", "streaming.cancel"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for m, x := range mishaps {
				r.Parallel(each, 4, func(i int) {
					id := r.SessionID(m*each + i)
					r.Do(ctx, bench.Req{Session: id, Phase: "bound"}.In(bench.Shapes()[i%8]))
					q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: x.name, Tokens: 32}.In(bench.Shapes()[(i+3)%8])
					q.Stream = q.Stream || x.events > 0
					h := r.Plan(q.Key, p.here(x.plan))
					pending := r.Start(ctx, q)
					if x.leave {
						r.ArrivedAt(ctx, q.Key, p.role, 2*time.Second)
						for e := 1; e <= x.events; e++ {
							h.Advance()
							pending.AwaitEvents(ctx, e, 2*time.Second)
						}
						pending.Cancel()
						r.AwaitAbortAt(ctx, q.Key, p.role, 2*time.Second)
					}
					pending.Wait()
					for t := 2; t < 4; t++ {
						r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "bound"}.In(bench.Shapes()[(i+t)%8]))
					}
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*each*len(mishaps), "bound"), stick(each*len(mishaps))),
	}
}

// AFF008Decode: a bound decode worker that is momentarily full.
func (Cases) AFF008Decode() bench.Case {
	const sessions = 16
	return bench.Case{
		ID:          "AFF-008/decode",
		Stimulus:    "sessions bound in two phases whose decode worker answers 429 or 503, with Retry-After or without, to two turns in a row, in every shape, then not",
		Requirement: "the answer is passed on from that worker alone, and the session stays in both phases",
		Claims:      []string{"pds.split"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				for t, what := range []string{"bound", "full", "full", "bound", "bound"} {
					q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Turn: t, Phase: what, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
					if what == "full" {
						p := status([]int{429, 503}[s/8%2]).plan
						if (s+t)%2 == 1 {
							p.Fault.RetryAfter = 0
						}
						r.Plan(q.Key, decode.here(p))
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "bound"), decode.only(judge.PassedOn("full")), stick(sessions)),
	}
}
