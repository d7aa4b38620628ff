package router

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// open starts a stream and returns once its headers are here.
func (r *rig) open(ctx context.Context, session string) *http.Response {
	r.t.Helper()
	resp, err := r.client.Do(r.request(ctx, session))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func streamRig(t *testing.T) (*rig, *stepper, *upstreamWorker) {
	s := newStepper()
	w := newWorker(t, "w0", s.ServeHTTP)
	return newRig(t, Config{IdleTTL: time.Minute}, nil, w.entry()), s, w
}

func TestHeadersAndEachEventLeaveTheMomentTheyCome(t *testing.T) {
	r, s, _ := streamRig(t)
	resp := r.open(t.Context(), "")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("got %d %v", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewReader(resp.Body)
	for _, event := range []string{"a", strings.Repeat("long", 30000), "é", "[DONE]"} {
		s.step <- event // the worker writes no more until this one has arrived
		got, err := lines.ReadString('\n')
		if err != nil || got != "data: "+event+"\n" {
			t.Fatalf("got %.40q, error %v", got, err)
		}
		_, _ = lines.ReadString('\n')
	}
	s.step <- ""
	if rest, err := io.ReadAll(lines); err != nil || len(rest) != 0 {
		t.Errorf("after the last event: %q, %v", rest, err)
	}
}

func TestAClientThatLeavesMidStreamFreesTheWorkerAndKeepsItsSession(t *testing.T) {
	r, s, _ := streamRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	resp := r.open(ctx, "s")
	s.step <- "a"
	_, _ = bufio.NewReader(resp.Body).ReadString('\n')
	if n := r.InFlight()["w0"]; n != 1 {
		t.Errorf("%d in flight, want 1", n)
	}
	cancel()
	receive(t, "the worker sees the client leave, with no byte flowing", s.gone)
	r.idle()
}

func TestAClientThatLeavesBeforeHeadersFreesTheWorker(t *testing.T) {
	h := newHanger()
	w := newWorker(t, "w0", h.ServeHTTP)
	other := newWorker(t, "w1", fine("w1"))
	r := newRig(t, Config{}, nil, w.entry(), other.entry())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := r.begin(r.request(ctx, ""))
	receive(t, "the request arrives", h.arrived)
	cancel()
	if p := receive(t, "the client leaves", sent); p.err == nil {
		t.Error("the request succeeded")
	}
	receive(t, "the worker sees the client leave", h.gone)
	r.idle()
	if other.hits.Load() != 0 {
		t.Error("a request whose client left was sent elsewhere")
	}
}

func TestAStreamThatBreaksIsNeverACleanEndNorTriedElsewhere(t *testing.T) {
	s := newStepper()
	w := newWorker(t, "w0", s.ServeHTTP)
	other := newWorker(t, "w1", fine("w1"))
	r := newRig(t, Config{IdleTTL: time.Minute}, nil, w.entry(), other.entry())
	for _, first := range []string{"a", "cut"} { // after an event, and right after the headers
		resp := r.open(t.Context(), "s")
		s.step <- first
		if first != "cut" {
			s.step <- "cut"
		}
		if body, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("the client saw a clean end after %q", body)
		}
		r.idle()
	}
	if other.hits.Load() != 0 {
		t.Error("a broken stream was sent elsewhere")
	}
	w.set(fine("w0"))
	if p := r.send("s"); p.body != "w0" {
		t.Errorf("a broken stream moved its session to %s", p.body)
	}
}

func TestABodyThatBreaksInTheMiddleIsVisible(t *testing.T) {
	w := newWorker(t, "w0", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	r := newRig(t, Config{}, nil, w.entry())
	p, err := r.try(r.request(t.Context(), ""))
	if err == nil {
		t.Errorf("the client saw a whole answer: %+v", p)
	}
	r.idle()
}

func TestASessionIsBoundByHeadersBeforeTheFirstEvent(t *testing.T) {
	r, s, _ := streamRig(t)
	r.open(t.Context(), "s")
	r.open(t.Context(), "s") // would wait if the first had not committed
	receive(t, "first", s.started)
	receive(t, "second", s.started)
	s.step <- ""
	s.step <- ""
	r.idle()
}

func TestAStreamHoldsItsBindingBeyondTheIdleTime(t *testing.T) {
	s := newStepper()
	w := newWorker(t, "w0", s.ServeHTTP)
	r := newRig(t, Config{IdleTTL: time.Second}, nil, w.entry(), newWorker(t, "w1", fine("w1")).entry())
	r.open(t.Context(), "s")
	receive(t, "started", s.started)
	time.Sleep(1200 * time.Millisecond)
	r.open(t.Context(), "s")
	receive(t, "the second turn on the same worker", s.started)
	s.step <- ""
	s.step <- ""
	r.idle()
}

func TestStreamsOnARemovedWorkerFinishAndNewRequestsAvoidIt(t *testing.T) {
	r, s, w := streamRig(t)
	resp := r.open(t.Context(), "s")
	other := newWorker(t, "w1", fine("w1"))
	if err := r.SetWorkers([]discovery.Worker{other.entry()}); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"s", "", "new"} {
		if p := r.send(session); p.body != "w1" {
			t.Errorf("session %q went to %s", session, p.body)
		}
	}
	if n := r.InFlight()["w0"]; n != 1 {
		t.Errorf("%d in flight on the removed worker, want 1", n)
	}
	if err := r.SetWorkers([]discovery.Worker{w.entry(), other.entry()}); err != nil {
		t.Fatal(err)
	}
	s.step <- "late"
	s.step <- ""
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "data: late\n\n" {
		t.Errorf("the stream got %q, %v", body, err)
	}
	r.idle()
	if p := r.send("s"); p.body != "w1" {
		t.Errorf("the old stream's end touched the new binding: s went to %s", p.body)
	}
}
