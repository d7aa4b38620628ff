package bench

import (
	"context"
	"fmt"
	"slices"
)

// LeaveAll unwires every worker; they go on running. It returns who they were.
func (r *Run) LeaveAll(ctx context.Context) []string {
	all := r.Workers()
	r.rewire(ctx, []string{}, "leave", all)
	return all
}

// Return wires workers again that had left, beside those that are wired.
func (r *Run) Return(ctx context.Context, ids ...string) {
	r.rewire(ctx, append(r.Workers(), ids...), "join", ids)
}

// rewire makes one change of the wiring, and notes it of each worker that it is about.
func (r *Run) rewire(ctx context.Context, wired []string, what string, about []string) {
	if len(about) == 0 {
		return
	}
	rest := about[1:]
	for _, id := range rest {
		r.Mark(what, id, "begins")
	}
	r.apply(ctx, slices.Clone(wired), what, about[0])
	for _, id := range rest {
		r.Mark(what, id, "verified")
	}
}

// Move wires a fresh worker under the id and in the place of one that is wired, which
// goes on running at its address and counts as having left. It returns the fresh one's
// own id, by which the ledger knows it, or "" if that failed.
func (r *Run) Move(ctx context.Context, id string) string {
	w, err := r.bench.fleet.Add(r.bench.fleet.Worker(id).Shape())
	if err != nil {
		r.Fail(fmt.Errorf("add a worker: %w", err))
		return ""
	}
	wired := r.Workers()
	wired[slices.Index(wired, id)] = w.ID()
	r.bench.names[w.ID()] = id
	r.Mark("join", w.ID(), "begins")
	r.apply(ctx, wired, "leave", id)
	r.Mark("join", w.ID(), "verified")
	return w.ID()
}

// Reassign tells the target that a worker serves another model than before. The worker
// itself serves both.
func (r *Run) Reassign(ctx context.Context, id, model string) {
	w := r.bench.fleet.Worker(id)
	w.Serve(append(everyName(r.bench.env.Manifest.Aliases, model), w.Models()...)...)
	r.apply(ctx, r.Workers(), "reassign", id)
}
