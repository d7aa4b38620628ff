package discovery

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// reconnected is how long a router may take to follow its store again.
func reconnected(*history.History) time.Duration { return 3 * time.Second }

// outage is a way in which etcd is out of reach, and the end of it.
type outage struct {
	name, how  string
	begin, end func(ctx context.Context, s *bench.Store) error
}

func heal(ctx context.Context, s *bench.Store) error { return s.Heal(ctx) }

func cut(ctx context.Context, s *bench.Store) error { return s.Cut(ctx) }

func halfOpen(ctx context.Context, s *bench.Store) error { return s.HalfOpen(ctx) }

// each does something to every node of a store.
func each(s *bench.Store, do func(node int) error) error {
	for n := range s.Nodes() {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

// DSC006Outages: a store that is out of reach for a while.
func (Cases) DSC006Outages() (all []bench.Case) {
	for _, o := range []outage{
		{"cut", "connections to the store are reset and refused", cut, heal},
		{"half-open", "no byte passes between the router and the store, whose connections stay open", halfOpen, heal},
		{"stopped", "the store is stopped, and started again with its data", func(ctx context.Context, s *bench.Store) error {
			return each(s, func(n int) error { return s.Stop(ctx, n) })
		}, func(ctx context.Context, s *bench.Store) error {
			return each(s, func(n int) error { return s.Start(ctx, n) })
		}},
	} {
		all = append(all, out(o))
	}
	return all
}

// out makes a case of an outage.
func out(o outage) bench.Case {
	const sample = 90
	return in(target.StoreEtcd, bench.Case{
		ID:          "DSC-006/" + o.name,
		Stimulus:    o.how + ", for a second longer than records live, while their owners keep them alive or try to; keyless requests all the while; then a worker registers",
		Requirement: "every request is served, all workers are still used at the end of the outage and after it, and within three seconds of its end the new one",
		Alone:       true, Cost: 4 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			r.Faulty(o.name, func(s *bench.Store) error { return o.begin(ctx, s) })
			r.During(ctx, "outage", func() { r.Pause(ctx, r.TTL()+time.Second) })
			sent(ctx, r, "still", sample)
			r.During(ctx, "during", func() { r.Faulty("end", func(s *bench.Store) error { return o.end(ctx, s) }) })
			id := r.Add()
			r.During(ctx, "during", func() { r.Register(ctx, id) })
			r.Until(ctx, "converging", reconnected(nil), func(w string) bool { return w == id })
			sent(ctx, r, "again", sample)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(judge.Served(1, "outage"), judge.Served(sample, "still"), judge.Served(1, "during", "converging"), judge.Served(sample, "again"),
				judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "still", "again"), judge.Used("register", reconnected, 8))(h)
		},
	})
}

// DSC007Missed: what happens while the store is out of reach.
func (Cases) DSC007Missed() []bench.Case {
	const sample = 60
	ghost := func(name, how string, begin func(context.Context, *bench.Store) error, meanwhile func(ctx context.Context, s *bench.Store) error) bench.Case {
		return in(target.StoreEtcd, bench.Case{
			ID:          "DSC-007/" + name,
			Stimulus:    "a worker unregisters while " + how + "; then it is back; keyless requests all the while",
			Requirement: "three seconds later the worker gets none, and every request is served",
			Alone:       true, Cost: 700 * time.Millisecond,
			Drive: func(ctx context.Context, r *bench.Run) error {
				r.Discovered(ctx)
				leaver := r.Workers()[1]
				r.Faulty("out of reach", func(s *bench.Store) error { return begin(ctx, s) })
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
	nothing := func(context.Context, *bench.Store) error { return nil }
	return []bench.Case{
		ghost("ghost", "the store cannot be reached", cut, nothing),
		ghost("silent", "no byte passes between the router and the store, whose connections stay open", halfOpen, nothing),
		ghost("compacted", "the store cannot be reached, and the store forgets its history", cut, func(ctx context.Context, s *bench.Store) error {
			_, err := s.Compact(ctx)
			return err
		}),
		in(target.StoreEtcd, bench.Case{
			ID:          "DSC-007/moved",
			Stimulus:    "the record of a worker names another address while the store cannot be reached; then it is back; keyless requests all the while",
			Requirement: "within three seconds the new address gets requests, and after them the old one none; every request is served",
			Claims:      []string{"routing.spread"},
			Alone:       true, Cost: 700 * time.Millisecond,
			Drive: func(ctx context.Context, r *bench.Run) error {
				r.Discovered(ctx)
				id, to := r.Workers()[1], r.Add()
				r.Faulty("cut", func(s *bench.Store) error { return s.Cut(ctx) })
				r.During(ctx, "during", func() { r.Relocate(ctx, id, to, nil) })
				r.Faulty("heal", func(s *bench.Store) error { return s.Heal(ctx) })
				r.Mark("reached again", to, "")
				r.AwayFrom(ctx, id, reconnected(nil))
				after(ctx, r, sample)
				return nil
			},
			Judge: judge.All(gone("move", sample), judge.Used("reached again", reconnected, 8)),
		}),
	}
}

// DSC012Start: the store is away when the router starts.
func (Cases) DSC012Start() bench.Case {
	const sample = 60
	return in(target.StoreEtcd, bench.Case{
		ID:          "DSC-012/start",
		Stimulus:    "the router starts while connections to the store are refused; a second later the store is there, and three workers in it",
		Requirement: "within three seconds of the store's return each of them gets requests, and from then on every request is served",
		Where:       bench.Where{Away: true},
		Alone:       true, Cost: 1500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			// What comes before there are any workers is answered as it may be.
			r.During(ctx, "nobody", func() { r.Pause(ctx, time.Second) })
			r.Faulty("heal", func(s *bench.Store) error { return s.Heal(ctx) })
			for _, id := range r.Workers() {
				r.Mark("there", id, "")
			}
			r.UntilEach(ctx, "discovering", reconnected(nil))
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(judge.Used("there", reconnected, 24), judge.Served(sample, "after")),
	})
}
