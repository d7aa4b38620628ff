package router

import (
	"errors"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/fleet"
	"github.com/routeproof/routeproof/impl/selection"
)

var errNoWorker = errorf(Unavailable, "no worker is available for this model")

// leg is a request's way through one phase: its hold on the session there, and
// the attempts that were made.
type leg struct {
	x           *exchange
	fit         fleet.Pool           // whom the client may name
	coordinator affinity.Coordinator // nil: affinity is off
	policy      selection.Policy
	pin         affinity.Target // as the client names it; zero for no wish

	lease    affinity.Lease // zero: none held
	adrift   bool           // goes on without its session, for which there is no room
	attempts int
	timeouts int      // attempts that timed out
	failed   []string // workers that failed, as fleet names them
}

// place finds the worker for the next attempt and puts the request on it.
func (l *leg) place() (*fleet.Ticket, error) {
	f := l.x.r.parts.Fleet
	for {
		want, err := l.want()
		if err != nil {
			return nil, err
		}
		if err := l.acquire(want.At); err != nil {
			return nil, err
		}
		if home, bound := l.lease.Bound(); bound {
			want.At = home
		}
		if t := f.Begin(l.policy, want); t != nil {
			return t, nil
		}
		if want.At.Worker == "" || f.Live(want.Model, want.At) {
			return nil, errNoWorker
		}
		l.x.r.parts.Log.Info("worker has just left", "model", want.Model, "worker", want.At.Worker)
		l.invalidate()
	}
}

// want says what the leg needs of the fleet while it is not bound: the pinned
// worker, or any.
func (l *leg) want() (fleet.Want, error) {
	w := fleet.Want{Model: l.x.key.Model, Pool: l.fit, Split: l.x.splittable, Not: l.failed}
	if l.pin.Worker == "" {
		return w, nil
	}
	p, err := l.x.r.parts.Fleet.Find(w.Model, l.pin)
	if err != nil {
		return w, pinError(err)
	}
	if !p.In(l.fit) {
		return w, errorf(InvalidArgument, "worker %q is asked for, but its role is %s: name one whose role is %v, or none", p.ID(), p.Role(), l.fit)
	}
	w.At = p.Target()
	return w, nil
}

func pinError(err error) error {
	return errorf(InvalidArgument, "%v: ask for another, or for none", err)
}

// acquire leases the session, if there is one and it is not leased yet.
func (l *leg) acquire(pin affinity.Target) error {
	if !l.inSession() || l.leased() {
		return nil
	}
	lease, err := l.coordinator.Acquire(l.x.req.Context(), affinity.Ask{Key: l.x.key, Pin: pin})
	if errors.Is(err, affinity.ErrCapacity) && l.x.r.cfg.AtCapacity == Unpinned {
		l.adrift = true
		return nil
	}
	if err != nil {
		return leaseError(err)
	}
	l.lease = lease
	return nil
}

func leaseError(err error) error {
	switch {
	case errors.Is(err, affinity.ErrPin):
		return errorf(InvalidArgument, "the session is bound to another worker or rank than the one that is asked for: ask for that one, or for none")
	case errors.Is(err, affinity.ErrTooLong), errors.Is(err, affinity.ErrRankAlone):
		return errorf(InvalidArgument, "%v", err)
	case errors.Is(err, affinity.ErrCapacity):
		return errorf(ResourceExhausted, "%v", err)
	case errors.Is(err, affinity.ErrInitWait):
		return errorf(InitWaitExceeded, "%v", err)
	}
	return err
}

// settle applies to the session what was decided about an attempt. It fails if
// the attempt is not where the session or the pin wants it: it must then be
// cancelled.
func (l *leg) settle(t *fleet.Ticket, d Decision) error {
	if !l.leased() {
		return nil
	}
	isBound := l.bound()
	switch {
	case d.Binding == Commit:
		err := l.lease.Commit(t.Target())
		if errors.Is(err, affinity.ErrMismatch) {
			return errorf(Internal, "the request went elsewhere than it had to: %v", err)
		}
		if err != nil {
			l.x.r.parts.Log.Warn("session not bound", "worker", t.ID(), "cause", err)
		}
	case d.Binding == Invalidate && isBound:
		l.invalidate()
	case !isBound && d.Action != RetryElsewhere:
		l.release() // whoever waits need not wait for the body of a failure
	}
	return nil
}

// inSession says whether the request belongs to a session here.
func (l *leg) inSession() bool { return l.x.key.Session != "" && l.coordinator != nil && !l.adrift }

// leased says whether a lease is held.
func (l *leg) leased() bool { return l.lease != affinity.Lease{} }

// bound says whether a lease is held and the session bound.
func (l *leg) bound() bool {
	_, bound := l.lease.Bound()
	return bound
}

// release ends the lease, if one is held.
func (l *leg) release() {
	l.lease.Release()
	l.lease = affinity.Lease{}
}

// invalidate ends the lease, if one is held, and its binding.
func (l *leg) invalidate() {
	l.lease.Invalidate()
	l.lease = affinity.Lease{}
}
