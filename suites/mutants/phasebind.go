package mutants

import (
	"net/http"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// in says which phase of a request that is served in two an outcome was in.
type in uint8

const (
	inPrefill in = iota
	inDecode
)

// outcomes makes a router with another rule for what an outcome means in one phase of
// requests that are served in two.
func outcomes(id, fault string, phase in, f func(router.Outcome, router.Decision) router.Decision, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner, fleet := p.Failover, p.Fleet
			p.Failover = func(o router.Outcome) router.Decision {
				d := inner(o)
				if o.Prefill == (phase == inPrefill) && fleet.Split("mock") {
					return f(o, d)
				}
				return d
			}
		})}
}

// binds, keeps and ends are rules that do one thing to the binding where something holds.
func binds(when func(router.Outcome) bool) func(router.Outcome, router.Decision) router.Decision {
	return bindingSo(router.Commit, when)
}

func keeps(when func(router.Outcome) bool) func(router.Outcome, router.Decision) router.Decision {
	return bindingSo(router.Keep, when)
}

func ends(when func(router.Outcome) bool) func(router.Outcome, router.Decision) router.Decision {
	return bindingSo(router.Invalidate, when)
}

func bindingSo(b router.Binding, when func(router.Outcome) bool) func(router.Outcome, router.Decision) router.Decision {
	return func(o router.Outcome, d router.Decision) router.Decision {
		if when(o) {
			d.Binding = b
		}
		return d
	}
}

func broke(o router.Outcome) bool      { return o.Status >= 500 && o.Status != 503 }
func blamed(o router.Outcome) bool     { return o.Status/100 == 4 && o.Status != 429 }
func left(o router.Outcome) bool       { return o.Failure == router.Cancelled }
func firstError(o router.Outcome) bool { return !o.Bound && o.Status >= 400 }
func firstBroken(o router.Outcome) bool {
	return !o.Bound && o.Failure == router.Broken && o.Attempt >= o.MaxAttempts
}
func retried(o router.Outcome) bool { return o.Attempt > 1 && o.Status/100 == 2 }

// PDSErrorsKeepPrefill keeps what a broken prefill worker has.
func (Catalogue) PDSErrorsKeepPrefill() Mutant {
	return outcomes("pds/errors-keep-prefill", "a 5xx of the bound prefill worker leaves the binding there as it is", inPrefill, keeps(broke), "AFF-022/prefill")
}

// PDSErrorsKeepDecode keeps what a broken decode worker has.
func (Catalogue) PDSErrorsKeepDecode() Mutant {
	return outcomes("pds/errors-keep-decode", "in two phases a 5xx of the bound decode worker leaves the binding there as it is", inDecode, keeps(broke), "AFF-022/decode")
}

// beyond makes a router in which an outcome in one phase ends the bindings of the other.
func beyond(id, fault string, phase in, when func(router.Outcome) bool, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			var gen atomic.Int64
			other := &p.Affinity
			if phase == inDecode {
				other = &p.Prefill.Affinity
			}
			*other = renames{*other, func(k affinity.Key) affinity.Key {
				k.Tenant += string(rune('a' + gen.Load()%20))
				return k
			}}
			inner := p.Failover
			p.Failover = func(o router.Outcome) router.Decision {
				if o.Prefill == (phase == inPrefill) && when(o) {
					gen.Add(1)
				}
				return inner(o)
			}
		})}
}

// PDSErrorEndsDecode forgets decode for prefill's fault.
func (Catalogue) PDSErrorEndsDecode() Mutant {
	return beyond("pds/prefill-error-ends-decode", "a 5xx of a prefill worker ends bindings to decode workers", inPrefill, broke, "AFF-022/prefill")
}

// PDSErrorEndsPrefill forgets prefill for decode's fault.
func (Catalogue) PDSErrorEndsPrefill() Mutant {
	return beyond("pds/decode-error-ends-prefill", "a 5xx of a decode worker ends bindings to prefill workers", inDecode, broke, "AFF-022/decode")
}

// PDSLeaverEndsPrefill forgets prefill when a client leaves decode.
func (Catalogue) PDSLeaverEndsPrefill() Mutant {
	return beyond("pds/leaver-ends-prefill", "a client that leaves during decode ends bindings to prefill workers", inDecode, left, "AFF-010/decode")
}

// PDSOverloadEndsPrefill forgets prefill when decode is full.
func (Catalogue) PDSOverloadEndsPrefill() Mutant {
	return beyond("pds/full-decode-ends-prefill", "a 429 or 503 of a decode worker ends bindings to prefill workers", inDecode, overloaded, "AFF-008/decode")
}

// PDSDeathEndsPrefill forgets prefill when decode dies.
func (Catalogue) PDSDeathEndsPrefill() Mutant {
	return beyond("pds/dead-decode-ends-prefill", "a decode worker that cannot be reached ends bindings to prefill workers", inDecode,
		func(o router.Outcome) bool { return o.Failure == router.Broken }, "AFF-005/decode-crashes")
}

