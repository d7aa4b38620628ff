package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// asked is how a session's latest request was asked, and answered.
type asked struct {
	stream, older bool // older: on the older endpoint
	failed        bool
}

// askedSo notes of each session that the transport sees how it asked.
func askedSo(p *router.Parts) (latest func(session string) asked) {
	var all sync.Map
	send := p.Transport
	p.Transport = reading(func(r *http.Request, raw []byte) (*http.Response, error) {
		var body struct{ Stream bool }
		_ = json.Unmarshal(raw, &body) // what is no request of ours streams nothing
		r.Body = io.NopCloser(bytes.NewReader(raw))
		now := asked{stream: body.Stream, older: !strings.Contains(r.URL.Path, "chat")}
		id := p.Sessions.Session(r)
		all.Store(id, now)
		resp, err := send.RoundTrip(r)
		if err == nil && resp.StatusCode >= 400 {
			now.failed = true
			all.Store(id, now)
		}
		return resp, err
	})
	return func(session string) asked {
		a, _ := all.Load(session)
		now, _ := a.(asked)
		return now
	}
}

// shaped is a mutant whose leases go wrong for some ways to ask.
func shaped(id, fault string, f func(ctx context.Context, l affinity.Lease, h *held, latest func() asked), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			latest := askedSo(p)
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) { f(ctx, l, h, func() asked { return latest(a.Key.Session) }) }), nil
			})
		})}
}

// AFFStreamsOutlast forgives streams.
func (Catalogue) AFFStreamsOutlast() Mutant {
	return shaped("aff/errors-keep-streams", "a bound worker's 5xx leaves the binding as it is where the turn was to be streamed",
		func(_ context.Context, l affinity.Lease, h *held, latest func() asked) {
			h.invalidate = func() {
				if now := latest(); !now.stream || !now.failed {
					l.Invalidate()
				}
			}
		}, "AFF-022/server-error")
}

// AFFOlderOutlast forgives the older endpoint.
func (Catalogue) AFFOlderOutlast() Mutant {
	return shaped("aff/errors-keep-completions", "a bound worker's 5xx leaves the binding as it is where the turn was one of /v1/completions",
		func(_ context.Context, l affinity.Lease, h *held, latest func() asked) {
			h.invalidate = func() {
				if now := latest(); !now.older || !now.failed {
					l.Invalidate()
				}
			}
		}, "AFF-022/server-error")
}

// AFFStreamsNeverLapse holds what was streamed.
func (Catalogue) AFFStreamsNeverLapse() Mutant {
	return shaped("aff/streams-never-lapse", "a session whose first turn was streamed never lapses",
		func(_ context.Context, l affinity.Lease, h *held, latest func() asked) {
			if _, bound := l.Bound(); bound {
				return
			}
			h.release = func() {
				if !latest().stream {
					l.Release()
				}
			}
		}, "AFF-006/lapses", "AFF-021/idle")
}

// AFFLeaksWholeLeavers holds a session for a client that left before a whole answer.
func (Catalogue) AFFLeaksWholeLeavers() Mutant {
	return shaped("aff/leaks-whole-leavers", "a bound session's request without stream whose client leaves counts as in flight for ever",
		func(ctx context.Context, l affinity.Lease, h *held, latest func() asked) {
			if _, bound := l.Bound(); !bound {
				return
			}
			h.release = func() {
				if latest().stream || ctx.Err() == nil {
					l.Release()
				}
			}
		}, "AFF-012/ends")
}

// AFFLeaksWholeErrors holds a session for an error in the place of a whole answer.
func (Catalogue) AFFLeaksWholeErrors() Mutant {
	return shaped("aff/leaks-whole-errors", "a bound session's request without stream that is answered with an error counts as in flight for ever",
		func(_ context.Context, l affinity.Lease, h *held, latest func() asked) {
			if _, bound := l.Bound(); !bound {
				return
			}
			h.release = func() {
				if now := latest(); now.stream || !now.failed {
					l.Release()
				}
			}
		}, "AFF-012/ends")
}

// AFFRemembersOlder lets a connection remember on one endpoint.
func (Catalogue) AFFRemembersOlder() Mutant {
	return finding("aff/remembers-completions", "a request of /v1/completions without an id counts for the session that its connection carried before",
		func(former router.Sessions) router.Sessions {
			var before sync.Map
			return sessions(func(r *http.Request) string {
				id := former.Session(r)
				if id == "" && r.URL.Path == "/v1/completions" {
					last, _ := before.Load(r.RemoteAddr)
					id, _ = last.(string)
				} else if id != "" {
					before.Store(r.RemoteAddr, id)
				}
				return id
			})
		}, "AFF-021/free")
}
