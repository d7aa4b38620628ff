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

// ofTables asks nothing of routers without a table.
func ofTables(j judge.Judge) judge.Judge {
	return func(h *history.History) judge.Finding {
		if h.Session.Kind != "table" {
			return judge.Finding{}
		}
		return j(h)
	}
}

// AFF005PrefillResets: a prefill worker that lives, takes requests, and resets their connections.
func (Cases) AFF005PrefillResets() bench.Case { return resetsIn(prefill) }

// AFF005DecodeResets: a decode worker does.
func (Cases) AFF005DecodeResets() bench.Case { return resetsIn(decode) }

// AFF005PrefillSilent: a prefill worker that takes requests and never answers them.
func (Cases) AFF005PrefillSilent() bench.Case { return silentIn(prefill) }

// AFF005DecodeSilent: a decode worker does.
func (Cases) AFF005DecodeSilent() bench.Case { return silentIn(decode) }

func resetsIn(p phase) bench.Case {
	return failsIn(p, "-resets", "resets its connection before headers", worker.ResetBeforeHeaders)
}

func silentIn(p phase) bench.Case {
	c := failsIn(p, "-silent", "answers none", worker.HangRequests)
	c.Claims = append(c.Claims, "resilience.headerTimeout")
	c.Variant, c.Cost = shortHeaders, 1500*time.Millisecond
	return c
}

// failsIn makes a case of a worker of one phase that takes requests and is of no use.
func failsIn(p phase, name, how string, kind worker.Kind) bench.Case {
	const sessions = 12
	return bench.Case{
		ID:          "AFF-005/" + p.is + name,
		Stimulus:    fmt.Sprintf("12 sessions bound in two phases; the %s worker with most of them takes every request and %s; two more turns each, of all sessions at once", p.is, how),
		Requirement: fmt.Sprintf("every turn is answered; its sessions move to another %s worker (from a table: the second turns go to it alone), nobody else's do, and every session's %s worker stays", p.is, p.other),
		Claims:      []string{"pds.split", "resilience.retry"},
		Fleet:       split, Alone: true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(phase string, t int) {
				r.Parallel(sessions, sessions, func(s int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				})
			}
			round("before", 0)
			victim := fullest(r, r.WorkersOf(p.role))
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Fault(victim, bench.Fault{Kind: kind})
			round("after", 1)
			round("settled", 2)
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.Served(sessions, "after"), judge.Served(sessions, "settled"), p.beside(judge.Sticks(sessions)),
			p.only(judge.Moves("before", "after", sessions, notVictim)), p.only(judge.Moves("after", "settled", sessions, inTable)),
			ofTables(p.only(judge.Dispatches(1, 1, "settled")))),
	}
}

// AFF013Prefill: a late failure in prefill, while the session is bound to another worker.
func (Cases) AFF013Prefill() bench.Case { return lateIn(prefill) }

// AFF013Decode: one in decode.
func (Cases) AFF013Decode() bench.Case { return lateIn(decode) }

func lateIn(p phase) bench.Case {
	const sessions = 20
	return bench.Case{
		ID:          "AFF-013/" + p.is,
		Stimulus:    fmt.Sprintf("sessions bound in two phases with a turn whose %[1]s is held; a turn whose %[1]s is answered 500, one that is placed anew; then the held one is answered 500, too; another turn", p.is),
		Requirement: fmt.Sprintf("where the session went to another %s worker, its last turn is there; its %s worker stays", p.is, p.other),
		Claims:      []string{"affinity.errorEnds", "pds.split"},
		Fleet:       split, Alone: true, Cost: time.Second / 2,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				id := r.SessionID(s)
				turn := func(t int, phase string) bench.Req {
					return bench.Req{Key: r.Key(), Session: id, Turn: t, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
				}
				r.Do(ctx, turn(0, "bound"))
				late, first := turn(1, "late error"), turn(2, "error")
				h := r.Plan(late.Key, p.here(status(500).held()))
				held := r.Start(ctx, late)
				r.ArrivedAt(ctx, late.Key, p.role, 2*time.Second)
				r.Plan(first.Key, p.here(status(500).plan))
				r.Do(ctx, first)
				between(ctx, r)
				r.Do(ctx, turn(3, "anew"))
				h.Release()
				held.Wait()
				between(ctx, r)
				r.Do(ctx, turn(4, "then"))
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), p.only(judge.PassedOn("error", "late error")), judge.Served(sessions, "anew"), judge.Served(sessions, "then"),
			p.beside(judge.Sticks(sessions)), p.only(judge.Elsewhere("bound", "anew", sessions/4, judge.Settled(sessions/4, "anew", "then")))),
	}
}
