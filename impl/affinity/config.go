package affinity

import (
	"context"
	"fmt"
	"time"
)

// Limits and defaults.
const (
	DefaultCapacity = 65536
	DefaultInitWait = 30 * time.Second
	MinIdleTTL      = time.Second
	MaxIdleTTL      = 31536000 * time.Second // 365 days
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
	// Evict makes room at capacity, where nothing has expired or died, by ending
	// the binding that has been idle for longest. Sessions with requests in flight
	// are never evicted.
	Evict bool
	// Live says whether a binding of a session of the model may go on: whether its
	// worker is neither gone nor ejected and still serves the model. It gets the
	// rank too, for fleets that lose single ranks; who loses whole workers only may
	// ignore it. It is called under locks for every request of a bound session, so
	// it must be cheap and must not call the Table. nil means that all are live.
	Live func(model string, t Target) bool
	// Waiting is called when a caller of Acquire begins to wait, and when its wait is
	// over, with the caller's context: by whoever ends it, before the call that did so
	// returns, be that a Commit, a Release or the clock's. So waiting can be seen, not
	// guessed. It is called under locks: it must be quick and must not call the Table.
	// nil is nobody who wants to know.
	Waiting func(ctx context.Context, waits bool)
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

// Clock is what a Table knows of time. One that goes back counts as standing
// still.
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
