package router

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
)

// between is a hand-off that does something just before each phase.
type between struct {
	Handoff
	prefill, decode func()
}

func (b between) Prefill(body []byte) ([]byte, error) {
	b.prefill()
	return b.Handoff.Prefill(body)
}

func (b between) Decode(body, answer []byte) ([]byte, error) {
	b.decode()
	return b.Handoff.Decode(body, answer)
}

func TestWhenPrefillHasJustLeftDecodeDoesEverything(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), nil)
	f.parts.Prefill.Handoff = between{f.parts.Prefill.Handoff, func() { f.without("p0") }, func() {}}
	f.want("s", "d0/-")
	if body, _ := f.seen("d0"); body != chat || f.hits("p") != 0 {
		t.Errorf("decode got %s, prefill %d requests", body, f.hits("p"))
	}
}

func TestNothingIsSentToDecodeOnceTheClientHasLeft(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var client context.Context
	var attempts atomic.Int64
	f.parts.Transport = counting{f.parts.Transport, &attempts}
	f.parts.Context = func(c context.Context) (context.Context, context.CancelFunc) {
		client = c
		return context.WithCancel(c)
	}
	f.parts.Prefill.Handoff = between{f.parts.Prefill.Handoff, func() {}, func() {
		cancel()
		<-client.Done()
	}}
	if p, err := f.try(f.request(ctx, "s")); err == nil {
		t.Errorf("got %d %s", p.status, p.body)
	}
	f.idle()
	if n := attempts.Load(); n != 1 {
		t.Errorf("%d attempts, want that at prefill only", n)
	}
	if got := f.bound(); got != "0 1" {
		t.Errorf("bindings %s", got)
	}
}

func TestNobodyWaitsForTheBodyOfPrefillsFailure(t *testing.T) {
	f := newFloor(t, Config{}, one(2), one(1), nil)
	release := make(chan struct{})
	defer close(release)
	f.workers["p0"].set(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	if resp := f.open(t.Context(), "s"); resp.StatusCode != 429 {
		t.Fatalf("got %d", resp.StatusCode)
	}
	f.want("s", "d0/- after p1/-")
}

func TestAPinAgainstPrefillsBindingIsRefusedAtOnce(t *testing.T) {
	f := newFloor(t, Config{}, one(2), one(1), nil)
	h := newHanger()
	f.workers["d0"].set(h.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.begin(f.request(ctx, "s"))
	receive(t, "the first turn is at decode", h.arrived)
	f.refused("s", 400, "invalid_argument", prefillPin, "p1") // not behind the first turn
	cancel()
	f.idle()
}