// PDSBindsErrors binds prefill on any answer.
func (Catalogue) PDSBindsErrors() Mutant {
	return outcomes("pds/binds-on-errors", "any answer to a first turn's prefill binds the session there, errors included", inPrefill, binds(firstError), "AFF-004/prefill")
}

// PDSBindsBroken binds prefill where it failed.
func (Catalogue) PDSBindsBroken() Mutant {
	return outcomes("pds/binds-broken", "a first turn whose prefill broke at every worker is bound there to the last of them", inPrefill, binds(firstBroken), "AFF-004/prefill")
}

// PDSBindsDecodeErrors binds decode on any answer.
func (Catalogue) PDSBindsDecodeErrors() Mutant {
	return outcomes("pds/binds-on-decode-errors", "in two phases any answer of a decode worker to a first turn binds the session there", inDecode, binds(firstError), "AFF-004/decode")
}

// PDSUnbindsErrors ends prefill for a client's fault.
func (Catalogue) PDSUnbindsErrors() Mutant {
	return outcomes("pds/unbinds-on-4xx", "a 4xx to a bound session's prefill ends the binding there", inPrefill, ends(blamed), "AFF-010/prefill")
}

// PDSUnbindsLeavers ends prefill because a client left.
func (Catalogue) PDSUnbindsLeavers() Mutant {
	return outcomes("pds/unbinds-leavers", "a client that leaves during prefill ends its session's binding there", inPrefill, ends(left), "AFF-010/prefill")
}

// PDSUnbindsDecodeLeavers ends decode because a client left.
func (Catalogue) PDSUnbindsDecodeLeavers() Mutant {
	return outcomes("pds/unbinds-decode-leavers", "in two phases a client that leaves before decode's headers ends its session's binding there", inDecode, ends(left), "AFF-010/decode")
}

// PDSUnbindsBroken ends prefill when an answer breaks off.
func (Catalogue) PDSUnbindsBroken() Mutant {
	return Mutant{ID: "pds/unbinds-broken", Fault: "a decode worker's answer that breaks off ends bindings to prefill workers", KilledBy: []string{"AFF-010/decode"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var gen atomic.Int64
			p.Prefill.Affinity = renames{p.Prefill.Affinity, func(k affinity.Key) affinity.Key {
				k.Tenant += string(rune('a' + gen.Load()%20))
				return k
			}}
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				err := inner.Relay(w, resp)
				if err != nil && resp.Request != nil && resp.Request.Context().Err() == nil {
					gen.Add(1)
				}
				return err
			})
		})}
}

// PDSOverloadUnbindsDecode lets a full decode worker lose its sessions.
func (Catalogue) PDSOverloadUnbindsDecode() Mutant {
	return outcomes("pds/overload-unbinds-decode", "in two phases a 429 or 503 of the bound decode worker ends the binding there", inDecode, ends(overloaded), "AFF-008/decode")
}

// PDSOverloadRetriesDecode looks for a decode worker that says yes.
func (Catalogue) PDSOverloadRetriesDecode() Mutant {
	return outcomes("pds/overload-retries-decode", "in two phases a 429 or 503 of a decode worker is retried on another", inDecode,
		func(o router.Outcome, d router.Decision) router.Decision {
			if overloaded(o) && o.Attempt < o.MaxAttempts {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
			}
			return d
		}, "AFF-008/decode")
}

// PDSDrifts prefills without binding.
func (Catalogue) PDSDrifts() Mutant {
	return outcomes("pds/drifts", "a turn whose prefill was retried elsewhere leaves its session unbound there", inPrefill, keeps(retried), "AFF-005/prefill-crashes", "AFF-001/retried-prefill")
}

// PDSDriftsDecode decodes without binding.
func (Catalogue) PDSDriftsDecode() Mutant {
	return outcomes("pds/drifts-in-decode", "in two phases a turn that was decoded elsewhere than it had to leaves its session unbound there", inDecode, keeps(retried), "AFF-005/decode-crashes", "AFF-001/retried-decode")
}

// late is a rule by which a pin is a wish once its worker has let a request time out.
func late(o router.Outcome, d router.Decision) router.Decision {
	if o.Pinned && o.Failure == router.TimedOut && o.Attempt < o.MaxAttempts {
		return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
	}
	return d
}

// PINFallsBackLate prefers any worker to a silent one.
func (Catalogue) PINFallsBackLate() Mutant {
	return failover("pin/falls-back-late", "a request whose pinned worker sends no headers in time goes elsewhere", []string{"PIN-001/silent-worker", "PDS-003/silent-worker"}, late)
}

// PDSFallsBackLate does so in prefill.
func (Catalogue) PDSFallsBackLate() Mutant {
	return outcomes("pds/prefill-falls-back-late", "a request whose pinned prefill worker sends no headers in time is prefilled elsewhere", inPrefill, late, "PDS-003/silent-worker")
}

// PDSFallsBackDecode does so in decode.
func (Catalogue) PDSFallsBackDecode() Mutant {
	return outcomes("pds/decode-falls-back-late", "in two phases a request whose pinned decode worker sends no headers in time goes elsewhere", inDecode, late, "PDS-003/silent-worker")
}
