package affinity

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF014Left: questions about sessions whose worker has left.
func (Cases) AFF014Left() bench.Case {
	const sessions = 40
	return bench.Case{
		ID:          "AFF-014/http-dead",
		Stimulus:    "bound sessions; the worker with most of them leaves; two questions about each session, then two turns",
		Requirement: "sessions of that worker are not bound, and no answer names it; the others are bound where they were; all turns are served, and stick",
		Claims:      []string{"affinity.rebind", "scaling.live"},
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			home := map[string]string{}
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "before"}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				home[q.Session] = r.Served(q.Key)
			}
			leaver := fullest(r, r.Workers())
			if leaver == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Leave(ctx, leaver)
			untilGone(ctx, r, leaver)
			for t := range 2 {
				r.Parallel(sessions, 8, func(s int) {
					q := bench.Req{Session: r.SessionID(s), Turn: 1 + t, Asks: true, Phase: "bound", Deadline: 2 * time.Second}.In(bench.FreshShapes()[(s+t)%4])
					if home[q.Session] == leaver {
						q.Phase = "not bound"
					}
					r.Do(ctx, q)
				})
			}
			for t := range 2 {
				r.Parallel(sessions, 8, func(s int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 3 + t, Phase: "after"}.In(bench.Shapes()[(s+t)%8]))
				})
			}
			return nil
		},
		// The fullest of four workers has at least a quarter of the sessions.
		Judge: judge.All(judge.Served(sessions, "before"), judge.Asked(false, sessions/4, "not bound"), judge.Asked(true, 1, "bound"),
			judge.Served(2*sessions, "after"), judge.Settled(sessions, "after"), judge.None(judge.Marked("leave"), "after"),
			judge.Moves("before", "after", sessions, func(h *history.History, home string) bool { return home != judge.Marked("leave")(h) })),
	}
}

// untilGone sends keyless requests, which count for nothing, until so many in a row
// have gone elsewhere that chance would do it once in 1e10, for the convergence time
// at most.
func untilGone(ctx context.Context, r *bench.Run, leaver string) {
	ctx, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	for quiet, i := 0, 0; quiet < 80 && ctx.Err() == nil; i++ {
		q := bench.Req{Key: r.Key(), Phase: "converging", Tokens: 1, Deadline: time.Second}.In(bench.Shapes()[i%8])
		r.Do(ctx, q)
		if quiet++; r.Served(q.Key) == leaver {
			quiet = 0
		}
	}
}

