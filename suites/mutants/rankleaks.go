package mutants

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// PINRemembers dispatches to whoever was there once.
func (Catalogue) PINRemembers() Mutant {
	const to = "X-Mutant-To"
	return Mutant{ID: "pin/remembers-departed", Fault: "a pin to a worker that has left is followed", KilledBy: []string{"PIN-010/left"},
		New: func(c target.LocalConfig) (target.Local, error) {
			var mu sync.Mutex
			hosts, here := map[string]string{}, []string{}
			return withWorkers(func(_ *router.Config, p *router.Parts) {
				find, send := p.Pins, p.Transport
				p.Pins = reads(func(h http.Header) (pins.Pins, error) {
					got, err := find.Pins(h)
					mu.Lock()
					defer mu.Unlock()
					if host := hosts[got.Serve.Worker]; host != "" && !slices.Contains(here, got.Serve.Worker) {
						h.Set(to, host)
						got.Serve = affinity.Target{}
					}
					return got, err
				})
				p.Transport = sends(func(r *http.Request) (*http.Response, error) {
					if host := r.Header.Get(to); host != "" {
						r = r.Clone(r.Context())
						r.Header.Del(to)
						r.URL.Host, r.Host = host, host
					}
					return send.RoundTrip(r)
				})
			}, func(ws []target.Worker) []target.Worker {
				mu.Lock()
				defer mu.Unlock()
				here = nil
				for _, w := range ws {
					here = append(here, w.ID)
					hosts[w.ID] = strings.TrimPrefix(w.URL, "http://")
				}
				return ws
			})(c)
		}}
}

// PDSDropsBeside takes a rank without its worker for none.
func (Catalogue) PDSDropsBeside() Mutant {
	return pinning("pds/drops-rank-beside-worker", "a rank for prefill without a worker for it is ignored beside a worker that is named for decode",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			if h.Get("X-Dynamo-Prefill-Instance-ID") == "" && h.Get("X-Dynamo-Worker-Instance-ID") != "" {
				h = h.Clone()
				h.Del("X-Dynamo-Prefill-DP-Rank")
			}
			return former.Pins(h)
		}, "PDS-003/rank-alone", "PIN-008/prefill-rank")
}

// PDSStandsIn fills one phase's pin from the other's.
func (Catalogue) PDSStandsIn() Mutant {
	return pinning("pds/worker-stands-in", "beside a rank for prefill the worker that is named for decode counts for prefill, too",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			if w := h.Get("X-Dynamo-Worker-Instance-ID"); w != "" && h.Get("X-Dynamo-Prefill-DP-Rank") != "" && h.Get("X-Dynamo-Prefill-Instance-ID") == "" {
				h = h.Clone()
				h.Set("X-Dynamo-Prefill-Instance-ID", w)
			}
			return former.Pins(h)
		}, "PIN-008/prefill-rank")
}

// leaking is a mutant that takes the rank that a header names for one phase into the
// other, where leaks says so.
func leaking(id, fault, header string, leaks func(r *http.Request, prefill bool) bool, killedBy ...string) Mutant {
	const kept = "X-Mutant-Rank"
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			find, send := p.Pins, p.Transport
			p.Pins = reads(func(h http.Header) (pins.Pins, error) {
				if rank := h.Get(header); rank != "" {
					h.Set(kept, rank)
				}
				return find.Pins(h)
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				rank := r.Header.Get(kept)
				r.Header.Del(kept)
				if rank != "" && leaks(r, asksPrefill(r)) {
					r.Header.Set(pins.RankHeader, rank)
				}
				return send.RoundTrip(r)
			})
		})}
}

// PDSLeaksBack lets the prefill rank into decode.
func (Catalogue) PDSLeaksBack() Mutant {
	return leaking("pds/leaks-rank-back", "where decode has no rank of its own it gets that of prefill", "X-Dynamo-Prefill-DP-Rank",
		func(_ *http.Request, prefill bool) bool { return !prefill }, "PDS-003/prefill-rank")
}

// PDSLeaksInSessions lets the decode rank into a session's prefill.
func (Catalogue) PDSLeaksInSessions() Mutant {
	return leaking("pds/leaks-rank-in-sessions", "in a session, prefill gets the rank that is pinned for decode", "X-Dynamo-DP-Rank",
		func(r *http.Request, prefill bool) bool { return prefill && r.Header.Get("X-Session-ID") != "" }, "PDS-003/decode-rank-binds")
}

// AFFKeepsRank takes a rank along.
func (Catalogue) AFFKeepsRank() Mutant {
	return Mutant{ID: "aff/keeps-rank-on-move", Fault: "a session that moves to another worker keeps the number of its rank", KilledBy: []string{"AFF-005/ranks"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var ranks sync.Map
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				id, rank := r.Header.Get("X-Session-ID"), r.Header.Get(pins.RankHeader)
				if id != "" && rank != "" {
					first, _ := ranks.LoadOrStore(id, rank)
					r.Header.Set(pins.RankHeader, first.(string))
				}
				return send.RoundTrip(r)
			})
		})}
}
