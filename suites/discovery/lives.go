package discovery

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// longer is how long a record lives that outlives others: without its owner it is there
// for two thirds of that at least, which is longer than any other and a second.
func longer(ttl time.Duration) time.Duration { return 2*ttl + 2*time.Second }

// DSC004Longer: two records with times to live of their own.
func (Cases) DSC004Longer() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-004/longer",
		Stimulus:    "the keep-alives of two workers' records end without a word, of which one lives for more than twice as long as the other; the workers go on serving; keyless requests all the while",
		Requirement: "a second after the shorter one's time its worker gets none and the other one still some, and none a second after its own; every request is served",
		Claims:      []string{"routing.spread"},
		Alone:       true, Cost: 8 * time.Second,
		Limit: 2 * time.Minute, // a record may live for half a minute, and the longer one for more than a minute
		Drive: func(ctx context.Context, r *bench.Run) error {
			short, long := r.Workers()[1], r.Add()
			r.Outlives(long, longer(r.TTL()))
			r.Register(ctx, long)
			r.Discovered(ctx)
			r.During(ctx, "during", func() {
				r.Freeze(ctx, long) // of two that end at once this one is asked about first
				r.Abandon(short)
			})
			ended := time.Now()
			r.During(ctx, "during", func() { r.Pause(ctx, time.Until(ended.Add(r.TTL()+time.Second))) })
			sent(ctx, r, "after", sample)
			r.AwayFrom(ctx, long, time.Until(ended.Add(longer(r.TTL())+time.Second)))
			sent(ctx, r, "after both", sample)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			ttl := h.Store.TTL
			since := func(*history.History) time.Duration { return ttl + time.Second }
			until := func(*history.History) time.Duration { return longer(ttl) * 2 / 3 }
			return judge.All(gone("abandon", sample), judge.None(judge.Marked("freeze"), "after both"), judge.Served(sample, "after both"),
				judge.UsedSince("freeze", since, until, 8))(h)
		},
	})
}

// DSC013TwoLives: a restart under a new name, before the old record has lapsed.
func (Cases) DSC013TwoLives() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-013/two-lives",
		Stimulus:    "a worker's owner dies and is back at once under a new name, with a record of its own for the same address; the old record lapses meanwhile; keyless requests all the while",
		Requirement: "every request is served, and once the old record has lapsed all workers are still used",
		Alone:       true, Cost: 4 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id := r.Workers()[1]
			r.During(ctx, "during", func() {
				r.Rename(id, id+"-again")
				r.Register(ctx, id)
				r.Pause(ctx, r.TTL()+time.Second)
			})
			after(ctx, r, sample)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(judge.Served(1, "during"), judge.Served(sample, "after"),
				judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "after"))(h)
		},
	})
}

// DSC014Flaps: a worker that comes and goes.
func (Cases) DSC014Flaps() []bench.Case {
	const sample, flaps = 60, 20
	return over(bench.Case{
		ID:          "DSC-014/flaps",
		Stimulus:    "a worker registers and, when it is used, leaves and registers twenty times in a row and leaves, while it serves all the while; later it registers once more; keyless requests all the while",
		Requirement: "after the last time that it left it gets none within the convergence time, and some when it is back; every request is served",
		Alone:       true, Cost: 2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id := joins(ctx, r)
			r.During(ctx, "during", func() {
				for range flaps {
					r.Unregister(ctx, id)
					r.Register(ctx, id)
				}
				r.Unregister(ctx, id)
			})
			r.Mark("left", id, "for good")
			r.AwayFrom(ctx, id, r.Convergence())
			after(ctx, r, sample)
			r.During(ctx, "during", func() { r.Register(ctx, id) })
			r.Mark("back", id, "")
			r.Until(ctx, "converging", r.Convergence(), func(w string) bool { return w == id })
			return nil
		},
		Judge: judge.All(gone("left", sample), judge.Used("back", judge.Converged, 8)),
	})
}
