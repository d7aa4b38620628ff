package judge

import (
	"strings"

	"github.com/routeproof/routeproof/suites/history"
)

// Place names where a request was served, given the worker that served it; "" if
// that is not known.
type Place func(r *history.Request, worker string) string

// Frontend is the one of several frontends that the header of the answer names. The
// ingress before them writes it.
func Frontend(header string) Place {
	return func(r *history.Request, _ string) string { return strings.Join(r.Header[header], ",") }
}

// Behind is the worker behind its frontend: "f1/w0".
func Behind(frontend Place) Place {
	return func(r *history.Request, worker string) string {
		f := frontend(r, worker)
		if f == "" {
			return ""
		}
		return f + "/" + worker
	}
}

// Placing lets j judge the history as if the place of a request were the worker that
// served it. All attempts of a request have the same frontend, for its answer names
// the last one alone. Attempts without a known place are left out: for j, they
// reached nobody.
func Placing(at Place, j Judge) Judge {
	return func(h *history.History) Finding {
		placed, of := *h, map[string]*history.Request{}
		for i := range h.Requests {
			of[h.Requests[i].Key] = &h.Requests[i]
		}
		placed.Attempts = nil
		for _, a := range h.Attempts {
			if r := of[a.Key]; r != nil {
				if a.Worker = at(r, a.Worker); a.Worker != "" {
					placed.Attempts = append(placed.Attempts, a)
				}
			}
		}
		return j(&placed)
	}
}
