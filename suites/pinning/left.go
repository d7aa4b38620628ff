package pinning

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// PIN010Left: pins to a worker that was there.
func (Cases) PIN010Left() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "PIN-010/left",
		Stimulus:    "sessions bound to a worker by their pin; it leaves, and runs on; pins to it, keyless, in new sessions and in those, in every shape; unpinned turns of those",
		Requirement: "each pin is answered 4xx and reaches no worker; the unpinned turns are served elsewhere",
		Claims:      []string{"affinity.key", "affinity.rebind", "scaling.live"},
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			leaver := r.Workers()[2]
			r.Parallel(sessions, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Pin: at(leaver), Phase: "before"}.In(bench.Shapes()[s%8]))
			})
			r.Leave(ctx, leaver)
			untilRefused(ctx, r, leaver)
			r.Parallel(sessions, 4, func(s int) {
				shape := bench.Shapes()[s%8]
				for _, id := range []string{"", r.SessionID(100 + s), r.SessionID(s)} {
					r.Do(ctx, bench.Req{Session: id, Turn: 1, Pin: at(leaver), Phase: "left"}.In(shape))
				}
				for t := 2; t < 4; t++ {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: "after"}.In(bench.Shapes()[(s+t)%8]))
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.AsPinned(sessions, "before"), judge.Refused("left"),
			judge.Served(2*sessions, "after"), judge.None(judge.Marked("leave"), "after"), judge.Settled(sessions, "after")),
	}
}

// untilRefused sends keyless pins to a worker that has left, which count for nothing,
// until one is refused, for the convergence time at most.
func untilRefused(ctx context.Context, r *bench.Run, leaver string) {
	ctx, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	for ctx.Err() == nil {
		if r.Do(ctx, bench.Req{Pin: at(leaver), Phase: "converging", Tokens: 1, Deadline: time.Second}).Status/100 == 4 {
			return
		}
		r.Pause(ctx, 10*time.Millisecond) // a pace, so that the history stays short
	}
}

// PIN008Prefill: a rank for a phase that there is not.
func (Cases) PIN008Prefill() bench.Case {
	return bench.Case{
		ID:          "PIN-008/prefill-rank",
		Stimulus:    "workers of four ranks that do both phases; ranks for prefill without a worker for it, alone and beside a pin, keyless, in new sessions and in a bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.key", "pins.prefill"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound, home := r.SessionID(0), r.Workers()[0]
			r.Do(ctx, bench.Req{Session: bound, Pin: at(home), Phase: "bound"})
			for i, shape := range bench.Shapes() {
				for _, id := range []string{"", bound, r.SessionID(1 + i)} {
					for _, pin := range []*script.Where{nil, at(home), on(home, i%ranks)} {
						r.Do(ctx, bench.Req{Session: id, Pin: pin, PrefillPin: on("", i%ranks), Phase: "rank alone"}.In(shape))
					}
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1+len(bench.Shapes()), "bound"), judge.Sticks(1, "bound"), judge.Refused("rank alone")),
	}
}

// PDS003Alone: a rank for prefill beside a decode worker.
func (Cases) PDS003Alone() bench.Case {
	return bench.Case{
		ID:          "PDS-003/rank-alone",
		Stimulus:    "pins to a decode worker, and to its rank, beside a rank for prefill without a worker, keyless, in new sessions and in a bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.key", "pins.rank", "pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound, home := r.SessionID(0), r.WorkersOf(bench.Decode)[0]
			r.Do(ctx, bench.Req{Session: bound, Pin: at(home), Phase: "bound"})
			for i, shape := range bench.Shapes() {
				for _, id := range []string{"", bound, r.SessionID(1 + i)} {
					for _, pin := range []*script.Where{at(home), on(home, i%ranks)} {
						r.Do(ctx, bench.Req{Session: id, Pin: pin, PrefillPin: on("", i%ranks), Phase: "rank alone"}.In(shape))
					}
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1+len(bench.Shapes()), "bound"), judge.Only(history.Decode, judge.Sticks(1, "bound")), judge.Refused("rank alone")),
	}
}

// PDS003Back: a rank that was meant for prefill.
func (Cases) PDS003Back() bench.Case {
	const n = 48
	return bench.Case{
		ID:          "PDS-003/prefill-rank",
		Stimulus:    "requests pinned to rank 3 of a prefill worker, keyless and as first turns, in every shape",
		Requirement: "they are prefilled there, and decoded at other ranks, too",
		Claims:      []string{"affinity.key", "pins.rank", "pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill := r.WorkersOf(bench.Prefill)
			for i := range 2 * n {
				q := bench.Req{PrefillPin: on(prefill[i%len(prefill)], 3), Phase: "keyless", Tokens: 1}.In(bench.Shapes()[i%8])
				if i/8%2 == 1 {
					q.Session, q.Phase = r.SessionID(i), "first turn"
				}
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "keyless"), judge.Served(n, "first turn"), judge.Handed(2*n), judge.AsPinned(2*n),
			judge.RankFree(history.Decode, n, "keyless"), judge.RankFree(history.Decode, n, "first turn")),
	}
}

// PDS003Session: the same the other way round, where it would bind.
func (Cases) PDS003Session() bench.Case {
	const n = 48
	return bench.Case{
		ID:          "PDS-003/decode-rank-binds",
		Stimulus:    "first turns pinned to rank 3 of a decode worker, in every shape, and a second turn of each with the same pin",
		Requirement: "they are decoded there, and prefilled at other ranks, too, the second turns as well",
		Claims:      []string{"affinity.key", "pins.rank"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			decode := r.WorkersOf(bench.Decode)
			for i := range n {
				pin := on(decode[i%len(decode)], 3)
				r.Do(ctx, bench.Req{Session: r.SessionID(i), Pin: pin, Phase: "first turn", Tokens: 1}.In(bench.Shapes()[i%8]))
				r.Do(ctx, bench.Req{Session: r.SessionID(i), Turn: 1, Pin: pin, Phase: "second turn", Tokens: 1}.In(bench.Shapes()[(i+3)%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "first turn"), judge.Served(n, "second turn"), judge.Handed(2*n), judge.AsPinned(2*n),
			judge.RankFree(history.Prefill, n, "first turn"), judge.RankFree(history.Prefill, n, "second turn"), judge.Only(history.Prefill, judge.Sticks(n))),
	}
}
