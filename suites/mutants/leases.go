package mutants

import (
	"context"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// acquiring is a way to acquire leases.
type acquiring func(context.Context, affinity.Ask) (affinity.Lease, error)

// acquires is a coordinator that acquires in its own way.
type acquires struct {
	affinity.Coordinator
	acquire acquiring
}

func (c acquires) Acquire(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
	return c.acquire(ctx, a)
}

// stats counts what a coordinator holds, where it can tell.
func stats(c affinity.Coordinator) affinity.Stats {
	if counts, ok := c.(interface{ Stats() affinity.Stats }); ok {
		return counts.Stats()
	}
	return affinity.Stats{}
}

func (c acquires) Stats() affinity.Stats { return stats(c.Coordinator) }
func (c renames) Stats() affinity.Stats  { return stats(c.Coordinator) }
func (c queries) Stats() affinity.Stats  { return stats(c.Coordinator) }

// acquire replaces how a router acquires leases; f gets the former way.
func acquire(p *router.Parts, f func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error)) {
	inner := p.Affinity
	p.Affinity = acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
		return f(inner.Acquire, ctx, a)
	}}
}

// renames is a coordinator that knows sessions under other names.
type renames struct {
	affinity.Coordinator
	name func(affinity.Key) affinity.Key
}

func (c renames) Acquire(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
	a.Key = c.name(a.Key)
	return c.Coordinator.Acquire(ctx, a)
}

func (c renames) Query(a affinity.Ask) (affinity.Target, bool, error) {
	a.Key = c.name(a.Key)
	return c.Coordinator.Query(a)
}

// leasesOf are leases by session.
type leasesOf struct {
	mu   sync.Mutex
	open map[affinity.Key][]affinity.Lease
}

// change replaces those of one session.
func (o *leasesOf) change(k affinity.Key, f func([]affinity.Lease) []affinity.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		o.open = map[affinity.Key][]affinity.Lease{}
	}
	o.open[k] = f(o.open[k])
}

// held is a lease made of functions.
type held struct {
	bound      func() (affinity.Target, bool)
	commit     func(affinity.Target) error
	release    func()
	invalidate func()
}

func (h *held) Bound(uint64) (affinity.Target, bool)     { return h.bound() }
func (h *held) Commit(_ uint64, t affinity.Target) error { return h.commit(t) }
func (h *held) Release(uint64)                           { h.release() }
func (h *held) Invalidate(uint64)                        { h.invalidate() }

// around makes a lease that does as another does, except for what f changes.
func around(l affinity.Lease, f func(*held)) affinity.Lease {
	h := &held{l.Bound, l.Commit, l.Release, l.Invalidate}
	f(h)
	return affinity.NewLease(h, 0)
}

// loose is a table without states: whoever commits last binds.
type loose struct {
	mu    sync.Mutex
	bound map[affinity.Key]affinity.Target
}

// lease makes a lease on the session. It ends with done, called once for each of its
// ends.
func (l *loose) lease(k affinity.Key, done func()) affinity.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bound == nil {
		l.bound = map[affinity.Key]affinity.Target{}
	}
	home := l.bound[k] // as this lease sees it
	return affinity.NewLease(&held{
		bound: func() (affinity.Target, bool) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return home, home.Worker != ""
		},
		commit: func(t affinity.Target) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			home, l.bound[k] = t, t
			return nil
		},
		release: done,
		invalidate: func() {
			l.mu.Lock()
			delete(l.bound, k)
			l.mu.Unlock()
			done()
		},
	}, 0)
}
