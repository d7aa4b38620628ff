package mutants

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFSendsOnce never sends again what it has sent.
func (Catalogue) AFFSendsOnce() Mutant {
	return Mutant{
		ID: "aff/sends-once", Fault: "a bound session's request whose connection breaks after it was sent is not tried elsewhere; its client gets 502",
		KilledBy: []string{"AFF-005/reset", "AFF-005/closed"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var bound sync.Map // sessions that were found bound
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if _, is := l.Bound(); is {
					bound.Store(a.Key.Session, true)
				}
				return l, err
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				var sent atomic.Bool
				trace := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(i.Err == nil) }})
				resp, err := send.RoundTrip(r.WithContext(trace))
				_, was := bound.Load(p.Sessions.Session(r))
				if err == nil || !sent.Load() || !was || r.Context().Err() != nil {
					return resp, err
				}
				return &http.Response{StatusCode: http.StatusBadGateway, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r,
					Body: io.NopCloser(strings.NewReader("")), ContentLength: 0}, nil
			})
		}),
	}
}

// AFFSilentFails takes no second try after a silence.
func (Catalogue) AFFSilentFails() Mutant {
	return failover("aff/silent-fails", "a bound session's request that its worker does not answer in time is not tried elsewhere", []string{"AFF-005/no-headers"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Failure == router.TimedOut {
				d.Action = router.Fail
			}
			return d
		})
}

// AFFKeepsSilent keeps a session where nobody answers.
func (Catalogue) AFFKeepsSilent() Mutant {
	return failover("aff/keeps-silent", "a session stays bound to a worker that sends no headers in time", []string{"AFF-005/no-headers"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Failure == router.TimedOut {
				return router.Decision{Action: router.Fail, Binding: router.Keep}
			}
			return d
		})
}

// AFFTriesOn tries every worker there is.
func (Catalogue) AFFTriesOn() Mutant {
	return failover("aff/tries-on", "a bound session's request goes to as many workers as any other's when their connections break", []string{"AFF-023/once"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.Broken && !o.Pinned && o.Attempt < o.MaxAttempts {
				d.Action = router.RetryElsewhere
			}
			return d
		})
}

// AFFLeaksRetries forgets a request that had moved.
func (Catalogue) AFFLeaksRetries() Mutant {
	return Mutant{
		ID: "aff/leaks-retries", Fault: "a client that leaves while its turn is retried leaves the session initializing for ever",
		KilledBy: []string{"AFF-005/left-while-retried"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var moved sync.Map // contexts of requests that ended a binding
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				_, again := moved.LoadAndDelete(ctx)
				return around(l, func(h *held) {
					h.invalidate = func() { moved.Store(ctx, true); l.Invalidate() }
					h.release = func() {
						if _, bound := l.Bound(); bound || !again || ctx.Err() == nil {
							l.Release()
						}
					}
				}), nil
			})
		}),
	}
}

// AFFCutsSiblings ends with a binding all that goes on under it.
func (Catalogue) AFFCutsSiblings() Mutant {
	return Mutant{
		ID: "aff/cuts-siblings", Fault: "a request's failure that ends its session's binding cuts the session's answers under way",
		KilledBy: []string{"AFF-013/moved", "AFF-013/server-error"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var mu sync.Mutex
			flying := map[string]map[*context.CancelFunc]bool{} // by session: its answers under way
			cut := func(session string) {
				mu.Lock()
				defer mu.Unlock()
				for cancel := range flying[session] {
					(*cancel)()
				}
			}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				return around(l, func(h *held) { h.invalidate = func() { l.Invalidate(); cut(a.Key.Session) } }), err
			})
			send := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				ctx, cancel := context.WithCancel(r.Context())
				resp, err := send.RoundTrip(r.WithContext(ctx))
				if err != nil {
					cancel()
					return nil, err
				}
				session := p.Sessions.Session(r)
				land := func() {
					mu.Lock()
					delete(flying[session], &cancel)
					mu.Unlock()
					cancel()
				}
				if resp.StatusCode < 300 { // what fails is no sibling of itself
					mu.Lock()
					if flying[session] == nil {
						flying[session] = map[*context.CancelFunc]bool{}
					}
					flying[session][&cancel] = true
					mu.Unlock()
				}
				resp.Body = &closer{body: resp.Body, done: land}
				return resp, nil
			})
		}),
	}
}
