package bench

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/target"
)

// Served is the worker of the last attempt that carried key, or "".
func (r *Run) Served(key string) (id string) {
	r.look(func(a *ledger.Attempt) {
		if a.Key == key {
			id = a.Worker
		}
	})
	return id
}

// EachServed visits, for every attempt of the case so far, its key and worker.
func (r *Run) EachServed(f func(key, worker string)) {
	r.look(func(a *ledger.Attempt) {
		if strings.HasPrefix(a.Key, r.prefix) {
			f(a.Key, a.Worker)
		}
	})
}

// Overdue is how long it takes until max has passed since a worker wrote the n-th event
// (from 1) of the request that carries key; max if none has written it.
func (r *Run) Overdue(key string, n int, max time.Duration) time.Duration {
	left, now := max, r.bench.fleet.Ledger().Now()
	r.look(func(a *ledger.Attempt) {
		if a.Key == key && len(a.Events) >= n {
			left = a.Events[n-1] + max - now
		}
	})
	return left
}

// look visits the ledger's attempts since the case began.
func (r *Run) look(f func(*ledger.Attempt)) {
	// A predicate that holds at once makes Wait a read under the ledger's lock.
	_ = r.bench.fleet.Ledger().Wait(context.Background(), func(v ledger.View) bool {
		v.Each(r.from, func(a *ledger.Attempt) bool { f(a); return true })
		return true
	})
}

// Await blocks until the ledger satisfies pred or max has passed; it says which.
func (r *Run) Await(ctx context.Context, max time.Duration, pred func(each func(func(*ledger.Attempt))) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	return r.bench.fleet.Ledger().Wait(ctx, func(v ledger.View) bool {
		return pred(func(f func(*ledger.Attempt)) {
			v.Each(r.from, func(a *ledger.Attempt) bool { f(a); return true })
		})
	}) == nil
}

// Arrived waits until a worker has the request that carries key.
func (r *Run) Arrived(ctx context.Context, key string, max time.Duration) bool {
	return r.ArrivedAt(ctx, key, r.c.at, max)
}

// ArrivedAt is Arrived at a worker of a role, any for "".
func (r *Run) ArrivedAt(ctx context.Context, key string, role Role, max time.Duration) bool {
	return r.Await(ctx, max, func(each func(func(*ledger.Attempt))) (ok bool) {
		each(func(a *ledger.Attempt) { ok = ok || a.Key == key && (role == "" || a.Role == string(role)) })
		return ok
	})
}

// AwaitAbort waits until every worker that has the request has seen its client leave.
func (r *Run) AwaitAbort(ctx context.Context, key string, max time.Duration) bool {
	return r.AwaitAbortAt(ctx, key, r.c.at, max)
}

// AwaitAbortAt is AwaitAbort of the workers of a role alone, of any for "".
func (r *Run) AwaitAbortAt(ctx context.Context, key string, role Role, max time.Duration) bool {
	return r.Await(ctx, max, func(each func(func(*ledger.Attempt))) bool {
		all, n := true, 0
		each(func(a *ledger.Attempt) {
			if a.Key == key && (role == "" || a.Role == string(role)) {
				n++
				all = all && a.AbortSeen != ledger.Unset
			}
		})
		return all && n > 0
	})
}

// Target is the running target, for a test that reaches into its processes.
func (r *Run) Target() *target.Running { return r.bench.running }
