package router

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

var (
	errNoWorker      = errorf(Unavailable, "no worker is available for this model")
	errHeaderTimeout = errors.New("no response headers in time")
)

// exchange is one client request on its way through the router.
type exchange struct {
	r       *Router
	w       http.ResponseWriter
	req     *http.Request
	body    []byte
	model   string
	session string         // "" = none, or affinity is off
	lease   affinity.Lease // zero = none held

	tried    []*member
	timeouts int
}

// run brings the request to a worker and the response to the client. It returns
// an error only while nothing has reached the client; later trouble cuts the
// connection.
func (x *exchange) run() error {
	defer x.release()
	var last error // of the latest attempt
	for attempt := 1; ; attempt++ {
		t, err := x.place()
		if err != nil {
			if last != nil && errors.Is(err, errNoWorker) {
				return last // that no other worker is left is not the cause
			}
			return err
		}
		var again bool
		if again, last = x.attempt(t, attempt); !again {
			return last
		}
	}
}

// place finds the worker for the next attempt and puts the request on it.
func (x *exchange) place() (*ticket, error) {
	ctx := x.req.Context()
	for x.session != "" {
		if !x.leased() {
			lease, err := x.r.parts.Affinity.Acquire(ctx, affinity.Ask{Key: affinity.Key{Model: x.model, Session: x.session}})
			if errors.Is(err, affinity.ErrCapacity) && x.r.cfg.AtCapacity == Unpinned {
				x.session = ""
				break
			}
			if err != nil {
				return nil, leaseError(err)
			}
			x.lease = lease
		}
		home, bound := x.lease.Bound()
		if !bound {
			break // ours to choose
		}
		if t := x.r.parts.Fleet.begin(x.model, home.Worker); t != nil {
			return t, nil
		}
		x.r.parts.Log.Info("bound worker has just left", "model", x.model, "worker", home.Worker)
		x.invalidate()
	}
	if t := x.r.parts.Fleet.pick(x.r.parts.Policy, x.model, x.tried); t != nil {
		return t, nil
	}
	return nil, errNoWorker
}

func leaseError(err error) error {
	switch {
	case errors.Is(err, affinity.ErrTooLong), errors.Is(err, affinity.ErrPin), errors.Is(err, affinity.ErrRankAlone):
		return errorf(InvalidArgument, "%v", err)
	case errors.Is(err, affinity.ErrCapacity):
		return errorf(ResourceExhausted, "%v", err)
	case errors.Is(err, affinity.ErrInitWait):
		return errorf(InitWaitExceeded, "%v", err)
	}
	return err
}

// attempt sends the request to one worker. again says that another should be
// tried; err is then what to tell the client if there is none.
func (x *exchange) attempt(t *ticket, number int) (again bool, err error) {
	defer t.release()
	ctx, stop := x.r.parts.Context(x.req.Context())
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.tried = append(x.tried, t.member)

	out := Outcome{Attempt: number, MaxAttempts: x.r.cfg.MaxAttempts, Session: x.session != "", Bound: x.bound()}
	timer := time.AfterFunc(x.r.cfg.HeaderTimeout, func() { cancel(errHeaderTimeout) })
	resp, err := x.r.parts.Transport.RoundTrip(outgoing(ctx, x.req, bytes.NewReader(x.body), int64(len(x.body)), t.url))
	inTime := timer.Stop()
	if err == nil && !inTime { // the headers and the timer came together; the body is cut already
		_ = resp.Body.Close()
		err = errHeaderTimeout
	}
	if err != nil {
		return x.failed(t, out, err, inTime)
	}
	defer func() { _ = resp.Body.Close() }()
	t.responded()
	out.Status, out.TimedOut = resp.StatusCode, x.timeouts
	d := x.r.parts.Failover(out)
	x.bind(t, d, out)
	if d.Action != PassOn {
		return d.Action == RetryElsewhere, errorf(ConnectionFailed, "worker %s answered %d", t.id, resp.StatusCode)
	}
	x.relay(t, resp)
	return false, nil
}

// failed settles an attempt that brought no response.
func (x *exchange) failed(t *ticket, out Outcome, cause error, inTime bool) (again bool, err error) {
	switch {
	case x.req.Context().Err() != nil:
		out.Failure, err = Cancelled, x.req.Context().Err()
	case !inTime:
		x.timeouts++
		out.Failure = TimedOut
		err = errorf(HeaderTimeout, "worker %s sent no response headers within %v", t.id, x.r.cfg.HeaderTimeout)
		t.failed()
	default:
		out.Failure = Broken
		err = errorf(ConnectionFailed, "the connection to worker %s failed: %v", t.id, cause)
		t.failed()
	}
	out.TimedOut = x.timeouts
	d := x.r.parts.Failover(out)
	x.r.parts.Log.Info("attempt failed", "worker", t.id, "attempt", out.Attempt, "failure", out.Failure.String(), "cause", cause,
		"retry", d.Action == RetryElsewhere)
	x.bind(t, d, out)
	return d.Action == RetryElsewhere, err
}

// bind applies what the decision says of the session.
func (x *exchange) bind(t *ticket, d Decision, out Outcome) {
	if !x.leased() {
		return
	}
	isBound := x.bound()
	switch {
	case d.Binding == Commit && !isBound:
		if err := x.lease.Commit(affinity.Target{Worker: t.key}); err != nil {
			x.r.parts.Log.Warn("session not bound", "worker", t.id, "cause", err)
		}
	case d.Binding == Invalidate && isBound:
		x.invalidate()
	case d.Binding != Commit && !isBound && d.Action != RetryElsewhere:
		x.release() // whoever waits need not wait for the body of a failure
	}
}

// relay streams the response to the client. The worker's load and the lease end
// when the worker's response does, before the client can see that it has.
func (x *exchange) relay(t *ticket, resp *http.Response) {
	lease := x.lease
	resp.Body = ending{resp.Body, func() {
		t.release()
		lease.Release()
	}}
	if err := x.r.parts.Relay.Relay(x.w, resp); err != nil {
		x.r.parts.Log.Info("response cut", "worker", t.id, "client gone", x.req.Context().Err() != nil, "cause", err)
		panic(http.ErrAbortHandler)
	}
}

// leased says whether a lease is held.
func (x *exchange) leased() bool { return x.lease != affinity.Lease{} }

// bound says whether a lease is held and the session bound.
func (x *exchange) bound() bool {
	_, bound := x.lease.Bound()
	return bound
}

// release ends the lease, if one is held.
func (x *exchange) release() {
	x.lease.Release()
	x.lease = affinity.Lease{}
}

// invalidate ends the lease and its binding.
func (x *exchange) invalidate() {
	x.lease.Invalidate()
	x.lease = affinity.Lease{}
}
