package mutants

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// finding is a mutant that finds session ids in its own way.
func finding(id, fault string, f func(former router.Sessions) router.Sessions, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) { p.Sessions = f(p.Sessions) })}
}

// AFFReversed reads the list from its end.
func (Catalogue) AFFReversed() Mutant {
	return finding("aff/last-header-wins", "of several headers that name a session the last in the order of precedence wins",
		func(router.Sessions) router.Sessions {
			all := router.DefaultSessionHeaders()
			slices.Reverse(all)
			return router.HeaderSessions(all)
		}, "AFF-017/precedence")
}

// AFFLastValue reads the last of a repeated header.
func (Catalogue) AFFLastValue() Mutant {
	return finding("aff/last-value-wins", "of a repeated header the last value counts",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				twisted := r.Clone(r.Context())
				for _, values := range twisted.Header {
					slices.Reverse(values)
				}
				return former.Session(twisted)
			})
		}, "AFF-017/precedence")
}

// AFFAgentAlone lets an agent count without its session.
func (Catalogue) AFFAgentAlone() Mutant {
	return finding("aff/agent-alone", "an agent's id counts without its session's",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if r.Header.Get("X-Dynamo-Session-ID") == "" && r.Header.Get("x-claude-code-agent-id") != "" {
					return r.Header.Get("x-claude-code-agent-id")
				}
				return former.Session(r)
			})
		}, "AFF-017/precedence")
}

// AFFBlankEnds stops at the first header that is there.
func (Catalogue) AFFBlankEnds() Mutant {
	return finding("aff/blank-ends-search", "the first header that is there decides, even if it is blank",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if v, ok := r.Header["X-Dynamo-Session-Id"]; ok && v[0] == "" {
					return ""
				}
				return former.Session(r)
			})
		}, "AFF-017/precedence")
}

// AFFNoThread lacks one header.
func (Catalogue) AFFNoThread() Mutant {
	return finding("aff/no-thread-id", "the header thread-id is not read",
		func(router.Sessions) router.Sessions {
			return router.HeaderSessions(slices.DeleteFunc(router.DefaultSessionHeaders(), func(h string) bool { return h == "thread-id" }))
		}, "AFF-017/each-header")
}

// AFFFinalEnds takes the marker at its word.
func (Catalogue) AFFFinalEnds() Mutant {
	return finding("aff/final-ends", "a turn that says it is its session's last ends the binding",
		func(former router.Sessions) router.Sessions {
			var mu sync.Mutex
			lives := map[string]int{}
			return sessions(func(r *http.Request) string {
				id := former.Session(r)
				mu.Lock()
				defer mu.Unlock()
				n := lives[id]
				if r.Header.Get("X-Dynamo-Session-Final") != "" {
					lives[id]++
				}
				return id + "#"[:min(1, n)]
			})
		}, "AFF-018/final")
}

// AFFParentSeeds places a child with its parent.
func (Catalogue) AFFParentSeeds() Mutant {
	return finding("aff/parent-seeds", "a session that names a parent is placed where that is",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				if parent := r.Header.Get("X-Dynamo-Parent-Session-ID"); parent != "" {
					return parent
				}
				return former.Session(r)
			})
		}, "AFF-018/parent")
}

// AFFRemembers lets a connection remember.
func (Catalogue) AFFRemembers() Mutant {
	return finding("aff/remembers", "a request without an id counts for the session that its connection carried before",
		func(former router.Sessions) router.Sessions {
			var before sync.Map
			return sessions(func(r *http.Request) string {
				id := former.Session(r)
				if id == "" {
					last, _ := before.Load(r.RemoteAddr)
					id, _ = last.(string)
					return id
				}
				before.Store(r.RemoteAddr, id)
				return id
			})
		}, "AFF-021/free")
}

// AFFAllAlive lets any request refresh everything.
func (Catalogue) AFFAllAlive() Mutant {
	return Mutant{ID: "aff/any-request-refreshes", Fault: "a session lapses when no request at all came for the idle time", KilledBy: []string{"AFF-021/idle"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			find, ttl := p.Sessions, cfg.IdleTTL
			var mu sync.Mutex
			var latest time.Time
			gen := 0
			alive := func() string {
				mu.Lock()
				defer mu.Unlock()
				if time.Since(latest) >= ttl {
					gen++
				}
				latest = time.Now()
				return strings.Repeat("#", gen)
			}
			p.Sessions = sessions(func(r *http.Request) string { alive(); return find.Session(r) })
			cc := affinity.Config{IdleTTL: time.Hour, Live: p.Fleet.Live}
			table, err := affinity.New(cc, affinity.SystemClock{})
			if err != nil {
				panic(err) // an hour is a valid time
			}
			p.Affinity = renames{table, func(k affinity.Key) affinity.Key { k.Tenant += alive(); return k }}
		})}
}

// AFFDispatchesQueries serves what only asks.
func (Catalogue) AFFDispatchesQueries() Mutant {
	return finding("aff/dispatches-questions", "a question is served like any request",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				r.Header.Del(router.QueryHeader)
				return former.Session(r)
			})
		}, "AFF-014/http")
}

// AFFCommitsAtEnd binds when the answer has ended.
func (Catalogue) AFFCommitsAtEnd() Mutant {
	return coordinator("aff/binds-at-end", "a session is bound when its first answer has ended, not when it begins",
		leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) {
			if _, bound := l.Bound(); bound {
				return
			}
			var mu sync.Mutex
			var to affinity.Target
			h.commit = func(t affinity.Target) error {
				mu.Lock()
				defer mu.Unlock()
				to = t
				return nil
			}
			h.release = func() {
				mu.Lock()
				defer mu.Unlock()
				if to.Worker != "" {
					_ = l.Commit(to)
				}
				l.Release()
			}
		}), "AFF-003/during-stream", "AFF-003/waiters")
}

// AFFUnusedUnbinds takes an early end for a failure.
func (Catalogue) AFFUnusedUnbinds() Mutant {
	return coordinator("aff/early-end-unbinds", "a turn of a bound session that ends before its answer begins ends the binding",
		leasingSo(func(_ affinity.Coordinator, _ affinity.Ask, l affinity.Lease, h *held) {
			var mu sync.Mutex
			used := false
			h.commit = func(t affinity.Target) error {
				mu.Lock()
				defer mu.Unlock()
				used = true
				return l.Commit(t)
			}
			h.release = func() {
				mu.Lock()
				defer mu.Unlock()
				if _, bound := l.Bound(); bound && !used {
					l.Invalidate()
				}
				l.Release()
			}
		}), "AFF-010/component", "AFF-010/client-left", "AFF-020/random")
}

// AFFOnePhase keeps one table for both phases.
func (Catalogue) AFFOnePhase() Mutant {
	var mu sync.Mutex
	var clock affinity.Clock
	var shared affinity.Coordinator
	return coordinator("pds/one-binding", "a session has one binding for both phases",
		func(cfg affinity.Config, c affinity.Clock) (affinity.Coordinator, error) {
			mu.Lock()
			defer mu.Unlock()
			if clock == c && c != (affinity.SystemClock{}) {
				return shared, nil
			}
			table, err := affinity.New(cfg, c)
			clock, shared = c, table
			return table, err
		}, "AFF-015/phases")
}
