package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

func TestShutdownLetsRunningRequestsFinish(t *testing.T) {
	s := newStepper()
	r, served := ownRig(t, Config{}, nil, newWorker(t, "w0", s.ServeHTTP).entry())
	resp := r.open(t.Context(), "")
	done := make(chan error, 1)
	go func() { done <- r.Shutdown(t.Context()) }()
	if err := receive(t, "Serve returns", served); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.DialTimeout("tcp", r.base[len("http://"):], time.Second); err == nil {
		t.Error("a router that shuts down still accepts")
	}
	s.step <- "last"
	s.step <- ""
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "data: last\n\n" {
		t.Errorf("the running stream got %q, %v", body, err)
	}
	if err := receive(t, "Shutdown returns", done); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestShutdownCutsWhatRunsBeyondItsContext(t *testing.T) {
	s := newStepper()
	r, served := ownRig(t, Config{}, nil, newWorker(t, "w0", s.ServeHTTP).entry())
	resp := r.open(t.Context(), "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown = %v, want DeadlineExceeded", err)
	}
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("a cut stream ended cleanly after %q", body)
	}
	receive(t, "the worker is freed", s.gone)
	for id, n := range r.InFlight() {
		if n != 0 {
			t.Errorf("%s has %d in flight after Shutdown", id, n)
		}
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeAfterShutdownReturnsAtOnce(t *testing.T) {
	r, served := ownRig(t, Config{}, nil)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-served
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Serve(l); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Errorf("a second Shutdown: %v", err)
	}
}

func TestABadWorkerSetChangesNothing(t *testing.T) {
	w := newWorker(t, "w0", fine("w0"))
	r := newRig(t, Config{}, nil, w.entry())
	if err := r.SetWorkers([]discovery.Worker{{ID: "w1", URL: "nowhere", Models: []string{"m"}}}); err == nil {
		t.Error("a bad set was accepted")
	}
	if p := r.send(""); p.body != "w0" {
		t.Errorf("got %+v", p)
	}
}

func TestAWorkerAtAnotherAddressIsAnotherIncarnation(t *testing.T) {
	old, other := newWorker(t, "w0", fine("old")), newWorker(t, "w1", fine("w1"))
	r := newRig(t, Config{IdleTTL: time.Minute}, nil, old.entry(), other.entry())
	if p := r.send("s"); p.body != "old" {
		t.Fatalf("got %+v", p)
	}
	moved := newWorker(t, "w0", fine("new"))
	if err := r.SetWorkers([]discovery.Worker{moved.entry(), other.entry()}); err != nil {
		t.Fatal(err)
	}
	if p := r.send("s"); p.body != "w1" { // round robin: w0 had the last turn
		t.Errorf("the session followed the name to %s", p.body)
	}
}

// closer notes that it was told to close its idle connections.
type closer struct {
	http.RoundTripper
	closed *bool
}

func (c closer) CloseIdleConnections() { *c.closed = true }

func TestShutdownClosesIdleConnectionsToWorkers(t *testing.T) {
	closed := false
	parts, err := DefaultParts(Config{})
	if err != nil {
		t.Fatal(err)
	}
	parts.Transport = closer{parts.Transport, &closed}
	r, err := New(Config{}, parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Shutdown(t.Context()); err != nil || !closed {
		t.Errorf("Shutdown = %v, idle connections closed = %v", err, closed)
	}
}

func TestAClientThatHalfClosesGetsNoMadeUpAnswer(t *testing.T) {
	r := newRig(t, Config{}, nil, newWorker(t, "w0", hang).entry())
	c, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(chat), chat)
	_ = c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(c); len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
	r.idle()
}
