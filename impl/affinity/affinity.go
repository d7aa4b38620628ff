// Package affinity binds sessions to workers: the first request of a session
// initializes its binding, later ones follow it, and an idle binding ends after
// its TTL. The rules are a pure state machine (core.go); Table puts locks,
// waiting and a clock around it. The package knows nothing of HTTP or of which
// workers are alive.
package affinity

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Key names a session. The same session id under two models is two sessions.
// Both parts count byte for byte.
type Key struct {
	Model   string // canonical model name; may be empty where there is only one
	Session string // at most MaxSessionBytes bytes
}

// Coordinator hands out leases on sessions. It is safe for concurrent use.
type Coordinator interface {
	// Acquire leases the session. If nobody has bound it, exactly one caller gets
	// an initializer and the others wait for what becomes of it: until it
	// commits, until one of them takes over after it was abandoned, until
	// ctx ends, or until the configured InitWait has passed.
	//
	// Errors: ErrTooLong, ErrCapacity, ErrInitWait (test with errors.Is), or ctx's own.
	Acquire(ctx context.Context, key Key) (Lease, error)
}

// Lease is one request's hold on a session. A lease is either an initializer,
// which must choose a worker, or bound. Every lease must be released; all
// methods are safe for concurrent use, and do nothing once the lease is over.
type Lease interface {
	// Bound returns the worker the session is bound to, or "" for an initializer
	// that has not committed.
	Bound() string

	// Commit binds the session to the worker: the initializer becomes a bound
	// lease and everybody who waits gets one too. It fails with ErrStale if the
	// lease is over or bound to another worker.
	Commit(worker string) error

	// Abandon gives initializing up and hands it to exactly one waiter, if there
	// is one. It does nothing on a bound lease.
	Abandon()

	// Release ends the lease. On a bound lease the session's TTL starts again from
	// now; on an initializer it means Abandon. Only the first call counts.
	Release()

	// Invalidate ends the lease and removes the binding it belongs to, even if
	// others hold leases on it; theirs end without touching a newer
	// binding. If the binding was replaced meanwhile, nothing happens to the newer
	// one. On an initializer it means Abandon.
	Invalidate()
}

// Limits and defaults.
const (
	MaxSessionBytes = 256 // of a session id, in bytes
	DefaultCapacity = 65536
	DefaultInitWait = 30 * time.Second
	MinIdleTTL      = time.Second
	MaxIdleTTL      = 31536000 * time.Second // 365 days
)

// Error kinds.
var (
	ErrTooLong  = errors.New("session id too long")
	ErrCapacity = errors.New("session table full")
	ErrInitWait = errors.New("waited too long for the session's first request")
	ErrStale    = errors.New("session lease is over")
)

// Config shapes a Table.
type Config struct {
	// IdleTTL is how long a binding outlives its last request, from MinIdleTTL to
	// MaxIdleTTL. A binding whose deadline is exactly now has ended.
	IdleTTL time.Duration
	// Capacity is the most sessions held at a time, those being initialized and
	// those not yet reclaimed included. 0 means DefaultCapacity.
	Capacity int
	// InitWait is the longest that Acquire waits behind an initializer. 0 means
	// DefaultInitWait.
	InitWait time.Duration
	// Evict makes room at capacity, where nothing has expired, by ending the
	// binding that has been idle for longest. Sessions with requests in flight are
	// never evicted.
	Evict bool
}

// withDefaults returns the config with zero values filled in, or an error that
// names the bad setting.
func (c Config) withDefaults() (Config, error) {
	if c.IdleTTL < MinIdleTTL || c.IdleTTL > MaxIdleTTL {
		return c, fmt.Errorf("idleTTL %v is out of range: set it from %v to %v (365 days)", c.IdleTTL, MinIdleTTL, MaxIdleTTL)
	}
	if c.Capacity < 0 {
		return c, fmt.Errorf("capacity %d is negative: set the most sessions to hold, or 0 for %d", c.Capacity, DefaultCapacity)
	}
	if c.InitWait < 0 {
		return c, fmt.Errorf("initWait %v is negative: set a duration, or 0 for %v", c.InitWait, DefaultInitWait)
	}
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	if c.InitWait == 0 {
		c.InitWait = DefaultInitWait
	}
	return c, nil
}

// Clock is what a Table knows of time.
type Clock interface {
	Now() time.Time
	// AfterFunc runs f in its own goroutine once d has passed, unless stop is
	// called first; stop says whether it came in time.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the real clock.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (SystemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
