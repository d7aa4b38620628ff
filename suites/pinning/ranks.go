package pinning

import (
	"context"
	"net/http"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// ranks is how many data-parallel ranks the workers of these cases have.
const ranks = 4 // bench.Split.Ranks, too

func on(worker string, rank int) *script.Where { w := script.On(worker, rank); return &w }

// PIN004Ranks: what is bound to a rank.
func (Cases) PIN004Ranks() bench.Case {
	const sessions = 32
	return bench.Case{
		ID:          "PIN-004/ranks",
		Stimulus:    "workers of four ranks; new sessions pinned to each worker's each rank, then turns pinned to the worker alone, to the rank, not at all, and to other ranks",
		Requirement: "the turns to other ranks are answered 4xx and reach no worker, all others are at the bound rank",
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			r.Parallel(sessions, 4, func(s int) {
				id, w, rank := r.SessionID(s), workers[s%len(workers)], s/len(workers)%ranks
				pins := []*script.Where{on(w, rank), at(w), nil, on(w, rank), nil, at(w)}
				for t, pin := range pins {
					r.Do(ctx, bench.Req{Session: id, Turn: t, Pin: pin, Phase: "bound"}.In(bench.Shapes()[(s+3*t)%8]))
					if t > 0 && t < ranks {
						r.Do(ctx, bench.Req{Session: id, Turn: t, Pin: on(w, (rank+t)%ranks), Phase: "other rank"}.In(bench.Shapes()[(s+t)%8]))
					}
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(6*sessions, "bound"), judge.AsPinned(4*sessions, "bound"), judge.SticksToRank(sessions, "bound"), judge.Refused("other rank")),
	}
}

// PIN005Keyless: each rank by name.
func (Cases) PIN005Keyless() bench.Case {
	const each = 8
	return bench.Case{
		ID:          "PIN-005/each-rank",
		Stimulus:    "workers of four ranks; requests pinned to each of them in every shape, without a session and as first turns",
		Requirement: "each is served by its rank, rank 0 included",
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			n := len(workers) * ranks * each
			for i, x := range r.Rand().Perm(n) {
				q := bench.Req{Pin: on(workers[x%len(workers)], x/len(workers)%ranks), Phase: "pinned", Tokens: 1}.In(bench.Shapes()[x/len(workers)/ranks])
				if i%2 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*ranks*each, "pinned"), judge.AsPinned(4*ranks*each, "pinned")),
	}
}

// PIN008HTTP: a rank alone.
func (Cases) PIN008HTTP() bench.Case {
	return bench.Case{
		ID:          "PIN-008/rank-alone",
		Stimulus:    "workers of four ranks; each rank without a worker, keyless, in new sessions and in a bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.key"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound := r.SessionID(0)
			r.Do(ctx, bench.Req{Session: bound, Phase: "bound"})
			for i, shape := range bench.Shapes() {
				for _, id := range []string{"", bound, r.SessionID(1 + i)} {
					r.Do(ctx, bench.Req{Session: id, Pin: on("", i%ranks), Phase: "rank alone"}.In(shape))
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1+len(bench.Shapes()), "bound"), judge.Sticks(1, "bound"), judge.Refused("rank alone")),
	}
}

// PIN010Ranks: ranks that there are not.
func (Cases) PIN010Ranks() bench.Case {
	bad := []string{"4", "5", "100", "4294967295", "4294967296", "18446744073709551616", "-1", "one", "1.0", "1e0", "0x1", "1 2", "+1"}
	return bench.Case{
		ID:          "PIN-010/unknown-rank",
		Stimulus:    "workers of four ranks; pins to ranks out of range and to what is no number, keyless, in new sessions and in a bound one",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.key", "pins.rank"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound, home := r.SessionID(0), r.Workers()[0]
			r.Do(ctx, bench.Req{Session: bound, Pin: at(home), Phase: "bound"})
			for i, rank := range bad {
				shape := bench.Shapes()[i%8]
				for _, id := range []string{"", bound, r.SessionID(1 + i)} {
					r.Do(ctx, bench.Req{Session: id, Pin: at(home), Header: http.Header{r.Pins().Rank: {rank}}, Phase: "unknown"}.In(shape))
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(1+len(bad), "bound"), judge.Sticks(1, "bound"), judge.Refused("unknown")),
	}
}
