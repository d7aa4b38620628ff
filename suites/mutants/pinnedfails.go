package mutants

import (
	"net/http"

	"github.com/routeproof/routeproof/impl/router"
)

// AFFUnbindsPinned4xx ends a binding for the fault of a request that asked for its worker.
func (Catalogue) AFFUnbindsPinned4xx() Mutant {
	return failover("aff/unbinds-on-pinned-4xx", "a 4xx to a bound session's turn that is pinned ends its binding", []string{"AFF-010/pinned"},
		ends(func(o router.Outcome) bool { return o.Bound && o.Pinned && blamesRequest(o.Status) }))
}

// AFFUnbindsPinnedOverload holds a full worker against those that asked for it.
func (Catalogue) AFFUnbindsPinnedOverload() Mutant {
	return failover("aff/unbinds-on-pinned-overload", "a 429 or 503 to a bound session's turn that is pinned ends its binding", []string{"AFF-008/pinned"},
		ends(func(o router.Outcome) bool { return o.Bound && o.Pinned && overloaded(o) }))
}

// AFFPinnedErrorsKeep takes a client's wish for more than a worker's failure.
func (Catalogue) AFFPinnedErrorsKeep() Mutant {
	return failover("aff/pinned-errors-keep", "a bound worker's 5xx to a turn that is pinned leaves the binding as it is", []string{"AFF-022/pinned"},
		keeps(func(o router.Outcome) bool { return o.Bound && o.Pinned && o.Status >= 500 }))
}

// AFFOverloadUnannounced takes an overload for momentary where the worker says so.
func (Catalogue) AFFOverloadUnannounced() Mutant {
	return Mutant{ID: "aff/unannounced-overload-unbinds", Fault: "a bound worker's 429 or 503 without Retry-After ends the binding",
		KilledBy: []string{"AFF-008/overload"},
		New: with(func(_ *router.Config, p *router.Parts) {
			// The failover sees no headers: the answer's status tells it, and is put right again.
			const unannounced = 1000
			send, relay, inner := p.Transport, p.Relay, p.Failover
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := send.RoundTrip(r)
				if err == nil && overloaded(router.Outcome{Status: resp.StatusCode}) && resp.Header.Get("Retry-After") == "" {
					resp.StatusCode += unannounced
				}
				return resp, err
			})
			p.Failover = func(o router.Outcome) router.Decision {
				if o.Failure == router.None && o.Status > unannounced {
					return router.Decision{Action: router.PassOn, Binding: router.Invalidate}
				}
				return inner(o)
			}
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				if resp.StatusCode > unannounced {
					resp.StatusCode -= unannounced
				}
				return relay.Relay(w, resp)
			})
		})}
}
