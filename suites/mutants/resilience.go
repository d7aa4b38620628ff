package mutants

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/impl/selection"
	"github.com/routeproof/routeproof/suites/target"
)

// RESNoRetry gives up at the first connection failure.
func (Catalogue) RESNoRetry() Mutant {
	return failover("res/no-retry", "a connection failure is reported to the client at once",
		[]string{"RES-001/refusing-worker", "RES-001/crashed-worker"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.Broken {
				d.Action = router.Fail
			}
			return d
		})
}

// again sends one request many times.
func again(inner http.RoundTripper, times int) sends {
	return reading(func(r *http.Request, raw []byte) (*http.Response, error) {
		for i := 1; ; i++ {
			resp, err := inner.RoundTrip(replaceBody(r, raw))
			if err == nil || i == times || r.Context().Err() != nil {
				return resp, err
			}
		}
	})
}

// RESRetriesLong tries a broken worker many times over.
func (Catalogue) RESRetriesLong() Mutant {
	return Mutant{
		ID: "res/retries-long", Fault: "each worker that breaks the connection is tried ten times",
		KilledBy: []string{"RES-001/bounded"},
		New:      with(func(_ *router.Config, p *router.Parts) { p.Transport = again(p.Transport, 10) }),
	}
}

// RESOneByOne waits for one worker's headers before asking the next.
func (Catalogue) RESOneByOne() Mutant {
	return Mutant{
		ID: "res/one-by-one", Fault: "a request waits until the headers of the one before have come, whichever worker owes them",
		KilledBy: []string{"RES-002/silent-worker", "RES-002/stuck-worker"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			turn := make(chan struct{}, 1)
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				select {
				case turn <- struct{}{}:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				defer func() { <-turn }()
				return inner.RoundTrip(r)
			})
		}),
	}
}

// resumes is a body that asks again when it breaks.
type resumes struct {
	io.ReadCloser
	again func() (*http.Response, error)
}

func (b *resumes) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.again != nil {
		resp, second := b.again()
		b.again = nil
		if second == nil {
			_ = b.ReadCloser.Close()
			b.ReadCloser = resp.Body
			return n, nil
		}
	}
	return n, err
}

// RESResumes dispatches a broken stream a second time.
func (Catalogue) RESResumes() Mutant {
	return Mutant{
		ID: "res/resumes", Fault: "a stream that breaks is sent to its worker again and the second answer is appended",
		KilledBy: []string{"RES-003/no-second-dispatch"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
				resp, err := inner.RoundTrip(replaceBody(r, raw))
				if err == nil && resp.ContentLength < 0 {
					resp.Body = &resumes{resp.Body, func() (*http.Response, error) { return inner.RoundTrip(replaceBody(r, raw)) }}
				}
				return resp, err
			})
		}),
	}
}

// tripped is what an open circuit breaker returns.
type tripped struct{}

func (tripped) Error() string { return "circuit open" }

// RESBreaker counts client errors as worker failures.
func (Catalogue) RESBreaker() Mutant {
	return Mutant{
		ID: "res/breaker-counts-4xx", Fault: "ten 4xx answers in a row open a worker's circuit for a minute",
		KilledBy: []string{"RES-004/client-errors"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			var mu sync.Mutex
			bad, until := map[string]int{}, map[string]time.Time{}
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				open := time.Now().Before(until[r.URL.Host])
				mu.Unlock()
				if open {
					return nil, tripped{}
				}
				resp, err := inner.RoundTrip(r)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || resp.StatusCode/100 != 4 {
					bad[r.URL.Host] = 0
				} else if bad[r.URL.Host]++; bad[r.URL.Host] >= 10 {
					until[r.URL.Host] = time.Now().Add(time.Minute)
				}
				return resp, err
			})
		}),
	}
}

// RESGrudge never asks a worker again that it could not reach.
func (Catalogue) RESGrudge() Mutant {
	return Mutant{
		ID: "res/grudge", Fault: "a worker that once could not be reached gets no request for ten minutes",
		KilledBy: []string{"RES-006/back"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			var mu sync.Mutex
			until := map[string]time.Time{}
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				aside := time.Now().Before(until[r.URL.Host])
				mu.Unlock()
				if aside {
					return nil, tripped{}
				}
				resp, err := inner.RoundTrip(r)
				if err != nil && r.Context().Err() == nil {
					mu.Lock()
					until[r.URL.Host] = time.Now().Add(10 * time.Minute)
					mu.Unlock()
				}
				return resp, err
			})
		}),
	}
}

// RESLeaks counts requests in flight and forgets to count some of them out.
func (Catalogue) RESLeaks() Mutant {
	return Mutant{
		ID: "res/leaks-load", Fault: "a request whose client left stays on its worker's load, which decides where keyless requests go",
		KilledBy: []string{"RES-005/no-load-left"},
		New: func(c target.LocalConfig) (target.Local, error) {
			var mu sync.Mutex
			load, host := map[string]int{}, map[string]string{} // by host; worker id -> host
			count := func(h string, by int) {
				mu.Lock()
				defer mu.Unlock()
				load[h] += by
			}
			return withWorkers(func(_ *router.Config, p *router.Parts) {
				rotate := p.Policy
				p.Policy = picks(func(cs []selection.Candidate) int {
					mu.Lock()
					defer mu.Unlock()
					return leastOf(cs, rotate, func(id string) int { return load[host[id]] })
				})
				inner := p.Transport
				p.Transport = sends(func(r *http.Request) (*http.Response, error) {
					h := r.URL.Host
					count(h, 1)
					resp, err := inner.RoundTrip(r)
					if err != nil {
						if r.Context().Err() == nil {
							count(h, -1)
						}
						return nil, err
					}
					resp.Body = &closer{body: resp.Body, done: func() {
						if r.Context().Err() == nil {
							count(h, -1)
						}
					}}
					return resp, nil
				})
			}, func(ws []target.Worker) []target.Worker {
				mu.Lock()
				defer mu.Unlock()
				for _, w := range ws {
					host[w.ID] = strings.TrimPrefix(w.URL, "http://")
				}
				return ws
			})(c)
		},
	}
}
