package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/impl/selection"
)

// picks is a policy made of a function.
type picks func([]selection.Candidate) int

func (f picks) Pick(c []selection.Candidate) int { return f(c) }
func (f picks) Peek(c []selection.Candidate) int { return f(c) }

// RTEKeylessKey takes a missing session id for a session id.
func (Catalogue) RTEKeylessKey() Mutant {
	return Mutant{
		ID: "rte/keyless-is-a-key", Fault: "requests without a session id all share one session",
		KilledBy: []string{"RTE-001/one-at-a-time", "RTE-001/bursts"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if id := inner.Session(r); id != "" {
					return id
				}
				return "default"
			})
		}),
	}
}

// RTEBlankKey takes a blank session id for a session id.
func (Catalogue) RTEBlankKey() Mutant {
	return Mutant{
		ID: "rte/blank-is-a-key", Fault: "requests whose session id is blank all share one session",
		KilledBy: []string{"RTE-001/blank-id"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if id := inner.Session(r); id != "" || len(r.Header["X-Session-Id"]) == 0 {
					return id
				}
				return "blank"
			})
		}),
	}
}

// RTETiesToFirst always prefers the first of equally loaded workers.
func (Catalogue) RTETiesToFirst() Mutant {
	return Mutant{
		ID: "rte/ties-to-the-first", Fault: "of equally loaded workers the first always wins",
		KilledBy: []string{"RTE-001/one-at-a-time"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Policy = picks(func(c []selection.Candidate) int {
				best := 0
				for i := range c {
					if c[i].InFlight < c[best].InFlight {
						best = i
					}
				}
				return best
			})
		}),
	}
}

// RTEHerd looks at the fleet only when it is idle.
func (Catalogue) RTEHerd() Mutant {
	return Mutant{
		ID: "rte/herd", Fault: "requests that arrive together all go to the worker that was chosen for the first of them",
		KilledBy: []string{"RTE-001/bursts"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var mu sync.Mutex
			next := 0
			p.Policy = picks(func(c []selection.Candidate) int {
				mu.Lock()
				defer mu.Unlock()
				busy := 0
				for i := range c {
					busy += c[i].InFlight
				}
				if busy == 0 {
					next++
				}
				return next % len(c)
			})
		}),
	}
}

// models is a model finder made of a function.
type models func(body []byte, known []string) (string, error)

func (f models) Model(body []byte, known []string) (string, error) { return f(body, known) }

// RTEAnyModel serves every model name.
func (Catalogue) RTEAnyModel() Mutant {
	return Mutant{
		ID: "rte/any-model", Fault: "a request for an unknown model is sent to some worker",
		KilledBy: []string{"RTE-002/unknown-model"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Models = models(func(_ []byte, known []string) (string, error) { return known[0], nil })
		}),
	}
}

// replaceBody swaps the body of a request that is on its way to a worker.
func replaceBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return r
}

// RTEReencodes parses the body into Go values and writes it again.
func (Catalogue) RTEReencodes() Mutant {
	return Mutant{
		ID: "rte/reencodes-body", Fault: "bodies are decoded and encoded again, so that large integers lose digits",
		KilledBy: []string{"RTE-003/request"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
				var v map[string]any
				if json.Unmarshal(raw, &v) == nil {
					again, err := json.Marshal(v)
					if err != nil {
						return nil, err
					}
					raw = again
				}
				return inner.RoundTrip(replaceBody(r, raw))
			})
		}),
	}
}

// RTEFirstValue keeps one value per header.
func (Catalogue) RTEFirstValue() Mutant {
	return Mutant{
		ID: "rte/first-header-value", Fault: "of a repeated request header only the first value reaches the worker",
		KilledBy: []string{"RTE-003/request"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				r = r.Clone(r.Context())
				for name, values := range r.Header {
					if len(values) > 0 {
						r.Header[name] = values[:1]
					}
				}
				return inner.RoundTrip(r)
			})
		}),
	}
}

// RTERetriesBare forgets a request's headers when it has to ask again.
func (Catalogue) RTERetriesBare() Mutant {
	return Mutant{
		ID: "rte/retries-bare", Fault: "a request that is sent to a second worker has lost its Authorization",
		KilledBy: []string{"RTE-003/retried"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			var mu sync.Mutex
			tried := map[string]bool{} // by the requests' own ids
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				id := r.Header.Get("X-Request-Id")
				mu.Lock()
				again := tried[id]
				tried[id] = true
				mu.Unlock()
				if again {
					r = r.Clone(r.Context())
					r.Header.Del("Authorization")
				}
				return inner.RoundTrip(r)
			})
		}),
	}
}

// RTEErrorPage replaces error bodies.
func (Catalogue) RTEErrorPage() Mutant {
	return Mutant{
		ID: "rte/error-page", Fault: "the body of a worker's error answer is replaced by the router's own",
		KilledBy: []string{"RTE-004/response"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				if resp.StatusCode >= 400 {
					page := fmt.Sprintf(`{"error":"upstream answered %d"}`, resp.StatusCode)
					_ = resp.Body.Close()
					resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader([]byte(page))), int64(len(page))
					resp.Header.Set("Content-Length", strconv.Itoa(len(page)))
				}
				return inner.Relay(w, resp)
			})
		}),
	}
}

// RTEHedges sends each request twice.
func (Catalogue) RTEHedges() Mutant {
	return Mutant{
		ID: "rte/hedges", Fault: "every request is sent to its worker twice and the second answer is thrown away",
		KilledBy: []string{"RTE-005/once"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
				twin := replaceBody(r.WithContext(context.WithoutCancel(r.Context())), raw)
				resp, err := inner.RoundTrip(replaceBody(r, raw))
				if second, err := inner.RoundTrip(twin); err == nil {
					_ = second.Body.Close()
				}
				return resp, err
			})
		}),
	}
}
