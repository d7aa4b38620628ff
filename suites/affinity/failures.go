package affinity

import (
	"context"
	"slices"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

func status(code int) bench.Plan {
	return bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code, RetryAfter: 1}}
}

// failed makes a case of first turns that fail by one of the plans, wherever
// they land, each followed by a second turn. Every kind of failure has a target
// of its own, since a router may keep a failing worker out of sight for a while.
func failed(name, how string, leave bool, plans ...bench.Plan) bench.Case {
	shapes := bench.FreshShapes()
	// In each cell of endpoint and streaming, that all second turns go back by chance.
	k := stats.Must(stats.AllSame(1e-6/float64(len(shapes)*len(plans)), bench.DefaultWorkers))
	// Twice as many are sent: some may find no worker that the router is willing to ask.
	n := 2 * k
	return bench.Case{
		ID:          "AFF-004/" + name,
		Stimulus:    "new sessions whose first turn " + how + ", on both endpoints, streaming or not; then a second turn",
		Requirement: "the second turns are placed like new: not all on the worker that failed",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range n * len(shapes) {
				id, shape := r.SessionID(i), shapes[i%len(shapes)]
				q := bench.Req{Key: r.Key(), Session: id, Phase: "first"}.In(shape)
				r.Plan(q.Key, plans[i/len(shapes)%len(plans)])
				p := r.Start(ctx, q)
				if leave {
					r.Arrived(ctx, q.Key, 2*time.Second)
					p.Cancel()
					r.AwaitAbort(ctx, q.Key, 2*time.Second)
				}
				p.Wait()
				// A few keyless requests keep a strict rotation from falling into step.
				for range r.Rand().IntN(4) {
					r.Do(ctx, bench.Req{Phase: "between"})
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 1, Phase: "second"}.In(bench.Shapes()[(i*5+3)%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Unserved(n*len(shapes), "first"), judge.Replaced(judge.ByShape, k, "first", "second",
			"a session whose first turn "+how+" to be placed like a new one")),
	}
}

// AFF004Left: the client leaves before headers.
func (Cases) AFF004Left() bench.Case {
	return failed("client-left", "is left by its client before headers", true, bench.Plan{HoldHeaders: true})
}

// AFF004ClientError: the request is at fault.
func (Cases) AFF004ClientError() bench.Case {
	return failed("client-error", "is answered 400 or 404", false, status(400), status(404))
}

// AFF004Overload: the worker is full.
func (Cases) AFF004Overload() bench.Case {
	return failed("overload", "is answered 429 or 503", false, status(429), status(503))
}

// AFF004ServerError: the worker fails.
func (Cases) AFF004ServerError() bench.Case {
	return failed("server-error", "is answered 500", false, status(500))
}

// AFF004Reset: the connection breaks before headers, at every worker that is tried.
func (Cases) AFF004Reset() bench.Case {
	return failed("reset", "finds its connection broken before headers", false,
		bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders}},
		bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: true}})
}

// dead drives a worker's death by the given means and three rounds of turns.
func dead(ctx context.Context, r *bench.Run, sessions int, kill, back func(id string)) error {
	round := func(phase string) {
		order := r.Rand().Perm(sessions)
		for i, s := range order {
			r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: phase}.In(bench.Shapes()[i%8]))
		}
	}
	round("before")
	round("before")
	home := map[string]int{}
	r.EachServed(func(key, worker string) { home[worker]++ })
	victim := ""
	for _, w := range r.Workers() {
		if victim == "" || home[w] > home[victim] {
			victim = w
		}
	}
	if home[victim] == 0 {
		return nil // nobody was served, which the judge holds against the target
	}
	kill(victim)
	round("after")
	round("settled")
	round("settled")
	if back != nil {
		back(victim)
		round("back")
	}
	return nil
}

// notVictim says that sessions stay unless their home was the worker of the
// history's first crash or fault.
func notVictim(h *history.History, home string) bool {
	i := slices.IndexFunc(h.Marks, func(m history.Mark) bool { return m.What == "crash" || m.What == "fault" })
	return i < 0 || h.Marks[i].Worker != home
}

func everywhere(*history.History, string) bool { return true }

func deadJudge(sessions int) judge.Judge {
	return judge.All(
		judge.Served(2*sessions, "before"), judge.Sticks(sessions, "before"),
		judge.Served(sessions, "after"), judge.Served(2*sessions, "settled"),
		judge.Moves("before", "after", sessions, notVictim),
		judge.Moves("after", "settled", sessions, everywhere),
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
		Judge: judge.All(deadJudge(sessions), judge.Served(sessions, "back"), judge.Moves("settled", "back", sessions,
			func(h *history.History, _ string) bool { return h.Session.Kind == "table" })),
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

// AFF008Overload: a bound worker that is momentarily full.
func (Cases) AFF008Overload() bench.Case {
	const sessions = 12
	return bench.Case{
		ID:          "AFF-008/overload",
		Stimulus:    "bound sessions whose worker answers 429 or 503 to one turn, in every shape, then not",
		Requirement: "the answer is passed on from that worker alone, and the session stays there",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				id, shape := r.SessionID(s), bench.ShapeOf(r.Rand(), bench.Shapes())
				r.Do(ctx, bench.Req{Session: id, Phase: "bound"}.In(shape(0)))
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "overload"}.In(shape(1))
				r.Plan(q.Key, status([]int{429, 503}[s%2]))
				r.Do(ctx, q)
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound"}.In(shape(2)))
				r.Do(ctx, bench.Req{Session: id, Turn: 3, Phase: "bound"}.In(shape(3)))
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "bound"), judge.PassedOn("overload"), judge.Sticks(sessions)),
	}
}