// AFF014Ranks: the rank in the answer.
func (Cases) AFF014Ranks() bench.Case {
	const ranks, each = 4, 8
	const sessions = ranks * each
	return bench.Case{
		ID:          "AFF-014/ranks",
		Stimulus:    "workers of four ranks; sessions bound by pins to each rank, asked about with and without their pin and with one to the worker alone; an unpinned turn",
		Requirement: "each answer names worker and rank, rank 0 included, and the turn is there",
		Claims:      []string{"pins.worker", "pins.rank"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			r.Parallel(sessions, 4, func(s int) {
				id, w := r.SessionID(s), workers[s/ranks%len(workers)]
				pin, alone := script.On(w, s%ranks), script.At(w)
				r.Do(ctx, bench.Req{Session: id, Pin: &pin, Phase: "turn"}.In(bench.Shapes()[s%8]))
				for t, p := range []*script.Where{nil, &pin, nil} {
					r.Do(ctx, bench.Req{Session: id, Turn: 1 + t, Pin: p, Asks: true, Phase: "bound"}.In(bench.FreshShapes()[(s+t)%4]))
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 4, Pin: &alone, Asks: true, Phase: "by worker"}.In(bench.FreshShapes()[s%4]))
				r.Do(ctx, bench.Req{Session: id, Turn: 5, Phase: "turn"}.In(bench.Shapes()[(s+3)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*sessions, "turn"), judge.SticksToRank(sessions, "turn"), judge.Asked(true, 4*sessions, "bound", "by worker"),
			judge.AskedAt(3*sessions, "bound"), judge.AskedAt(sessions, "by worker")),
	}
}

// AFF014Pinned: questions with a pin about sessions that are not bound.
func (Cases) AFF014Pinned() bench.Case {
	const sessions = 32
	return bench.Case{
		ID:          "AFF-014/pinned",
		Stimulus:    "questions about new sessions, pinned to a worker; then a turn pinned to another, and questions with that pin and without",
		Requirement: "the first are answered with their pin's worker and bind nothing, the turn is served where it wants, and the later answers name that worker",
		Claims:      []string{"pins.worker"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			r.Parallel(sessions, 4, func(s int) {
				id := r.SessionID(s)
				first, then := script.At(workers[s%len(workers)]), script.At(workers[(s+1+s/8%3)%len(workers)])
				ask := func(t int, phase string, pin *script.Where) {
					r.Do(ctx, bench.Req{Session: id, Turn: t, Pin: pin, Asks: true, Phase: phase}.In(bench.FreshShapes()[(s+t)%4]))
				}
				ask(0, "not bound", &first)
				ask(1, "not bound", &first)
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Pin: &then, Phase: "turn"}.In(bench.Shapes()[s%8]))
				ask(3, "bound", &then)
				ask(4, "bound", nil)
				r.Do(ctx, bench.Req{Session: id, Turn: 5, Phase: "turn"}.In(bench.Shapes()[(s+3)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Asked(false, 2*sessions, "not bound"), judge.AskedAt(2*sessions, "not bound"), judge.Served(2*sessions, "turn"),
			judge.AsPinned(sessions, "turn"), judge.FollowsPin(sessions, "turn"), judge.Asked(true, 2*sessions, "bound"), judge.AskedAt(2*sessions, "bound")),
	}
}

// AFF014PinsRefused: questions with pins that cannot be followed.
func (Cases) AFF014PinsRefused() bench.Case {
	const ranks = 2
	return bench.Case{
		ID:          "AFF-014/pins-refused",
		Stimulus:    "workers of two ranks; questions with a pin to a worker and to a rank that there are not and with a rank alone, about bound sessions and new ones, and with a pin to another worker about bound ones",
		Requirement: "each is answered 4xx and reaches no worker; the bound sessions stay",
		Claims:      []string{"pins.worker", "pins.rank"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers, zero := r.Workers(), 0
			for i, s := range bench.Shapes() {
				id, home := r.SessionID(i), script.At(workers[i%len(workers)])
				unknown, beyond, other := script.At("no-such-worker"), script.On(home.Worker, ranks), script.At(workers[(i+1)%len(workers)])
				r.Do(ctx, bench.Req{Session: id, Pin: &home, Phase: "bound"}.In(s))
				for _, pin := range []*script.Where{&unknown, &beyond, {Rank: &zero}} {
					for _, session := range []string{id, r.SessionID(100 + i)} {
						r.Do(ctx, bench.Req{Session: session, Turn: 1, Pin: pin, Asks: true, Phase: "refused"}.In(s))
					}
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 1, Pin: &other, Asks: true, Phase: "refused"}.In(s))
				r.Do(ctx, bench.Req{Session: id, Turn: 2, Phase: "bound"}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*len(bench.Shapes()), "bound"), judge.FollowsPin(len(bench.Shapes()), "bound"), judge.Refused("refused")),
	}
}

// AFF014Refused: questions about what there cannot be.
func (Cases) AFF014Refused() bench.Case {
	return bench.Case{
		ID:          "AFF-014/refused",
		Stimulus:    "questions with an id of 257 bytes, and for a model that no worker serves, in a bound session and in a new one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.idLimit", "routing.models"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound := r.SessionID(0)
			for i, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Session: bound, Turn: i, Phase: "bound"}.In(s))
				long := r.SessionID(1 + i)
				r.Do(ctx, bench.Req{Session: long + strings.Repeat("z", 257-len(long)), Asks: true, Phase: "refused"}.In(s))
				for _, id := range []string{bound, r.SessionID(100 + i)} {
					r.Do(ctx, bench.Req{Session: id, Model: "no-such-model", Asks: true, Phase: "refused"}.In(s))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(len(bench.Shapes()), "bound"), judge.Sticks(1, "bound"), judge.Refused("refused")),
	}
}
