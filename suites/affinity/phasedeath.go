package affinity

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF005Prefill: a prefill worker dies without a word.
func (Cases) AFF005Prefill() bench.Case { return diesIn(prefill) }

// AFF005Decode: a decode worker does.
func (Cases) AFF005Decode() bench.Case { return diesIn(decode) }

func diesIn(p phase) bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "AFF-005/" + p.is + "-crashes",
		Stimulus:    fmt.Sprintf("24 sessions bound in two phases; the %s worker with most of them crashes; three more turns each; it comes back as a new incarnation; one more", p.is),
		Requirement: fmt.Sprintf("every turn is answered with the blocks of its own prefill; its sessions move once to another %s worker (from a table: for good), nobody else's do, and every session's %s worker stays", p.is, p.other),
		Claims:      []string{"pds.split"},
		Fleet:       split, Alone: true, Limit: 40 * time.Second, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			return deadOf(ctx, r, sessions, r.WorkersOf(p.role), r.Crash, r.Restart)
		},
		Judge: judge.All(judge.Served(2*sessions, "before"), judge.Served(sessions, "after"), judge.Served(2*sessions, "settled"), judge.Served(sessions, "back"),
			judge.HandedAtLast(6*sessions), p.beside(judge.Sticks(sessions)), p.only(judge.Sticks(sessions, "before")),
			p.only(judge.Moves("before", "after", sessions, notVictim)), p.only(judge.Moves("after", "settled", sessions, inTable)),
			p.only(judge.Settled(sessions, "settled")), p.only(judge.Moves("settled", "back", sessions, inTable))),
	}
}

// AFF001Retried: first turns that had to be retried.
func (Cases) AFF001Retried() bench.Case {
	return retried("AFF-001/retried", "all turns of a session are served by the worker that answered the first", bench.Fleet{},
		func(r *bench.Run) []string { return r.Workers() }, func(j judge.Judge) judge.Judge { return j })
}

// AFF001Prefill: first turns whose prefill had to be retried.
func (Cases) AFF001Prefill() bench.Case {
	c := retried("AFF-001/retried-prefill", "all turns of a session are prefilled by the worker that answered the first, and decoded by one", split,
		func(r *bench.Run) []string { return r.WorkersOf(bench.Prefill) }, prefill.only)
	c.Judge = judge.All(c.Judge, decode.only(judge.Sticks(retriedSessions)))
	c.Claims = append(c.Claims, "pds.split")
	return c
}

const retriedSessions = 32

// retried makes a case in which one of the workers breaks connections, of new sessions.
func retried(id, requirement string, fleet bench.Fleet, of func(*bench.Run) []string, at func(judge.Judge) judge.Judge) bench.Case {
	return bench.Case{
		ID:          id,
		Stimulus:    "one worker of several refuses connections, then breaks them before headers; 32 new sessions of four turns each, in every shape",
		Requirement: requirement,
		Claims:      []string{"resilience.retry"},
		Fleet:       fleet, Alone: true, Limit: 40 * time.Second, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for k, kind := range []worker.Kind{worker.Refuse, worker.ResetBeforeHeaders} {
				r.Fault(of(r)[k], bench.Fault{Kind: kind})
				for s := range retriedSessions / 2 {
					for t := range 4 {
						r.Do(ctx, bench.Req{Session: r.SessionID(k*retriedSessions + s), Turn: t, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
						between(ctx, r)
					}
				}
				r.Heal(of(r)[k])
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*retriedSessions), at(judge.Settled(retriedSessions))),
	}
}
