package discovery

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// DSC015Replaced: another directory takes the root's place.
func (Cases) DSC015Replaced() bench.Case {
	const sample = 60
	return in(target.StoreFile, bench.Case{
		ID:          "DSC-015/replaced",
		Stimulus:    "another directory with the same files is put in the root's place; then a worker registers and another one leaves; keyless requests all the while",
		Requirement: "every request is served; within the convergence time the new worker gets some and the one that left none",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			leaver := r.Workers()[1]
			r.During(ctx, "during", func() {
				r.InFiles("replace", "", func(f *bench.Files, _ string) error { return f.ReplaceRoot(ctx) })
			})
			joins(ctx, r)
			r.During(ctx, "during", func() { r.Unregister(ctx, leaver) })
			r.AwayFrom(ctx, leaver, r.Convergence())
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(gone("unregister", sample), judge.Used("register", judge.Converged, 8)),
	})
}

// DSC015Removed: the root goes, and is made anew.
func (Cases) DSC015Removed() bench.Case {
	const sample = 60
	return in(target.StoreFile, bench.Case{
		ID:          "DSC-015/removed",
		Stimulus:    "the root is removed with all that is in it, and made anew; then the owners find their records gone and register anew, and another worker registers",
		Requirement: "within the convergence time of that every worker gets requests, and all requests are served from then on",
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			// What becomes of requests while no worker is registered is the router's affair.
			r.During(ctx, "nobody", func() {
				r.InFiles("remove", "", func(f *bench.Files, _ string) error { return f.RemoveRoot(ctx) })
				r.InFiles("make", "", func(f *bench.Files, _ string) error { return f.MakeRoot(ctx) })
				for _, id := range r.Workers() {
					r.Thaw(ctx, id)
				}
			})
			r.UntilEach(ctx, "returning", r.Convergence())
			joins(ctx, r) // what was known before is no help here
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(judge.Used("thaw", judge.Converged, 24), judge.Served(1, "during", "converging"), judge.Served(sample, "after"),
			judge.Used("register", judge.Converged, 8)),
	})
}

// DSC016Orphan: what a writer left that died before its rename.
func (Cases) DSC016Orphan() bench.Case {
	const sample = 60
	return in(target.StoreFile, bench.Case{
		ID:          "DSC-016/orphan",
		Stimulus:    "a whole record of a fourth worker lies in the root under a temporary name, which begins with a dot; then a fifth one registers, and is used, which shows that the change has been seen; keyless requests",
		Requirement: "the fourth worker gets none, and every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			dead := r.Add()
			r.During(ctx, "during", func() {
				r.InFiles("orphan", dead, func(f *bench.Files, key string) error {
					_, err := f.Orphan(ctx, key, r.Record(dead))
					return err
				})
			})
			joins(ctx, r)
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(gone("orphan", sample), judge.None(judge.Marked("orphan"), "during", "converging"), judge.Used("register", judge.Converged, 8)),
	})
}

// DSC017Skew: owners whose clocks are wrong.
func (Cases) DSC017Skew() bench.Case {
	const sample, off = 60, time.Hour
	return in(target.StoreFile, bench.Case{
		ID:          "DSC-017/skew",
		Stimulus:    "the owner of one worker's record keeps it alive with a clock that is an hour behind, that of another with one that is an hour ahead; later both die; keyless requests all the while",
		Requirement: "every request is served; while they are kept alive both workers are used, and once their records' time to live and a second have passed neither",
		Claims:      []string{"routing.spread"},
		Alone:       true, Cost: 7 * time.Second,
		Limit: 2 * time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			behind, ahead := r.Workers()[1], r.Workers()[2]
			skew := func(id string, by time.Duration) {
				r.InFiles("clock", id, func(f *bench.Files, key string) error { return f.Skew(ctx, key, by) })
			}
			r.During(ctx, "during", func() {
				skew(behind, -off)
				skew(ahead, off)
				r.Pause(ctx, r.TTL()+time.Second)
			})
			sent(ctx, r, "kept alive", sample)
			r.During(ctx, "during", func() {
				r.Abandon(behind)
				r.Abandon(ahead)
				r.Mark("abandoned too", ahead, "")
				r.Pause(ctx, r.TTL()+time.Second)
			})
			after(ctx, r, sample)
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(judge.Served(1, "during"), judge.Served(sample, "kept alive"), judge.Served(sample, "after"),
				judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "kept alive"),
				judge.None(judge.Marked("abandon"), "after"), judge.None(judge.Marked("abandoned too"), "after"))(h)
		},
	})
}
