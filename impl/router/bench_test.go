package router

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// sink is a client that takes everything at once.
type sink struct {
	header  http.Header
	flushes int
}

func (s *sink) Header() http.Header              { return s.header }
func (s *sink) Write(p []byte) (int, error)      { return len(p), nil }
func (s *sink) WriteHeader(int)                  {}
func (s *sink) SetWriteDeadline(time.Time) error { return nil }
func (s *sink) Flush()                           { s.flushes++ }

// events is a body of n events, one per Read.
type events struct {
	left  int
	event []byte
}

func (e *events) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	e.left--
	return copy(p, e.event), nil
}

// BenchmarkRelayEvent measures one event of a long stream, without sockets.
func BenchmarkRelayEvent(b *testing.B) {
	event := []byte("data: {\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
	body := &events{left: b.N, event: event}
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(body)}
	client := &sink{header: http.Header{}}
	b.ReportAllocs()
	b.ResetTimer()
	if err := (StreamRelay{}).Relay(client, resp); err != nil {
		b.Fatal(err)
	}
	if client.flushes != b.N+1 {
		b.Fatalf("%d flushes for %d events", client.flushes, b.N)
	}
}

// canned is a worker that answers without a network.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: 2, Body: io.NopCloser(bytes.NewReader([]byte("ok")))}, nil
}

// BenchmarkRequestPath measures what the router itself does for one request,
// without sockets.
func BenchmarkRequestPath(b *testing.B) {
	for _, session := range []string{"", "session-1"} {
		for _, size := range []int{100, 100_000} {
			b.Run(fmt.Sprintf("session=%v/body=%d", session != "", size), func(b *testing.B) {
				cfg := Config{IdleTTL: time.Minute}
				parts, err := DefaultParts(cfg)
				if err != nil {
					b.Fatal(err)
				}
				parts.Transport = canned{}
				r, err := New(cfg, parts)
				if err != nil {
					b.Fatal(err)
				}
				if err := r.SetWorkers([]discovery.Worker{{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, {ID: "w1", URL: "http://h:2", Models: []string{"m"}}}); err != nil {
					b.Fatal(err)
				}
				body := fmt.Appendf(nil, `{"model":"m","prompt":"%s"}`, bytes.Repeat([]byte("x"), size))
				b.ReportAllocs()
				for b.Loop() {
					req := httptest.NewRequest(http.MethodPost, "/v1/completions", bytes.NewReader(body))
					if session != "" {
						req.Header.Set("X-Session-ID", session)
					}
					r.ServeHTTP(&sink{header: http.Header{}}, req)
				}
			})
		}
	}
}

// BenchmarkProxiedRequest measures a request over real sockets, end to end.
func BenchmarkProxiedRequest(b *testing.B) {
	w := newWorker(b, "w0", fine("w0"))
	r := newRig(b, Config{IdleTTL: time.Minute}, nil, w.entry())
	b.ReportAllocs()
	for b.Loop() {
		if p := r.send("s"); p.status != 200 {
			b.Fatal(p)
		}
	}
}
