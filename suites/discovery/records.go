package discovery

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// DSC007Ghost: a worker that left while the store was out of reach.
func (Cases) DSC007Ghost() []bench.Case {
	const sample = 60
	ghost := func(name, how string, meanwhile func(ctx context.Context, s *bench.Store) error) bench.Case {
		return in(target.StoreEtcd, bench.Case{
			ID:          "DSC-007/" + name,
			Stimulus:    "a worker unregisters while the store is out of the router's reach" + how + "; then it is back; keyless requests all the while",
			Requirement: "three seconds later the worker gets none, and every request is served",
			Alone:       true, Cost: 3 * time.Second,
			Drive: func(ctx context.Context, r *bench.Run) error {
				r.Discovered(ctx)
				leaver := r.Workers()[1]
				r.Faulty("cut", func(s *bench.Store) error { return s.Cut(ctx) })
				r.During(ctx, "during", func() { r.Unregister(ctx, leaver) })
				r.Faulty("meanwhile", func(s *bench.Store) error { return meanwhile(ctx, s) })
				r.Faulty("heal", func(s *bench.Store) error { return s.Heal(ctx) })
				r.AwayFrom(ctx, leaver, reconnected(nil))
				after(ctx, r, sample)
				return nil
			},
			Judge: gone("unregister", sample),
		})
	}
	return []bench.Case{
		ghost("ghost", "", func(context.Context, *bench.Store) error { return nil }),
		ghost("compacted", ", and the store forgets its history", func(ctx context.Context, s *bench.Store) error {
			_, err := s.Compact(ctx)
			return err
		}),
	}
}

// spoilt are records that no router can use.
func spoilt(good []byte) [][]byte {
	half := good[:len(good)/2]
	return [][]byte{
		{}, []byte("{"), half, []byte("\xff\xfe\xfd"), append([]byte("\xff"), good...), []byte("null"), []byte("[]"), []byte("<html>"),
	}
}

// DSC008Bad: records that cannot be used.
func (Cases) DSC008Bad() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-008/bad",
		Stimulus:    "eight records are put that cannot be used (empty, cut in half, not UTF-8, of another kind), beside those of three workers; keyless requests; then a fourth worker registers",
		Requirement: "every request is served, all three workers are still used, and the fourth within the convergence time",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			r.During(ctx, "during", func() {
				for i, v := range spoilt(r.Record(r.Workers()[0])) {
					r.Stray(ctx, "bad"+string(rune('a'+i)), v)
				}
			})
			after(ctx, r, sample)
			joins(ctx, r)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(judge.Served(1, "during", "converging"), judge.Served(sample, "after"),
				judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "after"), judge.Used("register", judge.Converged, 8))(h)
		},
	})
}

// DSC009LastGood: a record of a worker that goes bad while the worker lives.
func (Cases) DSC009LastGood() []bench.Case {
	const sample = 90
	return over(bench.Case{
		ID:          "DSC-009/last-good",
		Stimulus:    "the record of a worker turns into bytes that cannot be used, while its owner keeps it alive; then a fourth worker registers, and is used, which shows that the change has been seen; keyless requests",
		Requirement: "the worker is used as before, and every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id := r.Workers()[1]
			r.During(ctx, "during", func() { r.Spoil(ctx, id, []byte("{\"id\":")) })
			joins(ctx, r)
			after(ctx, r, sample)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(judge.Served(1, "during", "converging"), judge.Served(sample, "after"),
				judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "after"), judge.Used("register", judge.Converged, 8))(h)
		},
	})
}

// DSC010Moved: the same name at a new address.
func (Cases) DSC010Moved() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-010/moved",
		Stimulus:    "the record of a worker names another address, where another one serves; keyless requests all the while",
		Requirement: "within the convergence time the new one gets requests, and after it the old one none; every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id, to := r.Workers()[1], r.Add()
			r.During(ctx, "during", func() { r.Relocate(ctx, id, to) })
			r.AwayFrom(ctx, id, r.Convergence())
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(gone("move", sample), judge.Used("moved", judge.Converged, 8)),
	})
}

// DSC011Sessions: what a router knows of sessions is its own.
func (Cases) DSC011Sessions() []bench.Case {
	const sessions = 1000
	return over(bench.Case{
		ID:          "DSC-011/sessions",
		Stimulus:    "1,000 sessions of one turn, then a look into the store",
		Requirement: "no key and no record there bears the name of a session",
		Claims:      []string{"affinity.key"},
		Alone:       true, Cost: 1500 * time.Millisecond,
		Limit: bench.LimitFor(sessions),
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Tokens: 1, Phase: "turns"}.In(bench.Shapes()[s%8]))
			}
			r.Look(ctx)
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "turns"), judge.Unnamed(sessions)),
	})
}
