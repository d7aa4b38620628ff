package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/suites/history"
)

// Mark notes in the history what the harness does.
func (r *Run) Mark(what, worker, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks = append(r.marks, history.Mark{At: r.bench.fleet.Ledger().Now(), What: what, Worker: worker, Text: text})
}

// Fault sets a worker's misbehaviour, from now until the case ends.
func (r *Run) Fault(id string, f Fault) {
	r.Mark("fault", id, fmt.Sprint(f))
	if err := r.bench.fleet.Worker(id).SetFault(f); err != nil {
		r.Fail(fmt.Errorf("set fault %v on worker %s: %w", f, id, err))
	}
}

// Heal ends a worker's misbehaviour before the case ends.
func (r *Run) Heal(id string) {
	r.Mark("heal", id, "")
	if err := r.bench.fleet.Worker(id).ClearFault(); err != nil {
		r.Fail(fmt.Errorf("clear the fault of worker %s: %w", id, err))
	}
}

// Crash kills a worker: its connections are reset, its port refuses.
func (r *Run) Crash(id string) {
	r.Mark("crash", id, "")
	r.bench.fleet.Worker(id).Crash()
}

// Restart brings a crashed worker back at its address, as a new incarnation.
func (r *Run) Restart(id string) {
	r.Mark("restart", id, "")
	if err := r.bench.fleet.Worker(id).Restart(); err != nil {
		r.Fail(fmt.Errorf("restart worker %s: %w", id, err))
	}
}

// Join adds an aggregated worker to the fleet and wires it; its id is empty if
// that failed.
func (r *Run) Join(ctx context.Context) string { return r.JoinAs(ctx, Aggregated) }

// JoinAs is Join for a worker of any role. It has the case's ranks. It comes first in
// the list of workers: to a router that knows workers by their places all change theirs.
func (r *Run) JoinAs(ctx context.Context, role Role) string {
	w, err := r.bench.fleet.Add(r.bench.Fleet.shape(role))
	if err != nil {
		r.Fail(fmt.Errorf("add a worker: %w", err))
		return ""
	}
	r.apply(ctx, slices.Insert(r.Workers(), 0, w.ID()), "join", w.ID())
	return w.ID()
}

// Leave unwires a worker, which goes on running.
func (r *Run) Leave(ctx context.Context, id string) {
	r.apply(ctx, slices.DeleteFunc(r.Workers(), func(w string) bool { return w == id }), "leave", id)
}

func (r *Run) apply(ctx context.Context, ids []string, what, id string) {
	r.Change(what, id, func() error { return r.bench.apply(ctx, ids) })
}

// Change makes a change of the target by which it may read its configuration again,
// and notes it. id is what the change is about.
func (r *Run) Change(what, id string, change func() error) {
	r.Mark(what, id, "begins")
	r.client.kept.CloseIdleConnections() // a reload may close them under a request: not this clause's matter
	if err := change(); err != nil {
		r.Fail(err)
	}
	r.client.kept.CloseIdleConnections()
	r.Mark(what, id, "verified")
}
