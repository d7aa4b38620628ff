package router

import (
	"errors"
	"net/http"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/fleet"
)

// exchange is one client request on its way through the router.
type exchange struct {
	r     *Router
	w     http.ResponseWriter
	req   *http.Request
	body  []byte
	key   affinity.Key // without a session if there is none, or affinity is off
	query bool         // the client only asks where the request would go
	serve leg
}

// run brings the request to a worker and the response to the client. It returns
// an error only while nothing has reached the client; later trouble cuts the
// connection.
func (x *exchange) run() error {
	defer x.serve.release()
	var last error // of the latest attempt
	for {
		t, err := x.serve.place()
		if err != nil {
			if last != nil && errors.Is(err, errNoWorker) {
				return last // that no other worker is left is not the cause
			}
			return err
		}
		var again bool
		if again, last = x.serve.attempt(t, x.body, x.serve.relay); !again {
			return last
		}
	}
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
