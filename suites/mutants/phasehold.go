package mutants

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
)

// prefilling is a mutant whose table of prefill sessions is wrong.
func prefilling(id, fault string, f func(inner affinity.Coordinator) affinity.Coordinator, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) { p.Prefill.Affinity = f(p.Prefill.Affinity) })}
}

// prefillNames is a mutant that knows prefill sessions by other names.
func prefillNames(id, fault string, f func(affinity.Key) affinity.Key, killedBy ...string) Mutant {
	return prefilling(id, fault, func(inner affinity.Coordinator) affinity.Coordinator { return renames{inner, f} }, killedBy...)
}

// PDSOneTenant ignores tenants in prefill.
func (Catalogue) PDSOneTenant() Mutant {
	return prefillNames("pds/one-tenant", "tenants share their prefill sessions", func(k affinity.Key) affinity.Key { k.Tenant = ""; return k }, "AFF-015/tenants-phases")
}

// PDSOneModel ignores models in prefill.
func (Catalogue) PDSOneModel() Mutant {
	return prefillNames("pds/one-model", "models share their prefill sessions", func(k affinity.Key) affinity.Key { k.Model = "mock"; return k }, "AFF-015/models-phases")
}

// AFFModelsShare ignores models.
func (Catalogue) AFFModelsShare() Mutant {
	return Mutant{ID: "aff/models-share", Fault: "one id under two models is one session, which moves with each turn to a worker of the turn's model",
		KilledBy: []string{"AFF-015/models-http", "AFF-015/models-phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key { k.Model = "mock"; return k }}
		})}
}

// PDSRaces lets every first turn bind for itself in each phase.
func (Catalogue) PDSRaces() Mutant {
	return Mutant{ID: "pds/first-turns-race", Fault: "first turns do not wait for each other in either phase; the last one to be answered binds", KilledBy: []string{"AFF-003/phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			for _, c := range []*affinity.Coordinator{&p.Affinity, &p.Prefill.Affinity} {
				var table loose
				*c = acquires{*c, func(_ context.Context, a affinity.Ask) (affinity.Lease, error) {
					return table.lease(a.Key, func() {}), nil
				}}
			}
		})}
}

// PDSNeverLapses keeps prefill sessions.
func (Catalogue) PDSNeverLapses() Mutant {
	return Mutant{ID: "pds/never-lapses", Fault: "bindings to prefill workers outlive the configured idle time by an hour", KilledBy: []string{"AFF-006/phases"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL + time.Hour, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // an hour more than a valid time is a valid time
			}
			p.Prefill.Affinity = table
		})}
}

// PDSRemembers lets a connection remember where it was prefilled.
func (Catalogue) PDSRemembers() Mutant {
	const nobody = "\x00" // what no id holds
	return Mutant{ID: "pds/remembers", Fault: "a request without an id is prefilled where the session is that its connection carried before", KilledBy: []string{"AFF-021/phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find := p.Sessions
			var before sync.Map
			var n atomic.Int64
			p.Sessions = sessions(func(r *http.Request) string {
				id := find.Session(r)
				if id != "" {
					before.Store(r.RemoteAddr, id)
				} else if last, ok := before.Load(r.RemoteAddr); ok {
					return nobody + last.(string)
				}
				return id
			})
			p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key {
				if strings.HasPrefix(k.Session, nobody) {
					k.Session = nobody + strconv.FormatInt(n.Add(1), 10)
				}
				return k
			}}
			p.Prefill.Affinity = renames{p.Prefill.Affinity, func(k affinity.Key) affinity.Key {
				k.Session = strings.TrimPrefix(k.Session, nobody)
				return k
			}}
		})}
}

