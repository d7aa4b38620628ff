package affinity

import (
	"context"
	"fmt"
	"time"

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
	return retried("AFF-001/retried", "all turns of a session are served by the worker that answered the first", bench.Fleet{}, bench.Aggregated, judge.Settled(retriedSessions))
}

// AFF001Prefill: first turns whose prefill had to be retried.
func (Cases) AFF001Prefill() bench.Case {
	c := retried("AFF-001/retried-prefill", "all turns of a session are prefilled by the worker that answered the first, and decoded by one", split, bench.Prefill,
		judge.All(prefill.only(judge.Settled(retriedSessions)), decode.only(judge.Sticks(retriedSessions))))
	c.Claims = append(c.Claims, "pds.split")
	return c
}

// AFF001Decode: first turns whose decode had to be retried.
func (Cases) AFF001Decode() bench.Case {
	c := retried("AFF-001/retried-decode", "all turns of a session are decoded by the worker that answered the first, and prefilled by one", split, bench.Decode,
		judge.All(prefill.only(judge.Sticks(retriedSessions)), decode.only(judge.Settled(retriedSessions))))
	c.Claims = append(c.Claims, "pds.split")
	return c
}

// retriedSessions lets a router that forgets where it retried pass once in a million,
// if a session that is placed anew has two workers to go to: a third of them is retried.
const retriedSessions = 60

// retried makes a case of new sessions of which some meet a death, at a worker of the
// role. A first turn that is not retried decides nothing.
func retried(id, requirement string, fleet bench.Fleet, role bench.Role, sticks judge.Judge) bench.Case {
	return bench.Case{
		ID:          id,
		Stimulus:    "first turns of 60 new sessions, in every shape, that lie at workers when one of these crashes; then three more turns each",
		Requirement: requirement,
		Claims:      []string{"resilience.retry"},
		Fleet:       fleet, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			var held []*bench.Handle
			var first []*bench.Pending
			for s := range retriedSessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "first", Tokens: 1}.In(bench.Shapes()[s%8])
				held = append(held, r.Plan(q.Key, bench.Plan{Role: role, HoldHeaders: true}))
				first = append(first, r.Start(ctx, q))
				r.ArrivedAt(ctx, q.Key, role, 2*time.Second)
			}
			r.Crash(r.WorkersOf(role)[1])
			for _, h := range held {
				h.Release()
			}
			for _, p := range first {
				p.Wait()
			}
			for t := 1; t < 4; t++ {
				for _, s := range r.Rand().Perm(retriedSessions) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: "later", Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(retriedSessions, "first"), judge.Served(3*retriedSessions, "later"), sticks),
	}
}
