package router

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// counting counts the attempts that the router means to make.
type counting struct {
	http.RoundTripper
	n *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

func TestAnUnreachableWorkerIsReplacedUnseenByTheClient(t *testing.T) {
	w := newWorker(t, "w1", fine("w1"))
	r := newRig(t, Config{IdleTTL: time.Minute}, nil, refusing(t, "w0"), w.entry())
	for i := range 10 {
		for _, session := range []string{"", fmt.Sprint("s", i)} {
			if p := r.send(session); p.body != "w1" {
				t.Fatalf("got %+v", p)
			}
		}
	}
	r.idle()
}

func TestConnectionAttemptsAreBoundedAndNeverRepeatAWorker(t *testing.T) {
	for _, c := range []struct{ workers, max, want int }{{5, 0, 3}, {2, 0, 2}, {5, 1, 1}, {5, 4, 4}} {
		for _, session := range []string{"", "s"} {
			var attempts atomic.Int64
			var set []discovery.Worker
			var workers []*upstreamWorker
			for i := range c.workers {
				w := newWorker(t, fmt.Sprint("w", i), reset)
				set, workers = append(set, w.entry()), append(workers, w)
			}
			r := newRig(t, Config{IdleTTL: time.Minute, MaxAttempts: c.max}, func(p *Parts) {
				p.Transport = counting{p.Transport, &attempts}
			}, set...)
			if p := r.send(session); p.status != 502 || p.code() != "connection_failed" {
				t.Errorf("%+v: got %+v", c, p)
			}
			if n := attempts.Load(); n != int64(c.want) {
				t.Errorf("%+v: %d attempts, want %d", c, n, c.want)
			}
			for _, w := range workers {
				if w.hits.Load() > 1 {
					t.Errorf("%+v: %s was tried %d times", c, w.id, w.hits.Load())
				}
			}
			r.idle()
		}
	}
}

func TestABoundSessionGoesElsewhereOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  http.HandlerFunc
		max    int
		want   int64 // attempts
		status int
		code   string
	}{
		{"reset", reset, 0, 2, 502, "connection_failed"},
		{"reset, of five attempts", reset, 5, 2, 502, "connection_failed"},
		{"reset, of one attempt", reset, 1, 1, 502, "connection_failed"},
		{"no headers", hang, 0, 2, 504, "header_timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, workers := newAffineRig(t, Config{MaxAttempts: c.max, HeaderTimeout: short}, 5)
			byID := map[string]*upstreamWorker{}
			for _, w := range workers {
				byID[w.id] = w
			}
			home := r.send("s").body
			if c.max != 1 {
				byID[home].set(c.fails)
				moved := r.send("s")
				if moved.status != 200 || moved.body == home {
					t.Errorf("got %+v after one failure at %s", moved, home)
				}
			}
			hits := func() (n int64) {
				for _, w := range workers {
					n += w.hits.Load()
				}
				return n
			}
			for _, w := range workers {
				w.set(c.fails)
			}
			before := hits()
			if p := r.send("s"); p.status != c.status || p.code() != c.code {
				t.Errorf("got %+v", p)
			}
			if n := hits() - before; n != c.want {
				t.Errorf("%d attempts for a bound session, want %d", n, c.want)
			}
			r.idle()
			for _, w := range workers {
				w.set(fine(w.id))
			}
			if p := r.send("s"); p.status != 200 {
				t.Errorf("its next turn got %+v", p)
			}
		})
	}
}

func TestWhenEveryWorkerHangsTheAnswerIs504AfterOneRetry(t *testing.T) {
	var set []discovery.Worker
	var workers []*upstreamWorker
	for i := range 3 {
		w := newWorker(t, fmt.Sprint("w", i), hang)
		set, workers = append(set, w.entry()), append(workers, w)
	}
	r := newRig(t, Config{IdleTTL: time.Minute, HeaderTimeout: short}, nil, set...)
	for _, session := range []string{"", "s"} {
		begin := time.Now()
		if p := r.send(session); p.status != 504 || p.code() != "header_timeout" {
			t.Errorf("got %+v", p)
		}
		if d := time.Since(begin); d < 2*short {
			t.Errorf("answered after %v, before two workers had their time", d)
		}
	}
	total := int64(0)
	for _, w := range workers {
		total += w.hits.Load()
	}
	if total != 4 {
		t.Errorf("%d attempts for two requests, want 4", total)
	}
	r.idle()
}

