package mutants

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
)

// brokenSo is an edit of what is said of connections that broke.
func brokenSo(edit func(*refusal)) func(*refusal) {
	return func(f *refusal) {
		if f.code() == "connection_failed" {
			edit(f)
		}
	}
}

func as500(f *refusal) { f.status = http.StatusInternalServerError }

// RTERefused500 knows one way for a connection to break.
func (Catalogue) RTERefused500() Mutant {
	return refuses("rte/refused-500", "connections that are refused are answered 500", brokenSo(func(f *refusal) {
		if bytes.Contains(f.body, []byte("connection refused")) {
			as500(f)
		}
	}), "RTE-006/connection-failed")
}

// RTEBound503 takes a session's worker for the fleet.
func (Catalogue) RTEBound503() Mutant {
	var mu sync.Mutex
	seen := map[string]bool{} // sessions
	return refusesTo("rte/bound-503", "connections that broke under a session's second turn are answered 503, for want of a worker",
		func(p router.Parts, req *http.Request) func(*refusal) {
			id := p.Sessions.Session(req)
			mu.Lock()
			defer mu.Unlock()
			later := id != "" && seen[id]
			seen[id] = true
			if !later {
				return nil
			}
			return brokenSo(func(f *refusal) {
				f.status = http.StatusServiceUnavailable
				f.header.Set("Retry-After", "1")
				f.body = bytes.Replace(f.body, []byte(`"connection_failed"`), []byte(`"unavailable"`), 1)
			})
		}, "RTE-006/connection-failed")
}

// RTEPhases500 has an error of its own for requests in two phases.
func (Catalogue) RTEPhases500() Mutant {
	return refusesTo("rte/phases-500", "connections that broke in either of two phases are answered 500",
		func(p router.Parts, _ *http.Request) func(*refusal) {
			for _, model := range p.Fleet.Models() {
				if p.Fleet.Split(model) {
					return brokenSo(as500)
				}
			}
			return nil
		}, "RTE-006/phases")
}

// RTEPinned500 has one for those that name their worker.
func (Catalogue) RTEPinned500() Mutant {
	return refusesTo("rte/pinned-500", "connections to a pinned worker that broke are answered 500",
		func(p router.Parts, req *http.Request) func(*refusal) {
			if asked, err := p.Pins.Pins(req.Header); err == nil && asked.Serve.Worker != "" {
				return brokenSo(as500)
			}
			return nil
		}, "RTE-006/pinned")
}
