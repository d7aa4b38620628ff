package mutants

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/impl/selection"
	"github.com/routeproof/routeproof/suites/target"
)

// Routers often serve in two phases by other code than in one; these are right in one.

// decoding is a mutant that relays decode workers' answers in its own way.
func decoding(id, fault string, f func(relay router.Relay, w http.ResponseWriter, resp *http.Response) error, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner, fleet := p.Relay, p.Fleet
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				if fleet.Split("mock") {
					return f(inner, w, resp)
				}
				return inner.Relay(w, resp)
			})
		})}
}

// PDSBuffers reads an answer to its end before it passes it on.
func (Catalogue) PDSBuffers() Mutant {
	return decoding("pds/buffers", "in two phases an answer is passed on once the decode worker has ended it",
		func(relay router.Relay, w http.ResponseWriter, resp *http.Response) error {
			all, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(all))
			return relay.Relay(w, resp)
		}, "STR-001/decode", "BND-003/decode")
}

// PDSEndsClean takes a connection that breaks for the end.
func (Catalogue) PDSEndsClean() Mutant {
	return decoding("pds/ends-clean", "in two phases an answer that breaks off ends as if it were whole",
		func(relay router.Relay, w http.ResponseWriter, resp *http.Response) error {
			_ = relay.Relay(w, resp)
			return nil
		}, "STR-003/decode")
}

// PDSDropsHeaders passes on what it knows.
func (Catalogue) PDSDropsHeaders() Mutant {
	return decoding("pds/drops-retry-after", "in two phases Retry-After is not passed on",
		func(relay router.Relay, w http.ResponseWriter, resp *http.Response) error {
			resp.Header.Del("Retry-After")
			return relay.Relay(w, resp)
		}, "RTE-004/decode", "RTE-004/prefill")
}

// PDSErrorPage hides a prefill worker's reason.
func (Catalogue) PDSErrorPage() Mutant {
	return sending("pds/error-page", "an error of a prefill worker is passed on with a text of the router's own",
		func(_ *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			resp, err := send.RoundTrip(r)
			if err == nil && prefill && resp.StatusCode >= 400 {
				const text = `{"error":"prefill failed"}`
				_ = resp.Body.Close()
				resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
				resp.Header.Set("Content-Length", strconv.Itoa(len(text)))
			}
			return resp, err
		}, "RTE-004/prefill")
}

// PDSDropsQuery asks the decode worker less than it was asked.
func (Catalogue) PDSDropsQuery() Mutant {
	return sending("pds/drops-baggage", "the decode worker is not sent the header Baggage",
		func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if !prefill && p.Fleet.Split("mock") {
				r.Header.Del("Baggage")
			}
			return send.RoundTrip(r)
		}, "RTE-003/decode")
}

// PDSResumes goes on with what broke.
func (Catalogue) PDSResumes() Mutant {
	return sending("pds/resumes", "a decode worker's stream that breaks is sent there again and the second answer is appended",
		func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if prefill || !p.Fleet.Split("mock") {
				return send.RoundTrip(r)
			}
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			resp, err := send.RoundTrip(replaceBody(r, raw))
			if err == nil && resp.ContentLength < 0 {
				resp.Body = &resumes{resp.Body, func() (*http.Response, error) { return send.RoundTrip(replaceBody(r, raw)) }}
			}
			return resp, err
		}, "RES-003/decode")
}

// PDSCutsPrompts prefills a part.
func (Catalogue) PDSCutsPrompts() Mutant {
	words := regexp.MustCompile(`(?:tokens and )+`)
	return handing("pds/cuts-prompts", "of a prompt of more than 256 KiB the prefill worker gets a part",
		func(h *passing) {
			inner := h.prefill
			h.prefill = func(body []byte) ([]byte, error) {
				out, err := inner(body)
				if len(out) > 256<<10 {
					out = words.ReplaceAll(out, []byte("tokens"))
				}
				return out, err
			}
		}, "BND-002/phases")
}

// PDSFirstAlways prefills at one worker.
func (Catalogue) PDSFirstAlways() Mutant {
	return Mutant{ID: "pds/first-always", Fault: "whoever has no session is prefilled at the first worker", KilledBy: []string{"RTE-001/phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Prefill.Policy = picks(func([]selection.Candidate) int { return 0 })
		})}
}

