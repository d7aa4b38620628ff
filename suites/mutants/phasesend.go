package mutants

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// secondHandoff is a mutant whose hand-off of a request's second decode is wrong: f
// gets the request and what the first one was given.
func secondHandoff(id, fault string, f func(body, first []byte) []byte, killedBy ...string) Mutant {
	return handing(id, fault, func(h *passing) {
		inner := h.decode
		var given sync.Map
		h.decode = func(body, answer []byte) ([]byte, error) {
			out, err := inner(body, answer)
			if err != nil {
				return out, err
			}
			if first, again := given.LoadOrStore(string(body), out); again {
				return f(body, first.([]byte)), nil
			}
			return out, nil
		}
	}, killedBy...)
}

// PDSReuses hands on what has been fetched. Where nobody has fetched it, that is right.
func (Catalogue) PDSReuses() Mutant {
	return secondHandoff("pds/reuses", "a decode that is tried again is given what the first one was given, fetched or not",
		func(_, first []byte) []byte { return first }, "PDS-001/used-up")
}

// PDSRetriesBare hands on nothing.
func (Catalogue) PDSRetriesBare() Mutant {
	return secondHandoff("pds/retries-bare", "a decode that is tried again is not told of any prefill",
		func(body, _ []byte) []byte { return body }, "PDS-001/decode-down", "PDS-001/used-up")
}

// sending is a mutant that sends requests of one phase in its own way.
func sending(id, fault string, f func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			send, parts := p.Transport, *p
			p.Transport = sends(func(r *http.Request) (*http.Response, error) { return f(&parts, send, r, asksPrefill(r)) })
		})}
}

// PDSDeafDecode decodes for nobody.
func (Catalogue) PDSDeafDecode() Mutant {
	return sending("pds/deaf-decode", "a client that leaves during decode is not noticed",
		func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if !prefill && p.Fleet.Split("mock") {
				r = r.WithContext(context.WithoutCancel(r.Context()))
			}
			return send.RoundTrip(r)
		}, "PDS-005/left-in-decode")
}

// PDSDeafUntilAnswered notices a client that leaves once there is an answer for it.
func (Catalogue) PDSDeafUntilAnswered() Mutant {
	return sending("pds/deaf-until-headers", "a client that leaves before the decode worker's headers is not noticed until they come",
		func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if prefill || !p.Fleet.Split("mock") {
				return send.RoundTrip(r)
			}
			client := r.Context()
			ctx, cancel := context.WithCancel(context.WithoutCancel(client))
			resp, err := send.RoundTrip(r.WithContext(ctx))
			if err != nil {
				cancel()
				return nil, err
			}
			stop := context.AfterFunc(client, cancel)
			resp.Body = &closer{body: resp.Body, done: func() { stop(); cancel() }}
			return resp, nil
		}, "PDS-005/left-in-decode")
}

// PDSRetriesLong tries a prefill worker many times over.
func (Catalogue) PDSRetriesLong() Mutant {
	return sending("pds/retries-long", "each prefill worker that breaks the connection is tried ten times",
		func(_ *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if prefill {
				return again(send, 10)(r)
			}
			return send.RoundTrip(r)
		}, "PDS-004/bounded")
}

// PDSDecodesLong tries a decode worker many times over.
func (Catalogue) PDSDecodesLong() Mutant {
	return sending("pds/decodes-long", "each decode worker that breaks the connection is tried ten times",
		func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if !prefill && p.Fleet.Split("mock") {
				return again(send, 10)(r)
			}
			return send.RoundTrip(r)
		}, "PDS-004/bounded")
}

// RTEFirstModel knows the names of models, not whose they are.
func (Catalogue) RTEFirstModel() Mutant {
	return Mutant{ID: "rte/first-model", Fault: "a request for any known model goes to workers of the first", KilledBy: []string{"RTE-002/by-model"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Models
			p.Models = models(func(body []byte, known []string) (string, error) {
				m, err := inner.Model(body, known)
				if err != nil {
					return m, err
				}
				return known[0], nil
			})
		})}
}

// hosts keeps the addresses of workers by their ids.
type hosts struct{ sync.Map }

func (h *hosts) learn(ws []target.Worker) []target.Worker {
	for _, w := range ws {
		h.Store(w.ID, strings.TrimPrefix(w.URL, "http://"))
	}
	return ws
}

// AFFSticksToHost keys by the id, where it counts.
func (Catalogue) AFFSticksToHost() Mutant {
	return Mutant{ID: "aff/sticks-to-host", Fault: "all turns with one id go to one worker, whatever their model", KilledBy: []string{"AFF-015/models-http", "RTE-002/by-model"},
		New: with(func(_ *router.Config, p *router.Parts) {
			send := p.Transport
			var home sync.Map
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if id := r.Header.Get("X-Session-ID"); id != "" {
					first, _ := home.LoadOrStore(id, r.URL.Host)
					r.URL.Host = first.(string)
				}
				return send.RoundTrip(r)
			})
		})}
}

// PINAnyModel follows a pin without a look at the model.
func (Catalogue) PINAnyModel() Mutant {
	const kept = "X-Mutant-Worker"
	var at hosts
	return Mutant{ID: "pin/any-model", Fault: "a pin is followed to a worker that serves another model", KilledBy: []string{"PIN-010/other-model"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			find, send := p.Pins, p.Transport
			p.Pins = reads(func(h http.Header) (pins.Pins, error) {
				got, err := find.Pins(h)
				if _, ok := at.Load(got.Serve.Worker); ok {
					h.Set(kept, got.Serve.Worker)
					got.Serve.Worker = ""
				}
				return got, err
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if host, ok := at.Load(r.Header.Get(kept)); ok {
					r.URL.Host = host.(string)
				}
				r.Header.Del(kept)
				return send.RoundTrip(r)
			})
		}, at.learn)}
}
