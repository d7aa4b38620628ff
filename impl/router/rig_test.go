package router

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/impl/discovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long tests wait for what must happen.
const patience = 10 * time.Second

// short is how long a router of a test waits for headers that never come. Workers that
// answer do so in less, on a busy machine, too.
const short = time.Second

// upstreamWorker is a worker whose behaviour a test sets.
type upstreamWorker struct {
	id     string
	server *httptest.Server
	hits   atomic.Int64
	handle atomic.Pointer[http.HandlerFunc]
}

func newWorker(t testing.TB, id string, h http.HandlerFunc) *upstreamWorker {
	w := &upstreamWorker{id: id}
	w.set(h)
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.hits.Add(1)
		(*w.handle.Load())(rw, r)
	}))
	t.Cleanup(w.server.Close)
	return w
}

func (w *upstreamWorker) set(h http.HandlerFunc) { w.handle.Store(&h) }

// fine answers 200 with the worker's id as body.
func fine(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, id)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// reset cuts the connection before any header.
func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang answers nothing until the router lets go.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func (w *upstreamWorker) entry() discovery.Worker {
	return discovery.Worker{ID: w.id, URL: w.server.URL, Models: []string{"m"}}
}

// refusing is a worker at whose address nothing listens.
func refusing(t testing.TB, id string) discovery.Worker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return discovery.Worker{ID: id, URL: "http://" + l.Addr().String(), Models: []string{"m"}}
}

type rig struct {
	*Router
	t      testing.TB
	base   string
	client *http.Client
}

// newRig serves a router over the workers.
func newRig(t testing.TB, cfg Config, change func(*Parts), workers ...discovery.Worker) *rig {
	t.Helper()
	r, served := ownRig(t, cfg, change, workers...)
	t.Cleanup(func() {
		r.client.CloseIdleConnections() // else Shutdown waits for them
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := r.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return r
}

// ownRig is newRig for a router that the test shuts down itself. What Serve returns
// comes out of the channel.
func ownRig(t testing.TB, cfg Config, change func(*Parts), workers ...discovery.Worker) (*rig, <-chan error) {
	t.Helper()
	parts, err := DefaultParts(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&parts)
	}
	r, err := New(cfg, parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetWorkers(workers); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &rig{Router: r, t: t, base: "http://" + l.Addr().String(), client: &http.Client{Transport: transport}}, served
}

// untilStopped calls f again and again from so many goroutines, with the goroutine's
// number and the call's, until stop is called, which waits for them.
func untilStopped(goroutines int, f func(i, n int)) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
					f(i, n)
				}
			}
		})
	}
	return func() { close(over); wg.Wait() }
}

// newAffineRig makes n fine workers w0, w1... and a router with affinity.
func newAffineRig(t testing.TB, cfg Config, n int) (*rig, []*upstreamWorker) {
	t.Helper()
	if cfg.IdleTTL == 0 {
		cfg.IdleTTL = time.Minute
	}
	var workers []*upstreamWorker
	var set []discovery.Worker
	for i := range n {
		id := fmt.Sprint("w", i)
		workers = append(workers, newWorker(t, id, fine(id)))
		set = append(set, workers[i].entry())
	}
	return newRig(t, cfg, nil, set...), workers
}

const chat = `{"model":"m","messages":[]}`

// request makes a request for model m in the session ("" for none).
func (r *rig) request(ctx context.Context, session string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/v1/chat/completions", bytes.NewReader([]byte(chat)))
	if err != nil {
		r.t.Fatal(err)
	}
	if session != "" {
		req.Header.Set("X-Session-ID", session)
	}
	return req
}

type reply struct {
	status int
	header http.Header
	body   string
}

// code returns the code of an OpenAI error object.
func (p reply) code() string {
	var e struct {
		Error struct{ Message, Type, Code string }
	}
	if json.Unmarshal([]byte(p.body), &e) != nil || e.Error.Message == "" || e.Error.Type == "" {
		return "no error object: " + p.body
	}
	return e.Error.Code
}

func (r *rig) try(req *http.Request) (reply, error) {
	ctx, cancel := context.WithTimeout(req.Context(), patience)
	defer cancel()
	resp, err := r.client.Do(req.WithContext(ctx))
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

func (r *rig) do(req *http.Request) reply {
	r.t.Helper()
	p, err := r.try(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return p
}

// send sends one request in the session.
func (r *rig) send(session string) reply {
	r.t.Helper()
	return r.do(r.request(r.t.Context(), session))
}

// result is what a request in the background came to.
type result struct {
	reply
	err error
}

// begin sends a request in the background.
func (r *rig) begin(req *http.Request) <-chan result {
	c := make(chan result, 1)
	go func() {
		p, err := r.try(req)
		c <- result{p, err}
	}()
	return c
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (r *rig) idle() {
	r.t.Helper()
	eventually(r.t, "all load released", func() bool {
		for _, n := range r.InFlight() {
			if n != 0 {
				return false
			}
		}
		return true
	})
}

// stepper is a streaming handler that writes one event per step.
type stepper struct {
	started chan struct{} // one value per request
	step    chan string   // "" ends the stream, "cut" breaks it
	gone    chan struct{} // one value per request whose client left
}

func newStepper() *stepper {
	return &stepper{make(chan struct{}, 16), make(chan string), make(chan struct{}, 16)}
}

func (s *stepper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	s.started <- struct{}{}
	for {
		select {
		case e := <-s.step:
			if e == "" {
				return
			}
			if e == "cut" {
				panic(http.ErrAbortHandler)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			s.gone <- struct{}{}
			return
		}
	}
}

// hanger hangs, and tells of each request that has come, and that was let go.
type hanger struct{ arrived, gone chan struct{} }

func newHanger() hanger { return hanger{make(chan struct{}, 16), make(chan struct{}, 16)} }

func (h hanger) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	h.arrived <- struct{}{}
	<-r.Context().Done()
	h.gone <- struct{}{}
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

// rawWorker answers on raw connections; serve gets each and its number.
func rawWorker(t testing.TB, id string, serve func(n int, c net.Conn, r *bufio.Reader)) discovery.Worker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				_ = c.SetDeadline(time.Now().Add(patience))
				serve(n, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return discovery.Worker{ID: id, URL: "http://" + l.Addr().String(), Models: []string{"m"}}
}
