package affinity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// replan is the sample of sessions, per cell, that tells a router which binds 19
// in 20 of them from one that places them anew (see judge.Chance).
func replan(cells int) (plan stats.Plan, alpha float64) {
	alpha = 1e-6 / float64(cells)
	return stats.Must(stats.PlanUpper(alpha/2, judge.Chance, 0.95, 0.99)), alpha
}

// always is the sample of sessions that shows a fault which binds all of them: so many
// do not come back by chance at that rate. Where it is judged in halves, so many are each.
func always(alpha float64) int { return stats.Must(stats.AllSame(alpha/2, 2)) }

// inHalves is replan for so many cells and, beside them, so many times the halves of a
// sample (judge.ReplacedInHalves): n sessions, of which every shape has as many, each
// half of them with need and some to spare.
func inHalves(cells, times int) (n, need int, alpha float64) {
	plan, alpha := replan(cells + times*judge.Halves)
	need = always(alpha)
	return (max(plan.N, 2*need+2) + 7) / 8 * 8, need, alpha
}

// failure is one way for a first turn to end without a 2xx answer.
type failure struct {
	name  string
	plan  bench.Plan
	leave bool // the client leaves before headers
	pin   bool // the first turn is pinned to a worker
	rare  bool // counted over all shapes together instead of in each
}

func status(code int) failure {
	return failure{name: fmt.Sprintf("status %d", code),
		plan: bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code, RetryAfter: 1}}}
}

// rare is a status that is judged with fewer requests.
func rare(code int) failure {
	f := status(code)
	f.rare = true
	return f
}

func broken(name string, close bool) failure {
	return failure{name: name, plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: close}}}
}

func costOf(failures []failure) (cost time.Duration) {
	for _, f := range failures {
		if cost += 700 * time.Millisecond; f.rare {
			cost -= 500 * time.Millisecond
		}
	}
	return cost
}

// fail sends a request that fails as f says.
func fail(ctx context.Context, r *bench.Run, f failure, q bench.Req) {
	r.Plan(q.Key, f.plan)
	p := r.Start(ctx, q)
	if f.leave {
		r.Arrived(ctx, q.Key, 2*time.Second)
		p.Cancel()
		r.AwaitAbort(ctx, q.Key, 2*time.Second)
	}
	p.Wait()
}

// AFF004Left: the client leaves before headers.
func (Cases) AFF004Left() bench.Case {
	c := failed("client-left", "is left by its client before headers", failure{name: "client left", plan: bench.Plan{HoldHeaders: true}, leave: true})
	// A router that does not notice sees the first turn succeed in the end.
	c.Claims = []string{"streaming.cancel"}
	return uploading(c)
}

// AFF004ClientError: the request is at fault.
func (Cases) AFF004ClientError() bench.Case {
	return failed("client-error", "is answered 400, 404, 401, 403 or 422", status(400), status(404), rare(401), rare(403), rare(422))
}

// AFF004Overload: the worker is full.
func (Cases) AFF004Overload() bench.Case {
	return failed("overload", "is answered 429 or 503", status(429), status(503))
}

// AFF004ServerError: the worker fails.
func (Cases) AFF004ServerError() bench.Case {
	return failed("server-error", "is answered 500, 501, 502, 504, 505, 507 or 599",
		status(500), rare(501), rare(502), rare(504), rare(505), rare(507), rare(599))
}

// AFF004Reset: the connection breaks before headers, at every worker that is tried.
func (Cases) AFF004Reset() bench.Case {
	return failed("reset", "finds its connection reset or closed before headers", broken("reset", false), broken("closed", true))
}

// dead drives a worker's death by the given means and three rounds of turns.
func dead(ctx context.Context, r *bench.Run, sessions int, kill, back func(id string)) error {
	return deadOf(ctx, r, sessions, r.Workers(), kill, back)
}

// deadOf is dead for one of the workers.
func deadOf(ctx context.Context, r *bench.Run, sessions int, workers []string, kill, back func(id string)) error {
	// In the round after the death, eight turns are under way at a time.
	round := func(phase string, width int) {
		order := r.Rand().Perm(sessions)
		r.Parallel(sessions, width, func(i int) {
			r.Do(ctx, bench.Req{Session: r.SessionID(order[i]), Phase: phase}.In(bench.Shapes()[i%8]))
		})
	}
	round("before", 1)
	round("before", 1)
	victim := fullest(r, workers)
	if victim == "" {
		return nil // nobody was served, which the judge holds against the target
	}
	kill(victim)
	round("after", 8)
	round("settled", 1)
	round("settled", 8)
	if back != nil {
		back(victim)
		round("back", 1)
	}
	return nil
}

// fullest is the one of the workers that served most so far, or "" if none served anything.
func fullest(r *bench.Run, workers []string) (id string) {
	n := map[string]int{}
	r.EachServed(func(_, worker string) { n[worker]++ })
	for _, w := range workers {
		if n[w] > n[id] {
			id = w
		}
	}
	return id
}

