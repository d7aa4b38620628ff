package mutants

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/impl/router"
)

// STRBuffers waits for the end of an answer.
func (Catalogue) STRBuffers() Mutant {
	return Mutant{
		ID: "str/buffers", Fault: "an answer is passed on when it is complete",
		KilledBy: []string{"STR-001/stepped", "STR-002/spacing"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				raw, err := io.ReadAll(resp.Body)
				if err != nil {
					return err
				}
				resp.Body = io.NopCloser(bytes.NewReader(raw))
				return inner.Relay(w, resp)
			})
		}),
	}
}

// slow hands out what has come once per period.
type slow struct {
	io.ReadCloser
	period time.Duration
	read   chan []byte
	stop   chan struct{}
}

func (s *slow) Read(b []byte) (int, error) {
	wait := time.NewTimer(s.period)
	defer wait.Stop()
	<-wait.C
	n := 0
	for n < len(b)-8<<10 {
		select {
		case chunk, ok := <-s.read:
			if !ok {
				if n > 0 {
					return n, nil
				}
				return 0, io.EOF
			}
			n += copy(b[n:], chunk)
			continue
		default:
		}
		break
	}
	return n, nil
}

func (s *slow) pump() {
	defer close(s.read)
	for {
		b := make([]byte, 4<<10)
		n, err := s.ReadCloser.Read(b)
		if n > 0 {
			select {
			case s.read <- b[:n]:
			case <-s.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *slow) Close() error {
	close(s.stop)
	return s.ReadCloser.Close()
}

// STRBatches flushes on a timer.
func (Catalogue) STRBatches() Mutant {
	return Mutant{
		ID: "str/batches", Fault: "events are collected and passed on every 200 ms",
		KilledBy: []string{"STR-002/spacing"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				s := &slow{ReadCloser: resp.Body, period: 200 * time.Millisecond, read: make(chan []byte, 1024), stop: make(chan struct{})}
				go s.pump()
				defer s.Close()
				resp.Body = s
				return inner.Relay(w, resp)
			})
		}),
	}
}

// STRSwallows ends an answer that broke as if it were whole.
func (Catalogue) STRSwallows() Mutant {
	return Mutant{
		ID: "str/swallows-reset", Fault: "an answer that broke off is ended cleanly",
		KilledBy: []string{"STR-003/reset", "STR-003/closed"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				if resp.ContentLength >= 0 { // a length once promised cannot be taken back
					return inner.Relay(w, resp)
				}
				_ = inner.Relay(w, resp)
				return nil
			})
		}),
	}
}

// STRSwallowsClose takes the end of a connection for the end of an answer.
func (Catalogue) STRSwallowsClose() Mutant {
	return Mutant{
		ID: "str/swallows-close", Fault: "a stream whose connection was closed, not reset, before its end is ended cleanly",
		KilledBy: []string{"STR-003/closed"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				err := inner.Relay(w, resp)
				if resp.ContentLength < 0 && errors.Is(err, io.ErrUnexpectedEOF) {
					return nil
				}
				return err
			})
		}),
	}
}

// STRDetached lets a worker finish for nobody.
func (Catalogue) STRDetached() Mutant {
	return Mutant{
		ID: "str/detached", Fault: "a worker's request lives on when its client has left",
		KilledBy: []string{"STR-004/leave"},
		New: with(func(_ *router.Config, p *router.Parts) {
			p.Context = func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithoutCancel(ctx), func() {}
			}
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(r)
				if err == nil {
					body := resp.Body
					resp.Body = drains{body}
				}
				return resp, err
			})
		}),
	}
}

// drains reads a body to its end, but not for ever, when it is closed.
type drains struct{ io.ReadCloser }

func (d drains) Close() error {
	go func() {
		t := time.AfterFunc(5*time.Second, func() { _ = d.ReadCloser.Close() })
		defer t.Stop()
		_, _ = io.Copy(io.Discard, d.ReadCloser)
		_ = d.ReadCloser.Close()
	}()
	return nil
}

// STRDetachedPrefill notices a lost client only once an answer has begun.
func (Catalogue) STRDetachedPrefill() Mutant {
	return Mutant{
		ID: "str/detached-prefill", Fault: "a client that leaves before headers is noticed only when the headers come",
		KilledBy: []string{"STR-004/leave", "STR-004/leave-retried"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
				resp, err := inner.RoundTrip(r.WithContext(ctx))
				if err != nil {
					cancel()
					return nil, err
				}
				stop := context.AfterFunc(r.Context(), cancel)
				resp.Body = &closer{body: resp.Body, done: func() { stop(); cancel() }}
				return resp, nil
			})
		}),
	}
}
