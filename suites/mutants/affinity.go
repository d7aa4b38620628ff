package mutants

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFCompletions forgets sessions on the older endpoint.
func (Catalogue) AFFCompletions() Mutant {
	return Mutant{
		ID: "aff/chat-only", Fault: "session ids count on /v1/chat/completions only",
		KilledBy: []string{"AFF-001/turns", "AFF-001/overlapping-turns"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if r.URL.Path != "/v1/chat/completions" {
					return ""
				}
				return inner.Session(r)
			})
		}),
	}
}

// AFFConnection binds connections instead of sessions.
func (Catalogue) AFFConnection() Mutant {
	return Mutant{
		ID: "aff/by-connection", Fault: "a client's connection is what sticks, whatever session it carries",
		KilledBy: []string{"AFF-001/turns"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if inner.Session(r) == "" {
					return ""
				}
				return r.RemoteAddr
			})
		}),
	}
}

// AFFBusy gives up affinity under concurrency.
func (Catalogue) AFFBusy() Mutant {
	return Mutant{
		ID: "aff/one-lease", Fault: "while a request of a session runs, another turn of it is routed freely",
		KilledBy: []string{"AFF-001/overlapping-turns"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var mu sync.Mutex
			busy := map[affinity.Key]int{}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				n := busy[a.Key]
				busy[a.Key]++
				mu.Unlock()
				done := sync.OnceFunc(func() {
					mu.Lock()
					if busy[a.Key]--; busy[a.Key] == 0 {
						delete(busy, a.Key)
					}
					mu.Unlock()
				})
				if n > 0 {
					return new(loose).lease(a.Key, done), nil // in a table that nobody else sees
				}
				l, err := former(ctx, a)
				if err != nil {
					done()
					return l, err
				}
				return around(l, func(h *held) {
					h.release = func() { done(); l.Release() }
					h.invalidate = func() { done(); l.Invalidate() }
				}), nil
			})
		}),
	}
}

// rekey makes a router that looks a session up under another name.
func rekey(id, fault string, killed []string, f func(string) string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killed,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string { return f(inner.Session(r)) })
		})}
}

// AFFSmallTable keeps fewer bindings than it is configured to.
func (Catalogue) AFFSmallTable() Mutant {
	return Mutant{
		ID: "aff/small-table", Fault: "the table holds 128 bindings, whatever is configured, and evicts the one idle for longest",
		KilledBy: []string{"AFF-001/many-sessions"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL, Capacity: 128, Evict: true, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the configured time was valid before
			}
			p.Affinity = table
		}),
	}
}

// AFFFolds compares ids without case.
func (Catalogue) AFFFolds() Mutant {
	return rekey("aff/folds-case", "session ids are compared without regard to case", []string{"AFF-002/distinct-ids"}, strings.ToLower)
}

// AFFTruncates compares the first 64 bytes.
func (Catalogue) AFFTruncates() Mutant {
	return rekey("aff/truncates", "only the first 64 bytes of a session id count", []string{"AFF-002/distinct-ids"},
		func(id string) string { return id[:min(len(id), 64)] })
}

// AFFRaces lets every first turn bind for itself.
func (Catalogue) AFFRaces() Mutant {
	return Mutant{
		ID: "aff/first-turns-race", Fault: "first turns do not wait for each other; the last one to be answered binds",
		KilledBy: []string{"AFF-003/together"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var table loose
			acquire(p, func(_ acquiring, _ context.Context, a affinity.Ask) (affinity.Lease, error) {
				return table.lease(a.Key, func() {}), nil
			})
		}),
	}
}

// generation renames all sessions at once.
func generation(p *router.Parts) *atomic.Int64 {
	var gen atomic.Int64
	p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key {
		k.Tenant += "#" + time.Duration(gen.Load()).String()
		return k
	}}
	return &gen
}

// AFFForgetsAll drops every session with one worker's.
func (Catalogue) AFFForgetsAll() Mutant {
	return Mutant{
		ID: "aff/forgets-all", Fault: "when a worker cannot be reached, every session's binding is dropped",
		KilledBy: []string{"AFF-005/crash", "AFF-005/refuse"},
		New: with(func(_ *router.Config, p *router.Parts) {
			gen, inner := generation(p), p.Failover
			p.Failover = func(o router.Outcome) router.Decision {
				if o.Failure == router.Broken {
					gen.Add(1)
				}
				return inner(o)
			}
		}),
	}
}

// AFFFromStart counts a session's life from its first turn.
func (Catalogue) AFFFromStart() Mutant {
	return Mutant{
		ID: "aff/ttl-from-start", Fault: "the idle time is counted from a session's first turn and never restarts",
		KilledBy: []string{"AFF-006/slides"},
		New:      with(func(cfg *router.Config, p *router.Parts) { lives(cfg.IdleTTL, p) }),
	}
}

// AFFImmortal never lets a session lapse.
func (Catalogue) AFFImmortal() Mutant {
	return Mutant{
		ID: "aff/never-lapses", Fault: "bindings outlive the configured idle time by an hour",
		KilledBy: []string{"AFF-006/lapses"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL + time.Hour, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // an hour more than a valid time is a valid time
			}
			p.Affinity = table
		}),
	}
}

// AFFBoundless ignores the capacity.
func (Catalogue) AFFBoundless() Mutant {
	return Mutant{
		ID: "aff/boundless", Fault: "the table of bindings grows past its configured capacity",
		KilledBy: []string{"AFF-009/full"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the configured time was valid before
			}
			p.Affinity = table
		}),
	}
}

// AFFStarts makes room in the simplest way.
func (Catalogue) AFFStarts() Mutant {
	return Mutant{
		ID: "aff/starts-over", Fault: "a table that is full is emptied to make room, although the manifest declares that it refuses",
		KilledBy: []string{"AFF-009/full"},
		New: with(func(_ *router.Config, p *router.Parts) {
			gen := generation(p)
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if errors.Is(err, affinity.ErrCapacity) {
					gen.Add(1)
					return new(loose).lease(a.Key, func() {}), nil
				}
				return l, err
			})
		}),
	}
}

// AFFUnbindsBroken ends a binding when an answer breaks off.
func (Catalogue) AFFUnbindsBroken() Mutant {
	return Mutant{
		ID: "aff/unbinds-broken", Fault: "an answer that breaks off in its middle ends its session's binding",
		KilledBy: []string{"AFF-010/broken-answer"},
		New: with(func(_ *router.Config, p *router.Parts) {
			gen, inner := generation(p), p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				err := inner.Relay(w, resp)
				if err != nil && resp.Request != nil && resp.Request.Context().Err() == nil {
					gen.Add(1)
				}
				return err
			})
		}),
	}
}

// AFFBrief counts the idle time while a request runs.
func (Catalogue) AFFBrief() Mutant {
	return Mutant{
		ID: "aff/lapses-in-flight", Fault: "the idle time runs while a request of the session is in flight",
		KilledBy: []string{"AFF-007/in-flight"},
		New: with(func(_ *router.Config, p *router.Parts) {
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				home, bound := l.Bound()
				if err != nil || !bound {
					return around(l, func(h *held) {
						h.commit = func(t affinity.Target) error {
							defer l.Release() // over as soon as it is bound
							return l.Commit(t)
						}
					}), err
				}
				l.Release()
				free := new(loose).lease(a.Key, func() {})
				return free, free.Commit(home)
			})
		}),
	}
}
