// Package affinity binds sessions to workers: the first request of a session
// initializes its binding, later ones follow it, and an idle binding ends after
// its TTL. The rules are a pure state machine (core.go); Table puts locks,
// waiting and a clock around it. The package knows nothing of HTTP, and of
// workers only what Config.Live tells it.
package affinity

import (
	"context"
	"errors"
	"fmt"
)

// Key names a session: the same id under two models or two tenants is two
// sessions. All parts count byte for byte.
type Key struct {
	Model   string // canonical model name; may be empty where there is only one
	Tenant  string // "" unless tenants are configured
	Session string // at most MaxSessionBytes bytes
}

// Ask is what a request wants to know or to hold.
type Ask struct {
	Key Key
	Pin Target // what the client asks for by name; zero for no wish
}

// Coordinator hands out leases on sessions. It is safe for concurrent use.
type Coordinator interface {
	// Acquire leases the session. If nobody has bound it, exactly one caller gets
	// an initializer, which carries the caller's pin, and the others wait for what
	// becomes of it: until it commits, until one of them takes over after it
	// was abandoned, until ctx ends, or until the configured InitWait has passed.
	// Where the bound worker is no longer live, the binding ends and the session is
	// as if nobody had bound it. A live binding answers every pin that it meets, with
	// its own rank where the pin has none.
	//
	// Errors (test with errors.Is): ErrTooLong, ErrRankAlone, ErrPin, ErrCapacity,
	// ErrInitWait, or ctx's own.
	Acquire(ctx context.Context, a Ask) (Lease, error)

	// Query says where Acquire would find the session bound, and leaves no trace: it
	// never waits, and inserts, refreshes, leases, reclaims or invalidates nothing.
	// What is being initialized, has expired, or is bound to a worker that is no
	// longer live counts as not bound.
	//
	// Errors (test with errors.Is): ErrTooLong, ErrRankAlone, ErrPin.
	Query(a Ask) (t Target, bound bool, err error)
}

// MaxSessionBytes is the limit of a session id, in bytes.
const MaxSessionBytes = 256

// Error kinds.
var (
	ErrTooLong   = errors.New("session id too long")
	ErrRankAlone = errors.New("rank without worker")
	ErrPin       = errors.New("pin contradicts the session's binding")
	ErrCapacity  = errors.New("session table full")
	ErrInitWait  = errors.New("waited too long for the session's first request")
	ErrStale     = errors.New("session lease is over")
	ErrMismatch  = errors.New("target does not fit the session's lease")
)

// check refuses what is wrong whatever the state of the session.
func (a *Ask) check() error {
	if n := len(a.Key.Session); n > MaxSessionBytes {
		return fmt.Errorf("%w: it has %d bytes: send at most %d", ErrTooLong, n, MaxSessionBytes)
	}
	if a.Pin.Worker == "" && a.Pin.Rank.set {
		return fmt.Errorf("%w: rank %v is asked for: name its worker too, or drop the rank", ErrRankAlone, a.Pin.Rank)
	}
	return nil
}

func pinError(session string, bound, pin Target) error {
	return fmt.Errorf("%w: session %q is bound to %v, but %v is asked for: ask for the former, or drop the pin", ErrPin, session, bound, pin)
}
