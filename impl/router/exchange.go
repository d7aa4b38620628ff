package router

import (
	"errors"
	"net/http"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/fleet"
)

// exchange is one client request on its way through the router. It runs in one
// phase, or, where a decode worker is to answer it and there are prefill workers,
// in two. The decode worker is chosen first, and its place kept while the other
// phase runs: so a wish that cannot be met is refused before any work is done for it,
// and turns of a new session wait for each other once, not in each phase.
type exchange struct {
	r     *Router
	w     http.ResponseWriter
	req   *http.Request
	body  []byte
	key   affinity.Key // without a session if there is none, or affinity is off
	query bool         // the client only asks where the request would go

	splittable bool // can run in two phases, if there are workers for them

	serve     leg    // the phase that answers the client
	prefill   leg    // the one before it
	handed    []byte // the decode worker's request, once prefill has run for it
	requestID string // made here, because the phases must have one in common; "" if not needed

	wasBound  bool // the session was bound, in either phase, at the first dispatch
	elsewhere int  // how often the request went elsewhere, over both phases
}

// splits says whether fresh requests like this one run in two phases now.
func (x *exchange) splits() bool { return x.splittable && x.r.parts.Fleet.Split(x.key.Model) }

// inTwo says whether the request runs in two phases if the place is to answer it.
func (x *exchange) inTwo(p fleet.Place) bool {
	return p.Role() == discovery.Decode && x.splits()
}

// dispatches notes, before the first dispatch, whether the session is bound. Later
// it may be so through the request itself, when prefill runs again.
func (x *exchange) dispatches() {
	if x.serve.attempts+x.prefill.attempts == 0 {
		x.wasBound = x.serve.bound() || x.prefill.bound()
	}
}

// run brings the request to a worker and the response to the client. It returns
// an error only while nothing has reached the client; later trouble cuts the
// connection.
func (x *exchange) run() error {
	defer x.serve.release()
	defer x.prefill.release()
	var last error // of the latest attempt
	for {
		t, err := x.serve.place()
		var again bool
		if err == nil {
			again, err = x.serveAt(t)
		}
		switch {
		case last != nil && errors.Is(err, errNoWorker):
			return last // that no other worker is left is not the cause
		case !again:
			return err
		case err != nil:
			last = err
		}
	}
}

// serveAt lets the place answer the request, after prefill if it is to be in two
// phases. again says that another place should be tried; err is then what to tell
// the client if there is none, or nil if this one was not tried at all.
func (x *exchange) serveAt(t *fleet.Ticket) (again bool, err error) {
	defer t.Release()
	body := x.body
	if x.handed != nil && t.Role() == discovery.Decode || x.inTwo(t.Place) {
		if x.handed == nil {
			answered, err := x.runPrefill(t)
			if answered || err != nil {
				return false, err
			}
			if !x.r.parts.Fleet.Live(x.key.Model, t.Target()) { // it left meanwhile
				if x.serve.bound() || x.serve.pin.Worker != "" { // else the lease is good for another worker
					x.serve.invalidate()
				}
				return true, nil
			}
		}
		body = x.handed
	}
	if err := x.req.Context().Err(); err != nil {
		return false, err
	}
	x.handed = nil
	return x.serve.attempt(t, body, x.serve.relay)
}

// relay streams the response to the client. The worker's load and the lease end
// when the worker's response does, before the client can see that it has.
func (l *leg) relay(t *fleet.Ticket, resp *http.Response) error {
	lease := l.lease
	resp.Body = ending{resp.Body, func() {
		t.Release()
		lease.Release()
	}}
	if err := l.x.r.parts.Relay.Relay(l.x.w, resp); err != nil {
		l.x.r.parts.Log.Info("response cut", "worker", t.ID(), "client gone", l.x.req.Context().Err() != nil, "cause", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
