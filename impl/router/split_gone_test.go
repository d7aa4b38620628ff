package router

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client may leave at any moment: its workers are freed, nothing more is sent,
// and no binding ends.
func TestAClientThatLeavesARequestInTwoPhases(t *testing.T) {
	h := newHanger()
	holds := func(begin func(w http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			begin(w)
			_ = http.NewResponseController(w).Flush()
			h.ServeHTTP(w, r)
		}
	}
	for _, c := range []struct {
		name, at      string // the worker at which the request is then
		handle        http.HandlerFunc
		fresh, known  string // bindings after a new session's request, and after a bound one's
		decodes       int64
		decoding, pre int // in flight meanwhile
	}{
		{"before prefill's headers", "p0", h.ServeHTTP, "0 0", "1 1", 0, 1, 1},
		{"in the middle of prefill's answer", "p0", holds(func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"id":`) }), "0 1", "1 1", 0, 1, 1},
		{"in the middle of prefill's error", "p0", holds(func(w http.ResponseWriter) { w.WriteHeader(429) }), "0 0", "1 1", 0, 0, 1},
		{"before decode's headers", "d0", h.ServeHTTP, "0 1", "1 1", 1, 1, 0},
		{"in the middle of the stream", "d0", holds(func(w http.ResponseWriter) { _, _ = io.WriteString(w, "data: 1\n\n") }), "1 1", "1 1", 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, known := range []bool{false, true} {
				f := newFloor(t, Config{}, one(1), one(1), nil)
				want := c.fresh
				if known {
					want = c.known
					f.want("s", "d0/- after p0/-")
				}
				before := f.hits("d")
				f.workers[c.at].set(c.handle)
				ctx, cancel := context.WithCancel(t.Context())
				left := f.begin(f.request(ctx, "s"))
				receive(t, "the request arrives", h.arrived)
				load := fmt.Sprintf("map[d0:%d p0:%d]", c.decoding, c.pre)
				eventually(t, "in flight, and no more leases than "+load+", bindings "+want, func() bool {
					d, p := f.tables()
					return fmt.Sprint(f.InFlight()) == load && d.Leases <= c.decoding && p.Leases <= c.pre && f.bindings() == want
				})
				cancel()
				receive(t, "the worker is freed", h.gone)
				receive(t, "the client is gone", left)
				f.idle()
				if n := f.hits("d") - before; n != c.decodes {
					t.Errorf("%d requests for decode, want %d", n, c.decodes)
				}
				if got := f.bound(); got != want {
					t.Errorf("bindings %s, want %s", got, want)
				}
				f.workers[c.at].set(f.good(c.at))
				f.want("s", "d0/- after p0/-")
			}
		})
	}
}

func TestAWaiterTakesOverFromAClientThatLeavesDuringPrefill(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(2), nil)
	h := newHanger()
	f.workers["p0"].set(h.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.begin(f.request(ctx, "s"))
	receive(t, "the first request arrives", h.arrived)
	second := f.begin(f.request(t.Context(), "s"))
	eventually(t, "the second waits", func() bool { return f.stats().Waiting == 1 })
	f.workers["p0"].set(f.good("p0"))
	cancel()
	if p := receive(t, "the second is served", second); p.body != "d1/- after p0/-" {
		t.Errorf("the second got %d %s, %v", p.status, p.body, p.err)
	}
	f.idle()
}

func TestFirstTurnsTogetherShareBothWorkers(t *testing.T) {
	f := newFloor(t, Config{}, []int{2, 2}, []int{2, 2}, nil)
	var wg sync.WaitGroup
	answers := make([]string, 24)
	for i := range answers {
		wg.Go(func() {
			p, err := f.try(f.request(t.Context(), fmt.Sprint("s", i%3)))
			if err != nil {
				t.Error(err)
			}
			answers[i] = p.body
		})
	}
	wg.Wait()
	for i, a := range answers {
		if a != answers[i%3] || !strings.Contains(a, " after p") {
			t.Errorf("a turn of session %d went to %s, another to %s", i%3, a, answers[i%3])
		}
	}
	f.idle()
	if got := f.bound(); got != "3 3" {
		t.Errorf("bindings %s", got)
	}
}

func TestTwoPhasesWhileWorkersFailComeAndGo(t *testing.T) {
	f := newFloor(t, Config{HeaderTimeout: 2 * time.Second}, []int{0, 2, 2}, []int{2, 0, 2}, one(1))
	stop := untilStopped(6, func(i, n int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if n%5 == 4 {
			time.AfterFunc(time.Duration(n%7)*time.Millisecond/2, cancel)
		}
		headers := [...][]string{nil, {prefillPin, "p0"}, {workerPin, "d1"}, nil}[n%4]
		p, err := f.try(f.headed(ctx, [...]string{"", fmt.Sprint("s", i), fmt.Sprint("t", n%5)}[n%3], headers...))
		if err == nil && p.status != 200 && p.status != 400 && p.status != 502 {
			t.Errorf("got %d %s", p.status, p.body)
		}
	})
	for n := range 40 {
		before := f.hits("")
		for _, out := range [][]string{{"p0"}, {"d1"}, {"p0", "p1", "p2"}, {"d0", "d1", "d2"}, {}} {
			f.without(out...)
		}
		f.workers[fmt.Sprint("p", n%3)].set(reset)
		f.workers[fmt.Sprint("d", n%3)].set(reset)
		eventually(t, "requests arrive", func() bool { return f.hits("") > before+5 })
		for _, id := range []string{fmt.Sprint("p", n%3), fmt.Sprint("d", n%3)} {
			f.workers[id].set(f.good(id))
		}
	}
	stop()
	f.idle()
	f.bound()
}
