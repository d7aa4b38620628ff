package router

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/fleet"
)

// QueryHeader asks where a request would go, instead of sending it there. Its one
// value is QueryTarget.
const (
	QueryHeader = "X-Routeproof-Query"
	QueryTarget = "target"
)

// isQuery says whether the request only asks.
func isQuery(h http.Header) (bool, error) {
	values := h[QueryHeader]
	if len(values) == 0 {
		return false, nil
	}
	switch v := strings.Trim(values[0], " \t"); v {
	case "":
		return false, nil
	case QueryTarget:
		return true, nil
	default:
		return false, errorf(InvalidArgument, "%s: %.100q is unknown: send %q, or drop the header to have the request served", QueryHeader, v, QueryTarget)
	}
}

// whereabouts is the answer to a query.
type whereabouts struct {
	Worker  string       `json:"worker"`
	Rank    *uint32      `json:"rank,omitempty"`
	Bound   bool         `json:"bound"`
	Prefill *whereabouts `json:"prefill,omitempty"` // where the request would go first
}

// answer tells where the request would go, and leaves no trace.
func (x *exchange) answer() error {
	p, bound, err := x.serve.look()
	if err != nil {
		return err
	}
	w := where(p, bound)
	if x.inTwo(p) {
		p, bound, err := x.prefill.look()
		switch {
		case err == nil:
			first := where(p, bound)
			w.Prefill = &first
		case !errors.Is(err, errNoWorker): // else they have just left
			return err
		}
	}
	body, err := json.Marshal(w)
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = x.w.Write(body) // a client that has left needs no answer
	return nil
}

func where(p fleet.Place, bound bool) whereabouts {
	w := whereabouts{Worker: p.ID(), Bound: bound}
	if r, ok := p.Rank().Value(); ok {
		w.Rank = &r
	}
	return w
}

// look says what place would choose.
func (l *leg) look() (p fleet.Place, bound bool, err error) {
	f := l.x.r.parts.Fleet
	for {
		want, err := l.want()
		if err != nil {
			return p, false, err
		}
		if l.inSession() {
			home, found, err := l.coordinator.Query(affinity.Ask{Key: l.x.key, Pin: want.At})
			if err != nil {
				return p, false, leaseError(err)
			}
			if bound = found; bound {
				want.At = home
			}
		}
		p, ok := f.Look(l.policy, want)
		if ok {
			return p, bound, nil
		}
		if want.At.Worker == "" || f.Live(want.Model, want.At) {
			return p, false, errNoWorker
		} // else it has just left: look again
	}
}
