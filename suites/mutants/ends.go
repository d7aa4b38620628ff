package mutants

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFLeaksLeavers holds a session for a client that has left.
func (Catalogue) AFFLeaksLeavers() Mutant {
	return Mutant{
		ID: "aff/leaks-leavers", Fault: "a bound session's request whose client leaves counts as in flight for ever",
		KilledBy: []string{"AFF-012/ends"},
		New: with(func(_ *router.Config, p *router.Parts) {
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if _, bound := l.Bound(); err != nil || !bound {
					return l, err
				}
				return around(l, func(h *held) {
					h.release = func() {
						if ctx.Err() == nil {
							l.Release()
						}
					}
				}), nil
			})
		}),
	}
}

// breaking is a body that tells of an end which is none.
type breaking struct {
	io.ReadCloser
	tell func()
}

func (b breaking) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.tell()
	}
	return n, err
}

// AFFLeaksFailures holds a session for an answer that was none.
func (Catalogue) AFFLeaksFailures() Mutant {
	return Mutant{
		ID: "aff/leaks-failures", Fault: "a bound session's request whose answer is an error or breaks off counts as in flight for ever",
		KilledBy: []string{"AFF-012/ends"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var failed sync.Map // sessions whose latest answer failed
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if _, bound := l.Bound(); err != nil || !bound {
					return l, err
				}
				leaks := false // the first end decides
				return around(l, func(h *held) {
					h.release = func() {
						if _, is := failed.LoadAndDelete(a.Key.Session); is {
							leaks = true
						}
						if !leaks {
							l.Release()
						}
					}
				}), nil
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := send.RoundTrip(r)
				if err != nil {
					return nil, err
				}
				fails := func() {
					if id := p.Sessions.Session(r); id != "" && r.Context().Err() == nil {
						failed.Store(id, true)
					}
				}
				if resp.StatusCode >= 400 {
					fails()
				}
				resp.Body = breaking{resp.Body, fails}
				return resp, nil
			})
		}),
	}
}

// AFFFailedKeepPlaces counts what never was.
func (Catalogue) AFFFailedKeepPlaces() Mutant {
	return Mutant{
		ID: "aff/failed-keep-places", Fault: "a session whose first turn failed is forgotten, but goes on counting towards the capacity",
		KilledBy: []string{"AFF-009/failed"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			var mu sync.Mutex
			failed, bound := 0, map[affinity.Key]bool{}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				full := !bound[a.Key] && len(bound)+failed >= cfg.Capacity
				mu.Unlock()
				if full {
					return affinity.Lease{}, affinity.ErrCapacity
				}
				l, err := former(ctx, a)
				if _, is := l.Bound(); err != nil || is {
					return l, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						mu.Lock()
						bound[a.Key] = true
						mu.Unlock()
						return l.Commit(t)
					}
					h.release = func() {
						if _, is := l.Bound(); !is {
							mu.Lock()
							failed++
							mu.Unlock()
						}
						l.Release()
					}
				}), nil
			})
		}),
	}
}

// ending marks how a lease's end makes its session one that is never bound again: it
// calls over then. Lapsed says that the session had been bound, and no failure had
// ended that.
type ending func(l affinity.Lease, h *held, over func(), lapsed bool)

// never makes a table in which a session that has ended so is never bound again.
func never(marked ending) func(affinity.Coordinator) affinity.Coordinator {
	return func(inner affinity.Coordinator) affinity.Coordinator {
		var over, committed sync.Map
		return acquires{inner, func(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
			if _, is := over.Load(a.Key); is {
				return new(loose).lease(a.Key, func() {}), nil // in a table that nobody else sees
			}
			l, err := inner.Acquire(ctx, a)
			if err != nil {
				return l, err
			}
			_, bound := l.Bound()
			_, was := committed.Load(a.Key)
			noted := around(l, func(h *held) {
				h.commit = func(t affinity.Target) error { committed.Store(a.Key, true); return l.Commit(t) }
				h.invalidate = func() { committed.Delete(a.Key); l.Invalidate() }
			})
			return around(noted, func(h *held) { marked(noted, h, func() { over.Store(a.Key, true) }, was && !bound) }), nil
		}}
	}
}

func onceFailed(l affinity.Lease, h *held, over func(), _ bool) {
	h.release = func() {
		if _, bound := l.Bound(); !bound {
			over()
		}
		l.Release()
	}
}

func onceEnded(l affinity.Lease, h *held, over func(), _ bool) {
	h.invalidate = func() { over(); l.Invalidate() }
}

func onceLapsed(l affinity.Lease, h *held, over func(), lapsed bool) {
	if lapsed {
		h.commit = func(affinity.Target) error { over(); l.Release(); return nil }
	}
}

// AFFOnceFailed never forgives a failed first turn.
func (Catalogue) AFFOnceFailed() Mutant {
	return coordinator("aff/once-failed-never-bound", "a session whose first turn failed is placed anew with every turn", wrapped(never(onceFailed)),
		"AFF-004/client-error", "AFF-004/client-left", "AFF-004/overload", "AFF-004/server-error")
}

// AFFOnceEnded never forgives a worker's failure.
func (Catalogue) AFFOnceEnded() Mutant {
	return coordinator("aff/once-ended-never-bound", "a session whose binding a failure ended is placed anew with every turn", wrapped(never(onceEnded)),
		"AFF-022/server-error", "AFF-005/refuse", "AFF-005/reset", "AFF-022/decode")
}

// AFFOnceLapsed never takes back who was away for long.
func (Catalogue) AFFOnceLapsed() Mutant {
	return coordinator("aff/once-lapsed-never-bound", "a session that has lapsed is placed anew with every turn", wrapped(never(onceLapsed)),
		"AFF-006/lapses", "AFF-006/phases")
}

// PDSOnceEnded never forgives a prefill worker.
func (Catalogue) PDSOnceEnded() Mutant {
	return prefilling("pds/once-ended-never-bound", "a session whose binding for prefill a failure ended is prefilled anew with every turn", never(onceEnded), "AFF-022/prefill")
}

// PDSOnceLapsed never prefills in one place again.
func (Catalogue) PDSOnceLapsed() Mutant {
	return prefilling("pds/once-lapsed-never-bound", "a session that has lapsed is prefilled anew with every turn", never(onceLapsed), "AFF-006/phases")
}
