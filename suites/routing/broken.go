package routing

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// upstream judges requests that failed at their workers. A router may put a failing
// worker aside: a request that finds all of them so is refused for want of one.
func upstream(n, status int, code, phase string) judge.Judge {
	return judge.All(judge.Unserved(n, phase), judge.WhoReached(true, judge.RouterError(1, status, code, phase)),
		judge.WhoReached(false, judge.RouterError(0, 503, unavailable, phase)))
}

// unreached judges requests that failed where no ledger tells whether a worker was tried,
// or whether the one that was put aside.
func unreached(n int, phase string) judge.Judge {
	return judge.All(judge.Unserved(n, phase), judge.RouterErrors(n, map[int]string{502: connectionFailed, 503: unavailable}, phase))
}

// breaks sends, in every shape, keyless requests, first turns and turns of sessions that
// are bound before; all break before headers at workers of the role.
func breaks(ctx context.Context, r *bench.Run, phase string, base int, role bench.Role) {
	for i, s := range bench.Shapes() {
		bound := bench.Req{Session: r.SessionID(base + 2*i), Phase: "binds", Tokens: 1}.In(s)
		r.Do(ctx, bound)
		bound.Turn = 1
		for _, q := range []bench.Req{{}, {Session: r.SessionID(base + 2*i + 1)}, bound} {
			q = q.In(s)
			q.Key, q.Phase = r.Key(), phase
			r.Plan(q.Key, bench.Plan{Role: role, Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: i%4 >= 2}})
			r.Do(ctx, q)
		}
	}
}

// refuses sends the same while the workers refuse connections.
func refuses(ctx context.Context, r *bench.Run, phase string, base int, workers []string) {
	for i, s := range bench.Shapes() {
		r.Do(ctx, bench.Req{Session: r.SessionID(base + 2*i), Phase: "binds", Tokens: 1}.In(s))
	}
	for _, w := range workers {
		r.Fault(w, bench.Fault{Kind: worker.Refuse})
	}
	for i, s := range bench.Shapes() {
		r.Do(ctx, bench.Req{Session: r.SessionID(base + 2*i), Turn: 1, Phase: phase}.In(s))
		r.Do(ctx, bench.Req{Phase: phase}.In(s))
		r.Do(ctx, bench.Req{Session: r.SessionID(base + 2*i + 1), Phase: phase}.In(s))
	}
	for _, w := range workers {
		r.Heal(w)
	}
}

// RTE006Broken: workers that cannot be reached.
func (Cases) RTE006Broken() bench.Case {
	n := 3 * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-006/connection-failed",
		Stimulus:    "requests whose connection is refused by all workers, and such whose connection is reset or closed before headers at every worker that is tried, keyless, in new and in bound sessions, in every shape",
		Requirement: "each is answered 502 with an error object whose code is connection_failed, or for want of a worker where all are put aside",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			refuses(ctx, r, "refused", 100, r.Workers())
			until(ctx, r)
			breaks(ctx, r, "broken", 0, bench.Aggregated)
			return nil
		},
		Judge: judge.All(unreached(n, "refused"), upstream(n, 502, connectionFailed, "broken")),
	}
}

// RTE006Phases: workers of one phase that cannot be reached.
func (Cases) RTE006Phases() bench.Case {
	n := 3 * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-006/phases",
		Stimulus:    "prefill, then decode workers that all break connections before headers, then that all refuse them; requests keyless, in new and in bound sessions, in every shape",
		Requirement: "each is answered 502 with an error object whose code is connection_failed, or for want of a worker where all are put aside",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, role := range []bench.Role{bench.Prefill, bench.Decode} {
				breaks(ctx, r, "broken", 200*i, role)
				until(ctx, r)
				refuses(ctx, r, "refused", 200*i+100, r.WorkersOf(role))
				until(ctx, r)
			}
			return nil
		},
		Judge: judge.All(unreached(2*n, "broken"), judge.Reached(1, "broken"), unreached(2*n, "refused")),
	}
}

// RTE006Pinned: a pinned worker that cannot be reached.
func (Cases) RTE006Pinned() bench.Case {
	n := 2 * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-006/pinned",
		Stimulus:    "one worker breaks connections before headers, then refuses them; requests pinned to it, keyless and in new sessions, in every shape",
		Requirement: "each is answered 502 with an error object whose code is connection_failed, or for want of a worker where it is put aside",
		Claims:      []string{"pins.worker"},
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.Workers()[1]
			pin := script.At(victim)
			for k, kind := range []worker.Kind{worker.ResetBeforeHeaders, worker.Refuse} {
				r.Fault(victim, bench.Fault{Kind: kind})
				for i, s := range bench.Shapes() {
					r.Do(ctx, bench.Req{Pin: &pin, Phase: "pinned"}.In(s))
					r.Do(ctx, bench.Req{Pin: &pin, Phase: "pinned", Session: r.SessionID(8*k + i)}.In(s))
				}
			}
			return nil
		},
		Judge: unreached(2*n, "pinned"),
	}
}

// until waits, for the convergence time at most, until a request is served again.
func until(ctx context.Context, r *bench.Run) {
	ctx, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	for ctx.Err() == nil {
		if q := r.Do(ctx, bench.Req{Phase: "again", Tokens: 1}); q.OK() {
			return
		}
		r.Pause(ctx, 10*time.Millisecond)
	}
}
