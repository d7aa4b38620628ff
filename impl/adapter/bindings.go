package adapter

import (
	"context"
	"time"
)

// coordinator is what the adapter needs of a library that binds sessions.
type coordinator interface {
	// acquire may wait; the error is then the context's if that ends.
	acquire(context.Context, ask) (lease, error)
	query(ask) (t target, bound bool, err error)
	// count says how many sessions are held and how many leases are not over.
	count() (sessions, leases int)
	// steps counts the bindings and entries visited so far.
	steps() uint64
}

// lease is one turn's hold on a session. All but its first end do nothing.
type lease interface {
	bound() (target, bool)
	commit(target) error
	release()
	invalidate()
}

// ask names a session, and where its client wants it to be.
type ask struct {
	model, tenant, session string
	pin                    target // zero for no wish
}

// limits shape a coordinator. Zero values stand for the library's defaults.
type limits struct {
	idleTTL, initWait time.Duration
	capacity          int
	evict             bool
	live              func(target) bool
	// waiting is called, with the context of an acquire, when it begins to wait and
	// when that is over: before the call that has ended it returns.
	waiting func(ctx context.Context, waits bool)
}