// notVictim says that sessions stay unless their home was the worker of the
// history's first crash or fault.
func notVictim(h *history.History, home string) bool {
	i := slices.IndexFunc(h.Marks, func(m history.Mark) bool { return m.What == "crash" || m.What == "fault" })
	return i < 0 || h.Marks[i].Worker != home
}

// inTable says that sessions stay where a table once put them; a hash may answer
// differently once its ring has changed.
func inTable(h *history.History, _ string) bool { return h.Session.Kind == "table" }

func deadJudge(sessions int) judge.Judge {
	return judge.All(
		judge.Served(2*sessions, "before"), judge.Sticks(sessions, "before"),
		judge.Served(sessions, "after"), judge.Served(2*sessions, "settled"),
		judge.Moves("before", "after", sessions, notVictim),
		judge.Moves("after", "settled", sessions, inTable),
		judge.Settled(sessions, "settled"))
}

// AFF005Crash: a worker dies and its connections are reset.
func (Cases) AFF005Crash() bench.Case {
	const sessions = 40
	return bench.Case{
		ID:          "AFF-005/crash",
		Stimulus:    "40 bound sessions; the worker with most of them crashes; three more turns each; it comes back as a new incarnation; one more",
		Requirement: "every turn is answered, its sessions move once (from a table: for good), nobody else's move",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error { return dead(ctx, r, sessions, r.Crash, r.Restart) },
		Judge: judge.All(deadJudge(sessions), judge.Served(sessions, "back"), judge.Moves("settled", "back", sessions, inTable)),
	}
}

// AFF005Refuse: a worker stops accepting connections but resets none.
func (Cases) AFF005Refuse() bench.Case {
	const sessions = 40
	return bench.Case{
		ID:          "AFF-005/refuse",
		Stimulus:    "40 bound sessions; the worker with most of them refuses connections; three more turns each",
		Requirement: "every turn is answered, its sessions move once, nobody else's move",
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			return dead(ctx, r, sessions, func(id string) { r.Fault(id, bench.Fault{Kind: worker.Refuse}) }, nil)
		},
		Judge: deadJudge(sessions),
	}
}

// AFF005Together: a session goes on with several turns at once.
func (Cases) AFF005Together() bench.Case {
	const sessions, width = 24, 6
	return bench.Case{
		ID:          "AFF-005/together",
		Stimulus:    "24 bound sessions; the worker with most of them crashes; six turns at once of each, then one more",
		Requirement: "every turn is answered, those of one session by one worker, and nobody else's sessions move",
		Claims:      []string{"affinity.concurrentFirst"},
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			each := func(phase string) {
				for s := range sessions {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: phase}.In(bench.Shapes()[s%8]))
				}
			}
			each("before")
			each("before")
			victim := fullest(r, r.Workers())
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Crash(victim)
			r.Parallel(sessions, 4, func(s int) {
				qs := make([]bench.Req, width)
				for i := range qs {
					qs[i] = bench.Req{Session: r.SessionID(s), Phase: "after"}.In(bench.Shapes()[(s+i)%8])
				}
				r.Together(ctx, qs)
			})
			each("after")
			return nil
		},
		Judge: judge.All(judge.Served(2*sessions, "before"), judge.Sticks(sessions, "before"), judge.Served((width+1)*sessions, "after"),
			judge.Settled(sessions, "after"), judge.Moves("before", "after", sessions, notVictim)),
	}
}

// AFF008Overload: a bound worker that is momentarily full.
func (Cases) AFF008Overload() bench.Case { return overload("overload", "", false) }

// overload makes a case of bound workers that are full. One may say when to come back, or not.
func overload(name, how string, pinned bool) bench.Case {
	const sessions = 16
	return bench.Case{
		ID:          "AFF-008/" + name,
		Stimulus:    "bound sessions whose worker answers 429 or 503, with Retry-After or without, to four turns in a row" + how + ", in every shape, then not",
		Requirement: "the answer is passed on from that worker alone, and the session stays there",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				id, shape := r.SessionID(s), bench.ShapeOf(r.Rand(), bench.Shapes())
				first := bench.Req{Key: r.Key(), Session: id, Phase: "bound"}.In(shape(0))
				r.Do(ctx, first)
				fault := *status([]int{429, 503}[s%2]).plan.Fault
				if s/2%2 == 1 {
					fault.RetryAfter = 0
				}
				for range inARow {
					q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "overload"}.In(shape(1))
					if pinned {
						q.Pin = homeOf(r, first.Key)
					}
					r.Plan(q.Key, bench.Plan{Fault: &fault})
					r.Do(ctx, q)
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound"}.In(shape(2)))
				r.Do(ctx, bench.Req{Session: id, Turn: 3, Phase: "bound"}.In(shape(3)))
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "bound"), judge.PassedOn("overload"), judge.Sticks(sessions)),
	}
}
