package mutants

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// passing is a hand-off made of functions.
type passing struct {
	router.Handoff
	splits  func(path string) bool
	prefill func(body []byte) ([]byte, error)
	decode  func(body, answer []byte) ([]byte, error)
}

func (p passing) Splits(path string) bool                    { return p.splits(path) }
func (p passing) Prefill(body []byte) ([]byte, error)        { return p.prefill(body) }
func (p passing) Decode(body, answer []byte) ([]byte, error) { return p.decode(body, answer) }

// handing is a mutant that passes hand-offs in its own way.
func handing(id, fault string, f func(h *passing), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Prefill.Handoff
			h := passing{inner, inner.Splits, inner.Prefill, inner.Decode}
			f(&h)
			p.Prefill.Handoff = h
		})}
}

// PDSWhole serves in one phase.
func (Catalogue) PDSWhole() Mutant {
	return handing("pds/no-prefill", "decode workers are given whole requests, and prefill workers none",
		func(h *passing) { h.splits = func(string) bool { return false } }, "PDS-001/hand-off")
}

// PDSDrops loses what prefill left.
func (Catalogue) PDSDrops() Mutant {
	return handing("pds/drops-hand-off", "the decode worker is not told of the prefill",
		func(h *passing) { h.decode = func(body, _ []byte) ([]byte, error) { return body, nil } }, "PDS-001/hand-off")
}

// PDSGenerates lets prefill run to the end.
func (Catalogue) PDSGenerates() Mutant {
	return handing("pds/prefill-generates", "the prefill worker generates the whole answer",
		func(h *passing) {
			inner := h.prefill
			h.prefill = func(body []byte) ([]byte, error) {
				out, err := inner(body)
				return bytes.Replace(out, []byte(`"max_tokens":1`), []byte(`"max_tokens":4`), 1), err
			}
		}, "PDS-001/hand-off")
}

// PDSMixes hands out what another request left.
func (Catalogue) PDSMixes() Mutant {
	return handing("pds/mixes-hand-offs", "a decode worker is given the blocks of the request before",
		func(h *passing) {
			inner := h.decode
			var former atomic.Pointer[[]byte]
			h.decode = func(body, answer []byte) ([]byte, error) {
				if other := former.Swap(&answer); other != nil {
					answer = *other
				}
				return inner(body, answer)
			}
		}, "PDS-001/hand-off")
}

// PDSUnbound remembers decode workers alone.
func (Catalogue) PDSUnbound() Mutant {
	return Mutant{ID: "pds/prefill-unbound", Fault: "sessions are bound for decode alone", KilledBy: []string{"PDS-002/sessions"},
		New: with(func(_ *router.Config, p *router.Parts) { p.Prefill.Affinity = nil })}
}

// asksPrefill says whether a request goes to a prefill worker, and gives its body back.
func asksPrefill(r *http.Request) bool {
	body, err := buffered(r)
	if err != nil {
		return false
	}
	b, _ := io.ReadAll(body())
	return bytes.Contains(b, []byte(`"do_remote_decode":true`))
}

// PDSLeaks lets the decode rank into prefill.
func (Catalogue) PDSLeaks() Mutant {
	const kept = "X-Mutant-Rank"
	return Mutant{ID: "pds/leaks-rank", Fault: "where prefill has no rank of its own it gets that of decode", KilledBy: []string{"PDS-003/decode-rank"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find, send := p.Pins, p.Transport
			p.Pins = reads(func(h http.Header) (pins.Pins, error) {
				if rank := h.Get("X-Dynamo-DP-Rank"); rank != "" {
					h.Set(kept, rank)
				}
				return find.Pins(h)
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				rank := r.Header.Get(kept)
				r.Header.Del(kept)
				if rank != "" && asksPrefill(r) {
					r.Header.Set(pins.RankHeader, rank)
				}
				return send.RoundTrip(r)
			})
		})}
}

// PDSOnePin reads no pins for prefill.
func (Catalogue) PDSOnePin() Mutant {
	return pinning("pds/ignores-prefill-pins", "pins for prefill are not read",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			p, err := former.Pins(h)
			p.Prefill = affinity.Target{}
			return p, err
		}, "PDS-003/prefill-pins")
}

// onPrefillError makes a router that changes what a prefill worker answers with an error.
func onPrefillError(change func(*http.Response)) target.LocalFactory {
	return with(func(_ *router.Config, p *router.Parts) {
		send := p.Transport
		p.Transport = sends(func(r *http.Request) (*http.Response, error) {
			prefill := asksPrefill(r)
			resp, err := send.RoundTrip(r)
			if err == nil && prefill && resp.StatusCode >= 400 {
				change(resp)
			}
			return resp, err
		})
	})
}

// PDSGoesOn decodes what was not prefilled.
func (Catalogue) PDSGoesOn() Mutant {
	return Mutant{ID: "pds/decodes-anyway", Fault: "a request whose prefill was answered with an error is decoded all the same", KilledBy: []string{"PDS-004/prefill-error"},
		New: onPrefillError(func(resp *http.Response) {
			_ = resp.Body.Close()
			resp.StatusCode, resp.Body, resp.ContentLength = http.StatusOK, io.NopCloser(strings.NewReader("{}")), 2
		})}
}

// PDSOnce tries one prefill worker.
func (Catalogue) PDSOnce() Mutant {
	return Mutant{ID: "pds/one-try", Fault: "a request is tried at one worker of each phase alone", KilledBy: []string{"PDS-004/prefill-down"},
		New: with(func(cfg *router.Config, _ *router.Parts) { cfg.MaxAttempts = 1 })}
}

// PDSDeaf prefills for nobody.
func (Catalogue) PDSDeaf() Mutant {
	return Mutant{ID: "pds/deaf-prefill", Fault: "a client that leaves during prefill is not noticed", KilledBy: []string{"PDS-005/client-left"},
		New: with(func(_ *router.Config, p *router.Parts) {
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if asksPrefill(r) {
					r = r.WithContext(context.WithoutCancel(r.Context()))
				}
				return send.RoundTrip(r)
			})
		})}
}

// PDSMovesBoth forgets both bindings with one worker.
func (Catalogue) PDSMovesBoth() Mutant {
	var gen atomic.Int64
	var before atomic.Int64
	return Mutant{ID: "pds/moves-both", Fault: "when a worker of one phase leaves, the bindings of both phases end", KilledBy: []string{"PDS-006/prefill-dies", "PDS-006/decode-dies"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			renamed := func(c affinity.Coordinator) affinity.Coordinator {
				return renames{c, func(k affinity.Key) affinity.Key { k.Tenant += strings.Repeat("#", int(gen.Load())); return k }}
			}
			p.Affinity, p.Prefill.Affinity = renamed(p.Affinity), renamed(p.Prefill.Affinity)
		}, func(ws []target.Worker) []target.Worker {
			if n := int64(len(ws)); before.Swap(n) > n {
				gen.Add(1)
			}
			return ws
		})}
}
