// Package discovery holds the cases of area DSC: routers that look for their workers in a
// discovery store. Each method of Cases is one case, or the same over each kind of store.
package discovery

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// Cases are the cases of area DSC.
type Cases struct{}

// over is the same case over each kind of store, under the name of the kind.
func over(c bench.Case) []bench.Case {
	return []bench.Case{in(target.StoreEtcd, c), in(target.StoreFile, c)}
}

// in is the case over one kind of store.
func in(kind string, c bench.Case) bench.Case {
	c.ID += "-" + kind
	c.Store = kind
	c.Claims = append([]string{"discovery." + kind}, c.Claims...)
	if c.Workers == 0 {
		c.Workers = 3
	}
	return c
}

// DSC001Session: who finds his workers in a store keeps sessions together like any other.
func (Cases) DSC001Session() []bench.Case {
	const sessions, turns = 16, 4
	return over(bench.Case{
		ID:          "DSC-001/session",
		Stimulus:    "16 sessions of four turns, on both endpoints, streaming or not",
		Requirement: "all turns of a session reach the worker of the first one, and not all sessions the same",
		Claims:      []string{"affinity.key"},
		Alone:       true, // a store is left as it was found
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			for t := range turns {
				for s := range sessions {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: "turns"}.In(bench.Shapes()[(s+t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions*turns, "turns"), judge.Sticks(sessions, "turns"), judge.Placed(sessions-1, "turns")),
	})
}

// DSC002Join: a worker that registers is used.
func (Cases) DSC002Join() []bench.Case {
	return over(bench.Case{
		ID:          "DSC-002/join",
		Stimulus:    "a fourth worker registers while keyless requests come",
		Requirement: "it is sent one within the convergence time, and every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			joins(ctx, r)
			return nil
		},
		Judge: judge.All(judge.Served(1, "during", "converging"), judge.Used("register", judge.Converged, 8)),
	})
}

// joins has another worker register, and sends requests until it gets one or is late.
func joins(ctx context.Context, r *bench.Run) (id string) {
	id = r.Add()
	r.During(ctx, "during", func() { r.Register(ctx, id) })
	r.Until(ctx, "converging", r.Convergence(), func(w string) bool { return w == id })
	return id
}

// gone is what a worker that is no more in the store gets: nothing.
func gone(mark string, sample int) judge.Judge {
	return judge.All(judge.Served(1, "during"), judge.Served(1, "converging"), judge.Served(sample, "after"), judge.None(judge.Marked(mark), "after"))
}

// after sends the requests that gone counts.
func after(ctx context.Context, r *bench.Run, sample int) { sent(ctx, r, "after", sample) }

// sent sends keyless requests, one after another.
func sent(ctx context.Context, r *bench.Run, phase string, n int) {
	for i := range n {
		r.Do(ctx, bench.Req{Phase: phase, Tokens: 1}.In(bench.Shapes()[i%8]))
	}
}

// leaves makes a case of a worker whose record is taken away, in whatever way.
func leaves(name, stimulus, mark string, away func(ctx context.Context, r *bench.Run, id string)) bench.Case {
	const sample = 60
	return bench.Case{
		ID:          "DSC-003/" + name,
		Stimulus:    stimulus + " while keyless requests come; the worker goes on serving",
		Requirement: "after the convergence time it gets none, and every request is served",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			leaver := r.Workers()[1]
			r.During(ctx, "during", func() { away(ctx, r, leaver) })
			r.AwayFrom(ctx, leaver, r.Convergence())
			after(ctx, r, sample)
			return nil
		},
		Judge: gone(mark, sample),
	}
}

func unregister(ctx context.Context, r *bench.Run, id string) { r.Unregister(ctx, id) }

// DSC003Leave: a worker that unregisters gets nothing.
func (Cases) DSC003Leave() []bench.Case {
	return over(leaves("leave", "a worker unregisters", "unregister", unregister))
}

// DSC003Linked: the root is a link, and so is the directory where it lies.
func (Cases) DSC003Linked() bench.Case {
	c := leaves("linked", "the router knows the root by a path on which the root and its parent are symbolic links: a worker unregisters", "unregister", unregister)
	c.Where.Linked = true
	return in(target.StoreFile, c)
}

// DSC003RenamedAway: the file is not removed but moved elsewhere.
func (Cases) DSC003RenamedAway() bench.Case {
	return in(target.StoreFile, leaves("renamed-away", "a worker's file is renamed out of the root", "renamed away", func(ctx context.Context, r *bench.Run, id string) {
		r.InFiles("renamed away", id, func(f *bench.Files, key string) error { return f.RenameAway(ctx, key) })
	}))
}

// DSC003Revoked: the lease is ended by somebody else.
func (Cases) DSC003Revoked() bench.Case {
	return in(target.StoreEtcd, leaves("revoked", "the lease of a worker's record is revoked", "revoke", func(ctx context.Context, r *bench.Run, id string) {
		r.InEtcd("revoke", id, func(e bench.Leases, key string) error { return e.RevokeLease(ctx, key) })
	}))
}

// DSC004Killed: a worker whose owner died gets nothing once its record has lapsed.
func (Cases) DSC004Killed() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-004/killed",
		Stimulus:    "the keep-alive of a worker's record ends without a word, while the worker goes on serving; keyless requests all the while",
		Requirement: "once the record's time to live and a second have passed it gets none, and every request is served",
		Alone:       true, Cost: 3 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			dead := r.Workers()[1]
			r.During(ctx, "during", func() { r.Abandon(dead) })
			r.AwayFrom(ctx, dead, r.TTL()+time.Second)
			after(ctx, r, sample)
			return nil
		},
		Judge: gone("abandon", sample),
	})
}

// DSC005Frozen: an owner that was frozen for longer than its record lives, and goes on.
func (Cases) DSC005Frozen() []bench.Case {
	const sample = 60
	return over(bench.Case{
		ID:          "DSC-005/frozen",
		Stimulus:    "the owner of a worker's record is stopped for longer than the record lives, and goes on: it finds the record gone and registers anew; keyless requests all the while",
		Requirement: "once the record has lapsed the worker gets none, within the convergence time of the new one it gets some, and every request is served",
		Alone:       true, Cost: 4 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Discovered(ctx)
			id := r.Workers()[1]
			r.During(ctx, "during", func() { r.Freeze(ctx, id) })
			r.AwayFrom(ctx, id, r.TTL()+time.Second)
			after(ctx, r, sample)
			r.During(ctx, "during", func() { r.Thaw(ctx, id) })
			r.Until(ctx, "back", r.Convergence(), func(w string) bool { return w == id })
			return nil
		},
		Judge: judge.All(gone("freeze", sample), judge.Served(1, "back"), judge.Used("thaw", judge.Converged, 8)),
	})
}
