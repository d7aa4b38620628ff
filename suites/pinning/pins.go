package pinning

import (
	"context"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

func at(worker string) *script.Where { w := script.At(worker); return &w }

// PIN001Keyless: pins without a session.
func (Cases) PIN001Keyless() bench.Case {
	return bench.Case{
		ID:          "PIN-001/keyless",
		Stimulus:    "requests without a session, pinned to each worker in every shape, in a seeded order, unpinned ones between",
		Requirement: "each pinned one is served by its worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			shapes, workers := bench.Shapes(), r.Workers()
			order := r.Rand().Perm(len(shapes) * len(workers))
			for _, i := range order {
				r.Do(ctx, bench.Req{Pin: at(workers[i%len(workers)]), Phase: "pinned"}.In(shapes[i/len(workers)]))
				r.Do(ctx, bench.Req{Phase: "free"}.In(shapes[i/len(workers)]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*len(bench.Shapes()), "pinned"), judge.Served(1, "free"), judge.AsPinned(4*len(bench.Shapes()), "pinned")),
	}
}

// PIN001Binds: a pinned first turn.
func (Cases) PIN001Binds() bench.Case {
	const sessions = 32
	return bench.Case{
		ID:          "PIN-001/binds",
		Stimulus:    "new sessions whose first turn is pinned, to each worker in every shape; three unpinned turns, then one with the same pin",
		Requirement: "all turns are served by the pin's worker",
		Claims:      []string{"affinity.key"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			r.Parallel(sessions, 4, func(s int) {
				id, pin := r.SessionID(s), at(workers[s/8%len(workers)])
				r.Do(ctx, bench.Req{Session: id, Pin: pin}.In(bench.Shapes()[s%8]))
				for t := 1; t < 4; t++ {
					r.Do(ctx, bench.Req{Session: id, Turn: t}.In(bench.Shapes()[(s+3*t)%8]))
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 4, Pin: pin}.In(bench.Shapes()[(s+5)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(5*sessions), judge.AsPinned(2*sessions), judge.FollowsPin(3*sessions), judge.Sticks(sessions)),
	}
}

// PIN001Down: a pinned worker that does not answer.
func (Cases) PIN001Down() bench.Case {
	return bench.Case{
		ID:          "PIN-001/worker-down",
		Stimulus:    "one worker refuses connections, then breaks them before headers; keyless requests and first turns pinned to it, in every shape",
		Requirement: "none reaches another worker, and their clients see an error; once it is back they are served there",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.Workers()[1]
			round := func(phase string, base int) {
				for i, s := range bench.Shapes() {
					r.Do(ctx, bench.Req{Pin: at(victim), Phase: phase}.In(s))
					r.Do(ctx, bench.Req{Pin: at(victim), Phase: phase, Session: r.SessionID(base + i)}.In(s))
				}
			}
			for i, kind := range []worker.Kind{worker.Refuse, worker.ResetBeforeHeaders} {
				r.Fault(victim, bench.Fault{Kind: kind})
				round("down", 100*i)
			}
			r.Heal(victim)
			round("back", 200)
			return nil
		},
		Judge: judge.All(judge.AsPinned(0, "down"), judge.ErrorSeen(4*len(bench.Shapes()), "down"),
			judge.Served(2*len(bench.Shapes()), "back"), judge.AsPinned(2*len(bench.Shapes()), "back")),
	}
}

// PIN002Refused: pins against living bindings.
func (Cases) PIN002Refused() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "PIN-002/refused",
		Stimulus:    "bound sessions, a turn pinned to each worker but the bound one, in every shape, unpinned turns between",
		Requirement: "the contradicting turns are answered 4xx and reach no worker, the others stay",
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 4, func(s int) {
				id := r.SessionID(s)
				q := bench.Req{Key: r.Key(), Session: id, Phase: "bound"}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				home := r.Served(q.Key)
				for i, w := range r.Workers() {
					if w != home {
						r.Do(ctx, bench.Req{Session: id, Turn: 1 + i, Pin: at(w), Phase: "contradicts"}.In(bench.Shapes()[(s+3*i)%8]))
						r.Do(ctx, bench.Req{Session: id, Turn: 1 + i, Phase: "bound"}.In(bench.Shapes()[(s+i)%8]))
					}
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(4*sessions, "bound"), judge.Sticks(sessions, "bound"), judge.Refused("contradicts")),
	}
}

// PIN009Outage: the pin that leads out.
func (Cases) PIN009Outage() bench.Case {
	const sessions = 16
	return bench.Case{
		ID:          "PIN-009/outage",
		Stimulus:    "sessions bound to a worker by their pin; it leaves, and the router has taken over a list without it; a turn pinned to a living one, two unpinned",
		Requirement: "all are served, the later ones where the second pin bound them",
		Claims:      []string{"scaling.live"},
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Pin: at(workers[0]), Phase: "before"}.In(bench.Shapes()[s%8]))
			}
			r.Leave(ctx, workers[0])
			for s := range sessions {
				id := r.SessionID(s)
				r.Do(ctx, bench.Req{Session: id, Turn: 1, Pin: at(workers[1+s%3]), Phase: "after"}.In(bench.Shapes()[(s+1)%8]))
				for t := 2; t < 4; t++ {
					r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "after"}.In(bench.Shapes()[(s+t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.AsPinned(sessions, "before"),
			judge.Served(3*sessions, "after"), judge.AsPinned(sessions, "after"), judge.FollowsPin(2*sessions, "after")),
	}
}

// PIN010Unknown: pins that name nobody.
func (Cases) PIN010Unknown() bench.Case {
	names := []string{"no-such-worker", "w", "W0", "w00", "0", "-1", "w0,w1", "http://127.0.0.1:1"}
	const addresses = 2 // of the first worker: they are no names
	return bench.Case{
		ID:          "PIN-010/unknown-worker",
		Stimulus:    "pins to workers that there are not, some with names near to one, two with its address, keyless, in new sessions and in a bound one",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound := r.SessionID(0)
			r.Do(ctx, bench.Req{Session: bound, Phase: "bound"})
			url := r.URLOf(r.Workers()[0])
			for i, name := range append(slices.Clone(names), url, strings.TrimPrefix(url, "http://")) {
				shape := bench.Shapes()[i%8]
				for _, id := range []string{"", bound, r.SessionID(1 + i)} {
					r.Do(ctx, bench.Req{Session: id, Pin: at(name), Phase: "unknown"}.In(shape))
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1+len(names)+addresses, "bound"), judge.Sticks(1, "bound"), judge.Refused("unknown")),
	}
}
