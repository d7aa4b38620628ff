package mutants

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
)

// forgetting makes a hand-off whose decode requests have something else, or nothing,
// for what matches.
func forgetting(what, instead string) func(h *passing) {
	pattern := regexp.MustCompile(what)
	return func(h *passing) {
		inner := h.decode
		h.decode = func(body, answer []byte) ([]byte, error) {
			out, err := inner(body, answer)
			return pattern.ReplaceAll(out, []byte(instead)), err
		}
	}
}

// PDSKnownFields hands on what it knows.
func (Catalogue) PDSKnownFields() Mutant {
	return handing("pds/known-fields", "of a hand-off's parameters those alone are passed on that the router knows",
		forgetting(`,"tp_size":[0-9]+,"remote_num_tokens":[0-9]+`, ""), "PDS-001/hand-off", "PDS-001/whole")
}

// PDSFirstBlocks hands on a part.
func (Catalogue) PDSFirstBlocks() Mutant {
	return handing("pds/first-blocks", "the blocks of a prompt but the first are not handed over", forgetting(`(?:,[0-9]+)+\]\]`, `]]`), "PDS-001/whole")
}

// PDSSampling tells decode less than it was told.
func (Catalogue) PDSSampling() Mutant {
	return handing("pds/drops-temperature", "the decode worker is not told the temperature", forgetting(`"temperature":[0-9.]+,`, ""), "PDS-001/whole")
}

// prefillsWith makes a hand-off whose prefill requests say one thing otherwise.
func prefillsWith(id, fault, what, instead string) Mutant {
	return handing(id, fault, func(h *passing) {
		inner := h.prefill
		h.prefill = func(body []byte) ([]byte, error) {
			out, err := inner(body)
			return bytes.Replace(out, []byte(what), []byte(instead), 1), err
		}
	}, "PDS-001/whole")
}

// PDSOneLimit knows one name of the limit.
func (Catalogue) PDSOneLimit() Mutant {
	return prefillsWith("pds/keeps-completion-limit", "in prefill max_completion_tokens stays what it was", `"max_completion_tokens":1`, `"max_completion_tokens":3`)
}

// PDSLeast asks for one token, and for two at least.
func (Catalogue) PDSLeast() Mutant {
	return prefillsWith("pds/keeps-least", "in prefill min_tokens stays what it was", `"max_tokens":1`, `"min_tokens":2,"max_tokens":1`)
}

// PDSPinnedUnbound takes a decode pin for a pin of the whole request.
func (Catalogue) PDSPinnedUnbound() Mutant {
	return Mutant{ID: "pds/pinned-unbound", Fault: "the turns of a session that was ever pinned for decode are prefilled anywhere", KilledBy: []string{"PDS-002/pinned"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find := p.Sessions
			var pinned sync.Map
			var n atomic.Int64
			p.Sessions = sessions(func(r *http.Request) string {
				id := find.Session(r)
				if r.Header.Get("X-Dynamo-Worker-Instance-ID") != "" {
					pinned.Store(id, true)
				}
				return id
			})
			p.Prefill.Affinity = renames{p.Prefill.Affinity, func(k affinity.Key) affinity.Key {
				if _, ok := pinned.Load(k.Session); ok {
					k.Session += strconv.FormatInt(n.Add(1), 10)
				}
				return k
			}}
		})}
}

// PDSOverloadUnbinds lets a full prefill worker lose its sessions.
func (Catalogue) PDSOverloadUnbinds() Mutant {
	return failover("pds/overload-unbinds", "a 429 or 503 of the bound prefill worker ends the binding there", []string{"PDS-002/mishaps"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Prefill && o.Bound && overloaded(o) {
				d.Binding = router.Invalidate
			}
			return d
		})
}

// PDSRetriesErrors looks for a prefill worker that says yes.
func (Catalogue) PDSRetriesErrors() Mutant {
	return failover("pds/retries-errors", "a 429 or 503 of a prefill worker is retried on another", []string{"PDS-004/prefill-error", "PDS-002/mishaps"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Prefill && overloaded(o) && o.Attempt < o.MaxAttempts {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
			}
			return d
		})
}

// PDSErrors502 blames itself.
func (Catalogue) PDSErrors502() Mutant {
	return Mutant{ID: "pds/errors-become-502", Fault: "any error of a prefill worker is a 502 to the client", KilledBy: []string{"PDS-004/prefill-error"},
		New: onPrefillError(func(resp *http.Response) { resp.StatusCode = http.StatusBadGateway })}
}

// PDSPinUnknown takes a prefill pin that it cannot follow for none.
func (Catalogue) PDSPinUnknown() Mutant {
	return pinning("pds/drops-rank-alone", "a rank for prefill without a worker is ignored",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			h = h.Clone()
			if h.Get("X-Dynamo-Prefill-Instance-ID") == "" {
				h.Del("X-Dynamo-Prefill-DP-Rank")
			}
			return former.Pins(h)
		}, "PDS-003/refused")
}

// PDSPinIgnored serves where the session is prefilled.
func (Catalogue) PDSPinIgnored() Mutant {
	return Mutant{ID: "pds/prefill-pin-ignored-when-bound", Fault: "a pin for prefill that contradicts its session's binding is ignored", KilledBy: []string{"PDS-003/refused"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Prefill.Affinity
			p.Prefill.Affinity = queries{acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				if l, err := inner.Acquire(ctx, a); err == nil {
					return l, nil
				}
				return inner.Acquire(ctx, affinity.Ask{Key: a.Key})
			}}, func(a affinity.Ask) (affinity.Target, bool, error) { return inner.Query(affinity.Ask{Key: a.Key}) }}
		})}
}

// PDSPinFallsBack prefers any prefill to none.
func (Catalogue) PDSPinFallsBack() Mutant {
	return failover("pds/prefill-pin-falls-back", "a request whose pinned prefill worker does not answer is prefilled elsewhere", []string{"PDS-003/prefill-down"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Prefill && o.Pinned && o.Failure == router.Broken && o.Attempt < o.MaxAttempts {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
			}
			return d
		})
}
