package bench

import (
	"context"
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
