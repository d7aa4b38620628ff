package mutants

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// reads is a reader of pins made of a function.
type reads func(http.Header) (pins.Pins, error)

func (f reads) Pins(h http.Header) (pins.Pins, error) { return f(h) }

// pinning is a mutant that reads pins in its own way.
func pinning(id, fault string, f func(former router.Pins, h http.Header) (pins.Pins, error), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			former := p.Pins
			p.Pins = reads(func(h http.Header) (pins.Pins, error) { return f(former, h) })
		})}
}

// PINIgnoredAlways reads no pins.
func (Catalogue) PINIgnoredAlways() Mutant {
	return pinning("pin/ignored", "pins are not read",
		func(router.Pins, http.Header) (pins.Pins, error) { return pins.Pins{}, nil },
		"PIN-001/keyless", "PIN-001/binds", "PIN-010/unknown-worker", "PIN-010/unknown-rank")
}

// PINZeroHTTP loses one rank in N.
func (Catalogue) PINZeroHTTP() Mutant {
	return pinning("pin/reads-zero-as-unset", "a pin to rank 0 is read as one to the worker alone",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			p, err := former.Pins(h)
			p.Serve = withoutZero(p.Serve)
			return p, err
		}, "PIN-005/each-rank")
}

// PINDropsBad takes what it cannot read for nothing.
func (Catalogue) PINDropsBad() Mutant {
	return pinning("pin/drops-bad-ranks", "a rank that is no number, or has no worker, is dropped",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			p, err := former.Pins(h)
			if err != nil {
				h = h.Clone()
				for name := range h {
					if strings.HasSuffix(name, "Rank") {
						delete(h, name)
					}
				}
				return former.Pins(h)
			}
			return p, nil
		}, "PIN-008/rank-alone", "PIN-010/unknown-rank")
}

// PINUnknown takes a worker that it does not know for no pin.
func (Catalogue) PINUnknown() Mutant {
	var mu sync.Mutex
	var known []string
	return Mutant{ID: "pin/unknown-ignored", Fault: "a pin to a worker that there is not is ignored", KilledBy: []string{"PIN-010/unknown-worker"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			former := p.Pins
			p.Pins = reads(func(h http.Header) (pins.Pins, error) {
				got, err := former.Pins(h)
				mu.Lock()
				defer mu.Unlock()
				if !slices.Contains(known, got.Serve.Worker) {
					got.Serve = affinity.Target{}
				}
				return got, err
			})
		}, func(ws []target.Worker) []target.Worker {
			mu.Lock()
			defer mu.Unlock()
			known = nil
			for _, w := range ws {
				known = append(known, w.ID)
			}
			return ws
		})}
}

// PINFallsBack serves elsewhere what its pin cannot have.
func (Catalogue) PINFallsBack() Mutant {
	return fallsBack("pin/falls-back", "a pinned request whose worker cannot be reached is served by another", "PIN-001/worker-down",
		func(_, _ target.Worker) bool { return true })
}

// RTERetriesAnyModel forgets what a request is about when it has to ask again.
func (Catalogue) RTERetriesAnyModel() Mutant {
	return fallsBack("rte/retries-any-model", "a request whose worker cannot be reached is sent to one that serves another model", "RTE-002/retried",
		func(failed, w target.Worker) bool { return failed.Model != w.Model })
}

// fallsBack is a mutant that asks other workers, those that fit, in the place of one that
// it could not reach.
func fallsBack(id, fault, killedBy string, fits func(failed, w target.Worker) bool) Mutant {
	var mu sync.Mutex
	var all []target.Worker
	return Mutant{ID: id, Fault: fault, KilledBy: []string{killedBy},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				body, err := buffered(r)
				if err != nil {
					return nil, err
				}
				resp, failure := send.RoundTrip(r)
				mu.Lock()
				workers := slices.Clone(all)
				mu.Unlock()
				failed := slices.IndexFunc(workers, func(w target.Worker) bool { return w.URL == "http://"+r.URL.Host })
				for _, w := range workers {
					if failure == nil || r.Context().Err() != nil {
						break
					}
					if failed < 0 || !fits(workers[failed], w) {
						continue
					}
					again := r.Clone(r.Context())
					again.URL.Host, again.Host, again.Body = strings.TrimPrefix(w.URL, "http://"), strings.TrimPrefix(w.URL, "http://"), body()
					resp, failure = send.RoundTrip(again)
				}
				return resp, failure
			})
		}, func(ws []target.Worker) []target.Worker {
			mu.Lock()
			defer mu.Unlock()
			all = slices.Clone(ws)
			return ws
		})}
}

// PINOutside keeps pinned requests out of their session.
func (Catalogue) PINOutside() Mutant {
	return coordinator("pin/does-not-bind", "a pinned turn of a new session is served where it wants and leaves the session unbound",
		acquiringSo(func(inner affinity.Coordinator, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			if _, bound, err := inner.Query(a); err == nil && !bound && a.Pin.Worker != "" {
				return new(loose).lease(a.Key, func() {}), nil
			}
			return inner.Acquire(ctx, a)
		}), "PIN-001/component", "PIN-001/binds")
}

// PINEager decides about a waiter's pin before there is anything to decide by.
func (Catalogue) PINEager() Mutant {
	return coordinator("pin/refuses-waiters", "a pinned turn is refused while its session is initialized by one that is pinned elsewhere",
		wrapped(func(inner affinity.Coordinator) affinity.Coordinator {
			var mu sync.Mutex
			first := map[affinity.Key]affinity.Target{}
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				at, initializing := first[a.Key]
				mu.Unlock()
				if initializing && at.Worker != "" && a.Pin.Worker != "" && at != a.Pin {
					return affinity.Lease{}, affinity.ErrPin
				}
				l, err := inner.Acquire(ctx, a)
				if _, bound := l.Bound(); err != nil || bound {
					return l, err
				}
				mu.Lock()
				first[a.Key] = a.Pin
				mu.Unlock()
				forget := func() {
					mu.Lock()
					defer mu.Unlock()
					delete(first, a.Key)
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error { forget(); return l.Commit(t) }
					h.release = func() { forget(); l.Release() }
				}), nil
			}}
		}), "PIN-003/heir")
}

// PINUnranked binds without the rank.
func (Catalogue) PINUnranked() Mutant {
	return coordinator("pin/binds-no-rank", "a session is bound to a worker alone, whatever rank served it",
		leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) {
			h.commit = func(t affinity.Target) error { t.Rank = affinity.Rank{}; return l.Commit(t) }
		}), "PIN-004/component", "PIN-004/ranks")
}

// buffered reads the request's body and puts it back; body gives it once more.
func buffered(r *http.Request) (body func() io.ReadCloser, err error) {
	b, err := io.ReadAll(r.Body)
	body = func() io.ReadCloser { return io.NopCloser(bytes.NewReader(b)) }
	r.Body = body()
	return body, err
}
