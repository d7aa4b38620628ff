package mutants

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// retriesAnswered is a mutant that tries some answered requests elsewhere.
func retriesAnswered(id, fault, killedBy string, which func(router.Outcome) bool) Mutant {
	return failover(id, fault, []string{killedBy}, func(o router.Outcome, d router.Decision) router.Decision {
		if o.Failure == router.None && which(o) && o.Attempt < o.MaxAttempts {
			return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
		}
		return d
	})
}

// RESRetriesStorage has a list of what is worth a second try, and one too many on it.
func (Catalogue) RESRetriesStorage() Mutant {
	return retriesAnswered("res/retries-507", "a request of no bound session that is answered 507 is tried at another worker", "RES-008/answered",
		func(o router.Outcome) bool { return o.Status == 507 && !o.Bound })
}

// RESRetriesBound408 takes an answer for a silence.
func (Catalogue) RESRetriesBound408() Mutant {
	return retriesAnswered("res/retries-bound-408", "a bound turn that is answered 408 is tried at another worker", "RES-008/answered",
		func(o router.Outcome) bool { return o.Status == 408 && o.Bound })
}

// PINElsewhere503 takes a full worker for none.
func (Catalogue) PINElsewhere503() Mutant {
	return retriesAnswered("pin/503-elsewhere", "a pinned request that is answered 503 is tried at another worker", "PIN-001/answered",
		func(o router.Outcome) bool { return o.Status == 503 && o.Pinned })
}

// RESFollows takes redirects for its own affair.
func (Catalogue) RESFollows() Mutant {
	return Mutant{ID: "res/follows-redirects", Fault: "a redirect is followed by the router, as a client of net/http does", KilledBy: []string{"RES-008/answered", "RES-008/decode"},
		New: with(func(_ *router.Config, p *router.Parts) {
			client := &http.Client{Transport: p.Transport}
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				body, err := buffered(r)
				if err != nil {
					return nil, err
				}
				r.GetBody = func() (io.ReadCloser, error) { return body(), nil }
				return client.Do(r)
			})
		})}
}

// RESDecodesAgain looks for a decode worker that answers.
func (Catalogue) RESDecodesAgain() Mutant {
	var mu sync.Mutex
	var decode []string // hosts
	return Mutant{ID: "res/decodes-again", Fault: "a keyless request that a decode worker answers with a 5xx is decoded by another", KilledBy: []string{"RES-008/decode"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			send, find := p.Transport, p.Sessions
			p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
				resp, err := send.RoundTrip(replaceBody(r, raw))
				mu.Lock()
				others := slices.Clone(decode)
				mu.Unlock()
				if err != nil || resp.StatusCode < 500 || find.Session(r) != "" || !slices.Contains(others, r.URL.Host) {
					return resp, err
				}
				for _, host := range others {
					if host != r.URL.Host {
						_ = resp.Body.Close()
						again := replaceBody(r, raw)
						again.URL.Host, again.Host = host, host
						return send.RoundTrip(again)
					}
				}
				return resp, err
			})
		}, func(ws []target.Worker) []target.Worker {
			mu.Lock()
			defer mu.Unlock()
			decode = nil
			for _, w := range ws {
				if w.Role == "decode" {
					decode = append(decode, strings.TrimPrefix(w.URL, "http://"))
				}
			}
			return ws
		})}
}
