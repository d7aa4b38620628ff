package pinning

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// shortHeaders is the manifest variant whose wait for headers a case can wait out.
const shortHeaders = "shortHeaderTimeout"

// PIN001Silent: a pinned worker that says nothing until the router gives it up.
func (Cases) PIN001Silent() bench.Case {
	n := 2 * len(bench.Shapes())
	return bench.Case{
		ID:          "PIN-001/silent-worker",
		Stimulus:    "one worker answers no request, then not even connections; keyless requests and first turns pinned to it, in every shape, all at once, until the router gives up",
		Requirement: "none reaches another worker, and their clients see an error; once it speaks again they are served there",
		Claims:      []string{"resilience.headerTimeout"},
		Variant:     shortHeaders, Alone: true, Limit: 40 * time.Second, Cost: 3 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.Workers()[1]
			round := func(phase string, base int) {
				var qs []bench.Req
				for i, s := range bench.Shapes() {
					qs = append(qs, bench.Req{Pin: at(victim), Phase: phase}.In(s), bench.Req{Pin: at(victim), Phase: phase, Session: r.SessionID(base + i)}.In(s))
				}
				r.Together(ctx, qs)
			}
			for k, kind := range []worker.Kind{worker.HangRequests, worker.Hang} {
				r.Fault(victim, bench.Fault{Kind: kind})
				round(string(kind), 10*k)
			}
			r.Heal(victim)
			round("back", 20)
			return nil
		},
		Judge: judge.All(judge.AsPinned(0, string(worker.HangRequests), string(worker.Hang)), judge.ErrorSeen(2*n, string(worker.HangRequests), string(worker.Hang)),
			judge.Reached(n, string(worker.HangRequests)), judge.Served(n, "back"), judge.AsPinned(n, "back")),
	}
}

// PDS003Silent: the same of a pinned worker of each phase.
func (Cases) PDS003Silent() bench.Case {
	n := 2 * len(bench.Shapes())
	return bench.Case{
		ID:          "PDS-003/silent-worker",
		Stimulus:    "a prefill worker and a decode worker answer no request; requests pinned to one of them in its phase, keyless and as first turns, in every shape, all at once, until the router gives up",
		Requirement: "none reaches another worker of that phase, none is decoded without its prefill, and their clients see an error",
		Claims:      []string{"affinity.key", "pins.prefill", "resilience.headerTimeout"},
		Fleet:       split, Variant: shortHeaders, Alone: true, Limit: 40 * time.Second, Cost: 2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			var qs []bench.Req
			for k, role := range []bench.Role{bench.Prefill, bench.Decode} {
				victim := r.WorkersOf(role)[k]
				r.Fault(victim, bench.Fault{Kind: worker.HangRequests})
				for i, s := range bench.Shapes() {
					for _, id := range []string{"", r.SessionID(10*k + i)} {
						q := bench.Req{Session: id, Phase: fmt.Sprint("silent ", role)}.In(s)
						if role == bench.Prefill {
							q.PrefillPin = at(victim)
						} else {
							q.Pin, q.PrefillPin = at(victim), at(r.WorkersOf(bench.Prefill)[1])
						}
						qs = append(qs, q)
					}
				}
			}
			r.Together(ctx, qs)
			r.Do(ctx, bench.Req{PrefillPin: at(r.WorkersOf(bench.Prefill)[1]), Pin: at(r.WorkersOf(bench.Decode)[0]), Phase: "beside"})
			return nil
		},
		Judge: judge.All(judge.AsPinned(0), judge.ErrorSeen(n, "silent prefill"), judge.ErrorSeen(n, "silent decode"), judge.Served(1, "beside"),
			judge.Reached(n, "silent prefill"), judge.Untouched(history.Decode, n, "silent prefill"), judge.Only(history.Decode, judge.Reached(n, "silent decode"))),
	}
}
