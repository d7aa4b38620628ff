package mutants

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
)

// RTETotalTimeout takes the time for headers for that of the whole answer, as a limit on
// a client of net/http is.
func (Catalogue) RTETotalTimeout() Mutant {
	return Mutant{ID: "rte/total-timeout", Fault: "an answer must have ended within the time that is meant for its headers, or it is cut off",
		KilledBy: []string{"RTE-004/long", "RTE-004/long-decode"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			inner, limit := p.Transport, cfg.HeaderTimeout
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				ctx, stop := context.WithTimeout(r.Context(), limit)
				resp, err := inner.RoundTrip(r.WithContext(ctx))
				if err != nil {
					stop()
					return nil, err
				}
				resp.Body = &closer{body: resp.Body, done: stop}
				return resp, nil
			})
		})}
}

// aFewHundred is how many bytes of a body these mutants are ready for.
const aFewHundred = 300_000

// once fails with an answer of its own where another worker would have to be asked.
func once(inner http.RoundTripper, which func(r *http.Request, raw []byte) bool) sends {
	return reading(func(r *http.Request, raw []byte) (*http.Response, error) {
		resp, err := inner.RoundTrip(replaceBody(r, raw))
		if err != nil && r.Context().Err() == nil && which(r, raw) {
			return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
		}
		return resp, err
	})
}

// RESLargeOnce keeps small bodies alone.
func (Catalogue) RESLargeOnce() Mutant {
	return Mutant{ID: "res/large-not-retried", Fault: "a request whose body is larger than 300 kB is not tried at a second worker", KilledBy: []string{"RES-001/bodies"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Transport = once(p.Transport, func(_ *http.Request, raw []byte) bool { return len(raw) > aFewHundred })
		})}
}

// ids is a set of the requests' own ids.
type ids struct {
	mu  sync.Mutex
	all map[string]bool
}

// add puts the request's id into the set and says whether it was there.
func (s *ids) add(r *http.Request) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get("X-Request-Id")
	was = s.all[id]
	s.all[id] = true
	return was
}

func (s *ids) has(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[r.Header.Get("X-Request-Id")]
}

// RESChunkedOnce streams what it does not know the length of.
func (Catalogue) RESChunkedOnce() Mutant {
	return Mutant{ID: "res/chunked-not-retried", Fault: "a request that comes without a Content-Length is not tried at a second worker", KilledBy: []string{"RES-001/bodies"},
		New: with(func(_ *router.Config, p *router.Parts) {
			chunked := ids{all: map[string]bool{}}
			find := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if r.ContentLength < 0 {
					chunked.add(r)
				}
				return find.Session(r)
			})
			p.Transport = once(p.Transport, func(r *http.Request, _ []byte) bool { return chunked.has(r) })
		})}
}

// RESRetryCuts keeps the beginning.
func (Catalogue) RESRetryCuts() Mutant {
	return Mutant{ID: "res/retry-cuts", Fault: "a second worker gets the first 300 kB of a body", KilledBy: []string{"RES-001/bodies"},
		New: with(func(_ *router.Config, p *router.Parts) {
			tried := ids{all: map[string]bool{}}
			inner := p.Transport
			p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
				if tried.add(r) && len(raw) > aFewHundred {
					raw = raw[:aFewHundred]
				}
				return inner.RoundTrip(replaceBody(r, raw))
			})
		})}
}

// AFFLargeFree looks for session ids in what it has read of a request.
func (Catalogue) AFFLargeFree() Mutant {
	return free("aff/large-free", "a request whose body is larger than 300 kB is served without its session", func(r *http.Request) bool { return r.ContentLength > aFewHundred })
}

// AFFChunkedFree takes requests of unknown length another way.
func (Catalogue) AFFChunkedFree() Mutant {
	return free("aff/chunked-free", "a request that comes without a Content-Length is served without its session", func(r *http.Request) bool { return r.ContentLength < 0 })
}

// free is a mutant that serves some requests without their sessions.
func free(id, fault string, which func(*http.Request) bool) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: []string{"AFF-001/turns"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if which(r) {
					return ""
				}
				return find.Session(r)
			})
		})}
}