// PDSJoinForgets starts over with each worker.
func (Catalogue) PDSJoinForgets() Mutant {
	var gen, before atomic.Int64
	return Mutant{ID: "pds/join-forgets", Fault: "when a worker joins, bindings to prefill workers end", KilledBy: []string{"SCL-001/phases"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			p.Prefill.Affinity = renames{p.Prefill.Affinity, func(k affinity.Key) affinity.Key {
				k.Tenant += strings.Repeat("#", int(gen.Load()))
				return k
			}}
		}, func(ws []target.Worker) []target.Worker {
			if n, was := int64(len(ws)), before.Load(); before.Swap(n) < n && was > 0 {
				gen.Add(1)
			}
			return ws
		})}
}

// PDSOneByOne prefills one prompt at a time.
func (Catalogue) PDSOneByOne() Mutant {
	return Mutant{ID: "pds/one-by-one", Fault: "a prefill waits until the one before has been answered, whichever worker owes the answer", KilledBy: []string{"RES-002/stuck-prefill"},
		New: with(func(_ *router.Config, p *router.Parts) {
			send := p.Transport
			turn := make(chan struct{}, 1)
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if !asksPrefill(r) {
					return send.RoundTrip(r)
				}
				select {
				case turn <- struct{}{}:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				defer func() { <-turn }()
				return send.RoundTrip(r)
			})
		})}
}

// PDSLeaksLoad forgets to count out whose client left.
func (Catalogue) PDSLeaksLoad() Mutant {
	var at hosts
	return Mutant{ID: "pds/leaks-load", Fault: "a prefill whose client left stays on its worker's load, which decides where keyless requests are prefilled", KilledBy: []string{"RES-005/phases"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			var mu sync.Mutex
			leaked := map[any]int{}
			rotate, send := p.Prefill.Policy, p.Transport
			p.Prefill.Policy = picks(func(cs []selection.Candidate) int {
				mu.Lock()
				defer mu.Unlock()
				i := rotate.Pick(cs)
				for range cs {
					host, _ := at.Load(cs[i].ID)
					if leaked[host] == 0 {
						break
					}
					i = (i + 1) % len(cs)
				}
				return i
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				prefill := asksPrefill(r)
				resp, err := send.RoundTrip(r)
				if err != nil && prefill && r.Context().Err() != nil {
					mu.Lock()
					defer mu.Unlock()
					leaked[r.URL.Host]++
				}
				return resp, err
			})
		}, at.learn)}
}

// PDSDeafRetry looks after the first try alone.
func (Catalogue) PDSDeafRetry() Mutant {
	var failed sync.Map
	return sending("pds/deaf-retry", "a client that leaves while its prefill is at a second worker is not noticed",
		func(_ *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			id := r.Header.Get("X-Request-Id")
			if _, again := failed.Load(id); prefill && again {
				r = r.WithContext(context.WithoutCancel(r.Context()))
			}
			resp, err := send.RoundTrip(r)
			if err != nil && prefill && r.Context().Err() == nil {
				failed.Store(id, true)
			}
			return resp, err
		}, "PDS-005/left-in-retry")
}

// PDSSmallTable keeps fewer bindings than it is configured to.
func (Catalogue) PDSSmallTable() Mutant {
	return Mutant{ID: "pds/small-table", Fault: "the table of prefill sessions holds 128, whatever is configured, and evicts the one idle for longest", KilledBy: []string{"AFF-001/many-phases"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL, Capacity: 128, Evict: true, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the configured time was valid before
			}
			p.Prefill.Affinity = table
		})}
}

// AFFPinsAnyTenant forgets whose request it is.
func (Catalogue) AFFPinsAnyTenant() Mutant {
	return finding("aff/pins-any-tenant", "the tenant of a pinned request is ignored",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if r.Header.Get("X-Dynamo-Worker-Instance-ID") != "" {
					r.Header.Del("X-Tenant-ID")
				}
				return former.Session(r)
			})
		}, "AFF-015/tenants-pinned", "AFF-015/tenants-pinned-phases")
}

// AFFDefaultTenant takes nobody for somebody.
func (Catalogue) AFFDefaultTenant() Mutant {
	return finding("aff/default-tenant", "a request without a tenant counts for the tenant-0",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if r.Header.Get("X-Tenant-ID") == "" {
					r.Header.Set("X-Tenant-ID", "tenant-0")
				}
				return former.Session(r)
			})
		}, "AFF-015/no-tenant")
}
