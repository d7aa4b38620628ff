package router

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/impl/fleet"
)

var errHeaderTimeout = errors.New("no response headers in time")

// attempt sends the body to one worker and gives its response to use, if it is
// to be passed on. again says that another worker should be tried; err is then
// what to tell the client if there is none.
func (l *leg) attempt(t *fleet.Ticket, body []byte, use func(*fleet.Ticket, *http.Response) error) (again bool, err error) {
	defer t.Release()
	parts, cfg := &l.x.r.parts, &l.x.r.cfg
	ctx, stop := parts.Context(l.x.req.Context())
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.x.dispatches()
	l.attempts++
	out := Outcome{Attempt: l.attempts, MaxAttempts: cfg.MaxAttempts, Elsewhere: l.x.elsewhere, Session: l.inSession(), Bound: l.bound(),
		WasBound: l.x.wasBound, Pinned: l.pin.Worker != "", Prefill: l.fit == fleet.Prefill}
	req := outgoing(ctx, l.x.req, bytes.NewReader(body), int64(len(body)), t.Place)
	if l.x.requestID != "" {
		req.Header["X-Request-Id"] = []string{l.x.requestID}
	}
	if out.Prefill {
		delete(req.Header, "Accept-Encoding") // the answer is read here
	}

	timer := time.AfterFunc(cfg.HeaderTimeout, func() { cancel(errHeaderTimeout) })
	resp, err := parts.Transport.RoundTrip(req)
	inTime := timer.Stop()
	if err == nil && !inTime { // the headers and the timer came together; the body is cut already
		_ = resp.Body.Close()
		err = errHeaderTimeout
	}
	if err != nil {
		return l.lost(t, out, err, inTime)
	}
	defer func() { _ = resp.Body.Close() }()
	t.Responded()
	out.Status, out.TimedOut = resp.StatusCode, l.timeouts
	d := parts.Failover(out)
	if err := l.settle(t, d); err != nil {
		return false, err
	}
	if d.Action != PassOn {
		return l.again(t, d), errorf(ConnectionFailed, "worker %s answered %d", t.ID(), resp.StatusCode)
	}
	if out.Prefill { // no stream: its end is as near as its beginning
		timer.Reset(cfg.HeaderTimeout)
		defer timer.Stop()
	}
	return false, use(t, resp)
}

// lost settles an attempt that brought no response.
func (l *leg) lost(t *fleet.Ticket, out Outcome, cause error, inTime bool) (again bool, err error) {
	client := l.x.req.Context()
	switch {
	case client.Err() != nil:
		out.Failure, err = Cancelled, client.Err()
	case !inTime:
		l.timeouts++
		out.Failure = TimedOut
		err = errorf(HeaderTimeout, "worker %s sent no response headers within %v", t.ID(), l.x.r.cfg.HeaderTimeout)
		t.Failed()
	default:
		out.Failure = Broken
		err = errorf(ConnectionFailed, "the connection to worker %s failed: %v", t.ID(), cause)
		t.Failed()
	}
	out.TimedOut = l.timeouts
	d := l.x.r.parts.Failover(out)
	l.x.r.parts.Log.Info("attempt failed", "worker", t.ID(), "attempt", out.Attempt, "failure", out.Failure.String(), "cause", cause,
		"retry", d.Action == RetryElsewhere)
	if wrong := l.settle(t, d); wrong != nil {
		return false, wrong
	}
	return l.again(t, d), err
}

// again says whether another worker is to be tried, and sees to it that it is
// another.
func (l *leg) again(t *fleet.Ticket, d Decision) bool {
	if d.Action != RetryElsewhere {
		return false
	}
	target := t.Target()
	l.failed = append(l.failed, target.Worker)
	l.pin.Worker = ""
	l.x.elsewhere++
	return true
}
