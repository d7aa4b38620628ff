package adapter

import (
	"context"
	"errors"

	"github.com/routeproof/routeproof/impl/affinity"
)

// table is a coordinator of the affinity library in the protocol's terms.
type table struct{ affinity.Coordinator }

// kindOf says what a library's error means.
func kindOf(err error) kind {
	for _, k := range []struct {
		err  error
		kind kind
	}{
		{affinity.ErrTooLong, invalidArgument}, {affinity.ErrPin, invalidArgument}, {affinity.ErrRankAlone, invalidArgument}, {affinity.ErrMismatch, invalidArgument},
		{affinity.ErrCapacity, resourceExhausted}, {affinity.ErrInitWait, unavailable}, {affinity.ErrStale, stale},
	} {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return internal
}

// newCoordinator makes a library; library is nil for the reference's own.
func newCoordinator(l limits, c *clock, library Make) (coordinator, error) {
	if library == nil {
		library = func(cfg affinity.Config, c affinity.Clock) (affinity.Coordinator, error) { return affinity.New(cfg, c) }
	}
	t, err := library(affinity.Config{
		IdleTTL: l.idleTTL, Capacity: l.capacity, InitWait: l.initWait, Evict: l.evict, Waiting: l.waiting,
		Live: func(_ string, t affinity.Target) bool { return l.live(fromLibrary(t)) },
	}, c)
	return table{t}, err
}

func fromLibrary(t affinity.Target) target {
	out := target{Worker: t.Worker}
	if r, ok := t.Rank.Value(); ok {
		out.Rank = &r
	}
	return out
}

func (t target) toLibrary() affinity.Target {
	out := affinity.Target{Worker: t.Worker}
	if t.Rank != nil {
		out.Rank = affinity.RankOf(*t.Rank)
	}
	return out
}

func (a ask) toLibrary() affinity.Ask {
	return affinity.Ask{Key: affinity.Key{Model: a.model, Tenant: a.tenant, Session: a.session}, Pin: a.pin.toLibrary()}
}

func (t table) acquire(ctx context.Context, a ask) (lease, error) {
	l, err := t.Acquire(ctx, a.toLibrary())
	return grip{l}, err
}

func (t table) query(a ask) (target, bool, error) {
	to, bound, err := t.Query(a.toLibrary())
	return fromLibrary(to), bound, err
}

func (t table) count() (sessions, leases int) {
	if c, ok := t.Coordinator.(interface{ Stats() affinity.Stats }); ok {
		n := c.Stats()
		return n.Sessions, n.Leases
	}
	return 0, 0
}

func (t table) steps() uint64 {
	if c, ok := t.Coordinator.(interface{ Steps() uint64 }); ok {
		return c.Steps()
	}
	return 0
}

// grip is a lease in the protocol's terms.
type grip struct{ affinity.Lease }

func (g grip) bound() (target, bool) {
	t, bound := g.Bound()
	return fromLibrary(t), bound
}

func (g grip) commit(t target) error { return g.Commit(t.toLibrary()) }
func (g grip) release()              { g.Release() }
func (g grip) invalidate()           { g.Invalidate() }