// PDSDispatchesQueries serves what only asks.
func (Catalogue) PDSDispatchesQueries() Mutant {
	return Mutant{ID: "pds/dispatches-questions", Fault: "where requests are served in two phases a question is, too", KilledBy: []string{"AFF-014/phases"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find, fleet := p.Sessions, p.Fleet
			p.Sessions = sessions(func(r *http.Request) string {
				if fleet.Split("mock") {
					r.Header.Del(router.QueryHeader)
				}
				return find.Session(r)
			})
		})}
}

// PDSLosesRank remembers a prefill worker, not its rank.
func (Catalogue) PDSLosesRank() Mutant {
	return prefilling("pds/loses-rank", "a session that is bound to a prefill worker's rank is prefilled at any of its ranks",
		func(inner affinity.Coordinator) affinity.Coordinator {
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) {
					h.bound = func() (affinity.Target, bool) {
						t, bound := l.Bound()
						return affinity.Target{Worker: t.Worker}, bound
					}
					h.commit = func(t affinity.Target) error {
						if _, bound := l.Bound(); bound {
							return nil
						}
						return l.Commit(t)
					}
				}), nil
			}}
		}, "PIN-004/split")
}

// PDSPinOnce follows a pin out of an outage, once.
func (Catalogue) PDSPinOnce() Mutant {
	return prefilling("pds/pin-once", "a pin for prefill that leads a session out of an outage does not bind it",
		func(inner affinity.Coordinator) affinity.Coordinator {
			var known sync.Map
			return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := inner.Acquire(ctx, a)
				if err != nil {
					return l, err
				}
				_, before := known.LoadOrStore(a.Key, true)
				if _, bound := l.Bound(); bound || !before || a.Pin.Worker == "" {
					return l, nil
				}
				return around(l, func(h *held) { h.commit = func(affinity.Target) error { return nil } }), nil
			}}
		}, "PIN-009/split")
}

// splitPins is a mutant that reads pins in its own way where requests are served in two phases.
func splitPins(id, fault string, f func(r *router.Parts, p *pins.Pins), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, parts *router.Parts) {
			former, all := parts.Pins, *parts
			parts.Pins = reads(func(h http.Header) (pins.Pins, error) {
				p, err := former.Pins(h)
				if err == nil && all.Fleet.Split("mock") {
					f(&all, &p)
				}
				return p, err
			})
		})}
}

// PDSDropsUnknown takes a decode pin that it cannot follow for none.
func (Catalogue) PDSDropsUnknown() Mutant {
	return splitPins("pds/drops-unknown-pins", "in two phases a pin to a worker or a rank that there is not is ignored",
		func(r *router.Parts, p *pins.Pins) {
			if _, err := r.Fleet.Find("mock", p.Serve); err != nil {
				p.Serve = affinity.Target{}
			}
		}, "PIN-010/split")
}

// PDSDropsOther takes a pin to a worker of the other phase for none.
func (Catalogue) PDSDropsOther() Mutant {
	return splitPins("pds/drops-other-role", "a pin to a worker of the other phase is ignored",
		func(r *router.Parts, p *pins.Pins) {
			if at, err := r.Fleet.Find("mock", p.Serve); err == nil && at.Role() == "prefill" {
				p.Serve = affinity.Target{}
			}
			if at, err := r.Fleet.Find("mock", p.Prefill); err == nil && at.Role() == "decode" {
				p.Prefill = affinity.Target{}
			}
		}, "PDS-003/other-role")
}

// PDSDecodePinIgnored decodes where the session is bound.
func (Catalogue) PDSDecodePinIgnored() Mutant {
	return Mutant{ID: "pds/decode-pin-ignored-when-bound", Fault: "in two phases a pin for decode that contradicts its session's binding is ignored", KilledBy: []string{"PIN-002/split"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner, fleet := p.Affinity, p.Fleet
			p.Affinity = acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := inner.Acquire(ctx, a)
				if err != nil && fleet.Split("mock") {
					return inner.Acquire(ctx, affinity.Ask{Key: a.Key})
				}
				return l, err
			}}
		})}
}
