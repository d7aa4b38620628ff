package discovery

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// spoilt are records that no router can use.
func spoilt(good []byte) [][]byte {
	half := good[:len(good)/2]
	return [][]byte{
		{}, []byte("{"), half, []byte("\xff\xfe\xfd"), append([]byte("\xff"), good...), []byte("null"), []byte("[]"), []byte("<html>"),
	}
}

// unharmed: all workers are still used, and one that registered too.
func unharmed(sample int) judge.Judge {
	return func(h *history.History) judge.Finding {
		return judge.All(judge.Served(1, "during", "converging"), judge.Served(sample, "after"),
			judge.Share(judge.ByPhase, sample, 1, sample, h.Workers, "after"), judge.Used("register", judge.Converged, 8))(h)
	}
}

// DSC008Bad: records that cannot be used.
func (Cases) DSC008Bad() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-008/bad",
		Stimulus:    "nine records are put that cannot be used (empty, cut in half, not UTF-8, of another kind, without an address), beside those of three workers; keyless requests; then a fourth worker registers",
		Requirement: "every request is served, all three workers are still used, and the fourth within the convergence time",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			r.During(ctx, "during", func() {
				for i, v := range append(spoilt(r.Record(r.Workers()[0])), r.Addressless("bad")) {
					r.Stray(ctx, "bad"+string(rune('a'+i)), v)
				}
			})
			after(ctx, r, sample)
			joins(ctx, r)
			return nil
		},
		Judge: unharmed(sample),
	})
}

// DSC008Flood: more that cannot be used than there are workers by far. A directory gets
// fewer of them, because they cost its reader more.
func (Cases) DSC008Flood() []bench.Case {
	return []bench.Case{in(target.StoreEtcd, flood(2000)), in(target.StoreFile, flood(500))}
}

func flood(strays int) bench.Case {
	const sample = 60
	return bench.Case{
		ID:          "DSC-008/flood",
		Stimulus:    fmt.Sprintf("%d records that cannot be used are put one right after another, beside those of three workers; keyless requests; then a fourth worker registers", strays),
		Requirement: "every request is served, all three workers are still used, and the fourth within the convergence time",
		Alone:       true, Cost: 2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			r.During(ctx, "during", func() { r.Strays(ctx, "flood", strays, []byte("{}")) })
			after(ctx, r, sample)
			joins(ctx, r)
			return nil
		},
		Judge: unharmed(sample),
	}
}

// DSC009LastGood: a record of a worker that goes bad while the worker lives.
func (Cases) DSC009LastGood() []bench.Case {
	return append(over(spoiling("last-good", "turns into bytes that cannot be used", func(ctx context.Context, r *bench.Run, id string) {
		r.Spoil(ctx, id, []byte("{\"id\":"))
	})), in(target.StoreFile, spoiling("half", "is written in place, and only its first half", func(ctx context.Context, r *bench.Run, id string) {
		r.InFiles("halve", id, func(f *bench.Files, key string) error {
			value := r.Record(id)
			return f.WriteInPlace(ctx, key, value[:len(value)/2])
		})
	})))
}

// spoiling makes a case of a record that goes bad.
func spoiling(name, how string, spoil func(ctx context.Context, r *bench.Run, id string)) bench.Case {
	const sample = 90
	return bench.Case{
		ID:          "DSC-009/" + name,
		Stimulus:    "the record of a worker " + how + ", while its owner keeps it alive; then a fourth worker registers, and is used, which shows that the change has been seen; keyless requests",
		Requirement: "the worker is used as before, and every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id := r.Workers()[1]
			r.During(ctx, "during", func() { spoil(ctx, r, id) })
			joins(ctx, r)
			after(ctx, r, sample)
			return nil
		},
		Judge: unharmed(sample),
	}
}

// moved makes a case of a record that comes to name another address.
func moved(name, how string, change bench.Change) bench.Case {
	const sample = 60
	return bench.Case{
		ID:          "DSC-010/" + name,
		Stimulus:    "the record of a worker names another address, where another one serves" + how + "; keyless requests all the while",
		Requirement: "within the convergence time the new one gets requests, and after it the old one none; every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id, to := r.Workers()[1], r.Add()
			r.During(ctx, "during", func() { r.Relocate(ctx, id, to, change) })
			r.AwayFrom(ctx, id, r.Convergence())
			after(ctx, r, sample)
			return nil
		},
		Judge: judge.All(gone("move", sample), judge.Used("moved", judge.Converged, 8)),
	}
}

// DSC010Moved: the same name at a new address.
func (Cases) DSC010Moved() []bench.Case { return over(moved("moved", "", nil)) }

// DSC010Ways: files change in more than one way.
func (Cases) DSC010Ways() []bench.Case {
	renames := func(ctx context.Context, f *bench.Files, key string, here, there []byte) error {
		for _, value := range [][]byte{here, []byte("{"), here, here[:len(here)/2], there} {
			if err := f.RenameOver(ctx, key, value); err != nil {
				return err
			}
			select {
			case <-time.After(50 * time.Millisecond): // so that who follows sees more than the last
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	inPlace := func(ctx context.Context, f *bench.Files, key string, _, there []byte) error {
		return f.WriteInPlace(ctx, key, there)
	}
	swapped := func(ctx context.Context, f *bench.Files, key string, _, there []byte) error {
		return f.SwapLink(ctx, key, there)
	}
	return []bench.Case{
		in(target.StoreFile, moved("renames", ", after five atomic renames within a quarter of a second, of which the last brings it and some bring what cannot be used", renames)),
		in(target.StoreFile, moved("in-place", "; the file is emptied and written in two parts", inPlace)),
		in(target.StoreFile, moved("swapped", "; the file is replaced by a symbolic link to one outside the root", swapped)),
	}
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
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Tokens: 1, Phase: "turns", Kept: true})
			}
			r.Look(ctx)
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "turns"), judge.Unnamed(sessions)),
	})
}