func TestTheHeaderTimeoutDoesNotLimitTheStream(t *testing.T) {
	s := newStepper()
	w := newWorker(t, "w0", s.ServeHTTP)
	r := newRig(t, Config{HeaderTimeout: short}, nil, w.entry())
	resp := r.open(t.Context(), "")
	receive(t, "started", s.started)
	time.Sleep(short + short/4) // longer than the router waits for headers
	s.step <- "late"
	s.step <- ""
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "data: late\n\n" {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestFreshPicksAvoidAFailedWorkerUntilItIsBack(t *testing.T) {
	w0, w1 := newWorker(t, "w0", reset), newWorker(t, "w1", fine("w1"))
	r := newRig(t, Config{}, nil, w0.entry(), w1.entry())
	for range 10 {
		if p := r.send(""); p.body != "w1" {
			t.Fatalf("got %+v", p)
		}
	}
	if n := w0.hits.Load(); n < 1 || n > 2 { // a second one only if a second went by
		t.Errorf("the failing worker was tried %d times by 10 requests", n)
	}
	w0.set(fine("w0"))
	eventually(t, "the worker is used again", func() bool { return r.send("").body == "w0" })
}

func TestWhenEveryWorkerIsAvoidedNoneIs(t *testing.T) {
	w := newWorker(t, "w0", reset)
	r := newRig(t, Config{}, nil, w.entry())
	if p := r.send(""); p.status != 502 {
		t.Fatalf("got %+v", p)
	}
	w.set(fine("w0"))
	if p := r.send(""); p.body != "w0" {
		t.Errorf("got %+v", p)
	}
}

func TestErrorAnswersMakeNoWorkerAvoided(t *testing.T) {
	for _, code := range []int{400, 429, 500, 503} {
		w0, w1 := newWorker(t, "w0", status(code)), newWorker(t, "w1", fine("w1"))
		r := newRig(t, Config{}, nil, w0.entry(), w1.entry())
		for range 10 {
			r.send("")
		}
		if w0.hits.Load() != 5 || w1.hits.Load() != 5 {
			t.Errorf("%d: w0 got %d and w1 %d of 10", code, w0.hits.Load(), w1.hits.Load())
		}
	}
}

// A worker that closes a kept connection as the next request arrives on it
// tempts transports to repeat the request by themselves.
func TestNoRequestIsRepeatedBehindTheRoutersBack(t *testing.T) {
	var arrived, attempts atomic.Int64
	raw := rawWorker(t, "w0", func(_ int, c net.Conn, in *bufio.Reader) {
		for n := 0; ; n++ {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			arrived.Add(1)
			if n == 1 {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	r := newRig(t, Config{}, func(p *Parts) { p.Transport = counting{p.Transport, &attempts} }, raw)
	for i, want := range []int{200, 502, 200, 502} {
		req := r.request(t.Context(), "")
		req.Header.Set("Idempotency-Key", "k") // net/http takes it as leave to repeat
		if p := r.do(req); p.status != want {
			t.Errorf("request %d: got %d, want %d", i, p.status, want)
		}
	}
	if arrived.Load() != 4 || attempts.Load() != 4 {
		t.Errorf("%d attempts, %d arrived, want 4 each", attempts.Load(), arrived.Load())
	}
}

func TestGarbageFromAWorkerIsAConnectionFailure(t *testing.T) {
	raw := rawWorker(t, "w0", func(_ int, c net.Conn, in *bufio.Reader) {
		if req, err := http.ReadRequest(in); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
	})
	r := newRig(t, Config{}, nil, raw)
	if p := r.send(""); p.status != 502 {
		t.Errorf("got %+v", p)
	}
}

func TestAFailedFirstRequestKeepsNobodyWaiting(t *testing.T) {
	r := newRig(t, Config{IdleTTL: time.Minute, InitWait: 100 * time.Millisecond}, nil, refusing(t, "w0"), refusing(t, "w1"))
	for range 3 {
		if p := r.send("s"); p.status != 502 {
			t.Errorf("got %+v", p)
		}
	}
}

func TestNobodyWaitsForTheBodyOfAFailure(t *testing.T) {
	release := make(chan struct{})
	w0 := newWorker(t, "w0", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	r := newRig(t, Config{IdleTTL: time.Minute}, nil, w0.entry(), newWorker(t, "w1", fine("w1")).entry())
	defer close(release)
	if resp := r.open(t.Context(), "s"); resp.StatusCode != 500 {
		t.Fatalf("got %d", resp.StatusCode)
	}
	if p := r.send("s"); p.body != "w1" {
		t.Errorf("got %+v", p)
	}
}
