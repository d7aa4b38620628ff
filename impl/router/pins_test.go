package router

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	workerPin = "x-dynamo-worker-instance-id"
	rankPin   = "x-dynamo-dp-rank"
)

func TestAPinIsDispatchedExactly(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"a worker", []string{workerPin, "w1"}, "w1/-"},
		{"a worker by its alias", []string{"x-worker-instance-id", "w1"}, "w1/-"},
		{"a worker and rank", []string{workerPin, "w2", rankPin, "3"}, "w2/3"},
		{"rank 0", []string{workerPin, "w2", rankPin, "0"}, "w2/0"},
		{"a rank by its first alias", []string{workerPin, "w2", "x-dp-rank", "1"}, "w2/1"},
		{"a rank by the worker's own header", []string{workerPin, "w2", "x-data-parallel-rank", "2"}, "w2/2"},
		{"the worker's own header beside another rank", []string{workerPin, "w2", rankPin, "1", "x-data-parallel-rank", "2"}, "w2/1"},
		{"a blank header", []string{workerPin, " ", "x-worker-instance-id", "w1"}, "w1/-"},
		{"prefill fields where there is no prefill", []string{workerPin, "w1", "x-prefill-instance-id", "w2", "x-prefill-dp-rank", "1"}, "w1/-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := newRankedRig(t, Config{}, 0, 1, 4)
			for _, session := range []string{"", "s", "s"} {
				for range 3 {
					if p := r.with(session, c.headers...); p.body != c.want {
						t.Errorf("session %q: %d %s, want %s", session, p.status, p.body, c.want)
					}
				}
			}
			r.send("")
			if p := r.send("s"); p.body != c.want {
				t.Errorf("the session was bound to %s, want %s", p.body, c.want)
			}
			r.idle()
		})
	}
}

func TestAPinToAWorkerOnlyGetsARankForItsSession(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 1, 3)
	seen := map[string]bool{}
	for i := range 3 {
		s := fmt.Sprint("s", i)
		home := r.with(s, workerPin, "w1").body
		seen[home] = true
		for range 3 {
			if pinned, free := r.with(s, workerPin, "w1").body, r.send(s).body; pinned != home || free != home {
				t.Errorf("%s was bound to %s and went to %s and %s", s, home, pinned, free)
			}
		}
	}
	if len(seen) != 3 || !seen["w1/0"] || !seen["w1/1"] || !seen["w1/2"] {
		t.Errorf("three sessions were pinned to %v", seen)
	}
}

func TestABadPinIsRefusedAndTouchesNothing(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 0, 1, 4)
	home := r.with("bound", workerPin, "w2", rankPin, "3").body
	before := workers[0].hits.Load() + workers[1].hits.Load() + workers[2].hits.Load()
	for _, c := range []struct {
		name    string
		headers []string
	}{
		{"an unknown worker", []string{workerPin, "w9"}},
		{"a worker in another case", []string{workerPin, "W1"}},
		{"a router's own name for a worker", []string{workerPin, "w1#2"}},
		{"a bad worker before a good alias", []string{workerPin, "w9", "x-worker-instance-id", "w1"}},
		{"a rank out of range", []string{workerPin, "w2", rankPin, "4"}},
		{"a rank of a worker with one", []string{workerPin, "w1", rankPin, "1"}},
		{"a rank of a worker without", []string{workerPin, "w0", rankPin, "1"}},
		{"the largest rank", []string{workerPin, "w2", rankPin, "4294967295"}},
		{"a rank too large for any", []string{workerPin, "w2", rankPin, "4294967296"}},
		{"a negative rank", []string{workerPin, "w2", rankPin, "-1"}},
		{"no number", []string{workerPin, "w2", rankPin, "one"}},
		{"a fraction", []string{workerPin, "w2", rankPin, "1.5"}},
		{"a bad rank before a good alias", []string{workerPin, "w2", rankPin, "x", "x-dp-rank", "3"}},
		{"a rank alone", []string{rankPin, "0"}},
		{"the worker's own rank header alone", []string{"x-data-parallel-rank", "0"}},
		{"a rank beside a blank worker", []string{workerPin, " ", rankPin, "0"}},
		{"a rank beside a prefill worker", []string{"x-prefill-instance-id", "w2", rankPin, "0"}},
		{"a prefill rank alone", []string{"x-dynamo-prefill-dp-rank", "0"}},
		{"a bad prefill rank", []string{"x-dynamo-prefill-instance-id", "w2", "x-dynamo-prefill-dp-rank", "x"}},
		{"an unknown prefill worker", []string{"x-dynamo-prefill-instance-id", "w9"}},
		{"a prefill rank out of range", []string{workerPin, "w2", "x-prefill-dp-rank", "4"}},
	} {
		for _, session := range []string{"", "new", "bound"} {
			for _, query := range []string{"", "target"} {
				p := r.with(session, append(c.headers, QueryHeader, query)...)
				if p.status != 400 || p.code() != "invalid_argument" {
					t.Errorf("%s, session %q, query %q: got %d %s", c.name, session, query, p.status, p.body)
				}
			}
		}
	}
	if n := workers[0].hits.Load() + workers[1].hits.Load() + workers[2].hits.Load(); n != before {
		t.Errorf("%d requests were dispatched", n-before)
	}
	if s := r.stats(); s.Sessions != 1 || s.Bound != 1 || s.Leases != 0 {
		t.Errorf("the table holds %+v", s)
	}
	if p := r.send("bound"); p.body != home {
		t.Errorf("the binding moved from %s to %s", home, p.body)
	}
	r.idle()
}

func TestPinHeadersAreMeantForTheRouter(t *testing.T) {
	var got http.Header
	w := newWorker(t, "w0", func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	r := newRig(t, Config{}, nil, w.entry())
	r.with("", workerPin, "w0", "x-worker-instance-id", "w0", rankPin, "0", "x-dp-rank", "7", "x-data-parallel-rank", "8",
		"x-dynamo-prefill-instance-id", "w0", "x-prefill-instance-id", "w0", "x-dynamo-prefill-dp-rank", "0", "x-prefill-dp-rank", "0",
		QueryHeader, "", "x-dynamo-session-id", "s", "x-dynamo-session-final", "true", "x-dynamo-parent-session-id", "p")
	for name, values := range got {
		switch {
		case name == "X-Data-Parallel-Rank" && strings.Join(values, "+") == "0":
		case strings.HasSuffix(name, "-Rank"), strings.HasSuffix(name, "-Instance-Id"), name == QueryHeader:
			t.Errorf("the worker saw %s: %q", name, values)
		}
	}
	if got.Get("x-data-parallel-rank") != "0" || got.Get("x-dynamo-session-id") != "s" || got.Get("x-dynamo-parent-session-id") != "p" {
		t.Errorf("the worker saw %v", got)
	}
}

func TestAPinnedRequestThatFailsGoesNowhereElse(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		status int
		stays  bool // a session bound there stays
	}{
		{"reset", reset, 502, false},
		{"no headers in time", hang, 504, false},
		{"429", status(429), 429, true},
		{"503", status(503), 503, true},
		{"500", status(500), 500, false},
		{"400", status(400), 400, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, workers := newRankedRig(t, Config{HeaderTimeout: short}, 0, 0)
			r.with("bound", workerPin, "w0")
			workers[0].set(c.handle)
			for _, session := range []string{"", "new", "bound"} {
				if p := r.with(session, workerPin, "w0"); p.status != c.status {
					t.Errorf("session %q: got %d %s, want %d", session, p.status, p.body, c.status)
				}
			}
			if n, m := workers[0].hits.Load(), workers[1].hits.Load(); n != 4 || m != 0 {
				t.Errorf("the pinned worker got %d requests and the other one %d, want 4 and 0", n, m)
			}
			workers[0].set(ranked("w0"))
			s := r.stats()
			if want := map[bool]int{true: 1, false: 0}[c.stays]; s.Sessions != want || s.Leases != 0 {
				t.Errorf("the table holds %+v, want %d sessions", s, want)
			}
			r.idle()
		})
	}
}

func TestAPinAgainstABinding(t *testing.T) {
	for _, c := range []struct {
		name    string
		bind    []string
		ask     []string
		status  int
		landed  string // of the pinned request
		remains string // of the next one without a pin
	}{
		{"the same", []string{workerPin, "w1", rankPin, "1"}, []string{workerPin, "w1", rankPin, "1"}, 200, "w1/1", "w1/1"},
		{"no rank is filled by the binding's", []string{workerPin, "w1", rankPin, "1"}, []string{workerPin, "w1"}, 200, "w1/1", "w1/1"},
		{"another rank", []string{workerPin, "w1", rankPin, "1"}, []string{workerPin, "w1", rankPin, "0"}, 400, "", "w1/1"},
		{"another worker", []string{workerPin, "w1", rankPin, "1"}, []string{workerPin, "w0", rankPin, "1"}, 400, "", "w1/1"},
		{"another worker without rank", []string{workerPin, "w1", rankPin, "1"}, []string{workerPin, "w0"}, 400, "", "w1/1"},
		{"a rank that the binding lacks", []string{workerPin, "w2"}, []string{workerPin, "w2", rankPin, "0"}, 400, "", "w2/-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := newRankedRig(t, Config{}, 2, 2, 1)
			r.with("s", c.bind...)
			if p := r.with("s", c.ask...); p.status != c.status || c.status == 200 && p.body != c.landed || c.status == 400 && p.code() != "invalid_argument" {
				t.Errorf("the pinned request: %d %s", p.status, p.body)
			}
			if p := r.send("s"); p.body != c.remains {
				t.Errorf("the session is at %s, want %s", p.body, c.remains)
			}
		})
	}
}

func TestAPinToALiveWorkerEndsADeadBinding(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 0, 2, 2)
	r.with("s", workerPin, "w0")
	w1, w2 := workers[1].entry(), workers[2].entry()
	w1.Ranks, w2.Ranks = 2, 2
	if err := r.SetWorkers([]discovery.Worker{w1, w2}); err != nil {
		t.Fatal(err)
	}
	if p := r.with("s", workerPin, "w0"); p.status != 400 {
		t.Errorf("a pin to the dead worker: %d %s", p.status, p.body)
	}
	if p := r.with("s", workerPin, "w2", rankPin, "1"); p.body != "w2/1" {
		t.Fatalf("the pin got %d %s", p.status, p.body)
	}
	if p := r.send("s"); p.body != "w2/1" {
		t.Errorf("the session is at %s", p.body)
	}
	if p := r.with("s", workerPin, "w1"); p.status != 400 {
		t.Errorf("contradicting the new binding: %d %s", p.status, p.body)
	}
}

func TestConcurrentPinsOfANewSession(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 2, 2)
	var wg sync.WaitGroup
	answers := make([]string, 24)
	for i := range answers {
		wg.Go(func() {
			p, err := r.try(r.headed(t.Context(), "s", workerPin, fmt.Sprint("w", i%2), rankPin, fmt.Sprint(i/2%2)))
			if err != nil {
				t.Error(err)
			}
			if p.status == 200 {
				answers[i] = p.body
			} else if p.status != 400 {
				t.Errorf("got %d %s", p.status, p.body)
			}
		})
	}
	wg.Wait()
	home, n := r.send("s").body, 0
	for i, a := range answers {
		if a == "" {
			continue
		}
		if n++; a != home || a != fmt.Sprintf("w%d/%d", i%2, i/2%2) {
			t.Errorf("request %d went to %s, the session lives at %s", i, a, home)
		}
	}
	if n != 6 {
		t.Errorf("%d of 6 pins of the home were served", n)
	}
}

func TestPinsWhileWorkersComeAndGo(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 0, 2)
	w0, w1 := workers[0].entry(), workers[1].entry()
	w1.Ranks = 2
	stop := untilStopped(4, func(i, n int) {
		session := [...]string{"", fmt.Sprint("s", i), fmt.Sprint("t", n%7)}[n%3]
		p, err := r.try(r.headed(t.Context(), session, workerPin, "w1", rankPin, "1"))
		if err != nil || p.status != 400 && p.body != "w1/1" {
			t.Errorf("got %d %s, %v", p.status, p.body, err)
		}
	})
	for range 60 {
		before := workers[1].hits.Load()
		for _, set := range [][]discovery.Worker{{w0}, {w0, w1}} {
			if err := r.SetWorkers(set); err != nil {
				t.Error(err)
			}
		}
		eventually(t, "pinned requests are served again", func() bool { return workers[1].hits.Load() > before+3 })
	}
	stop()
	r.idle()
	if s := r.stats(); s.Leases != 0 || s.Initializing != 0 {
		t.Errorf("the table holds %+v", s)
	}
}

// stray is a coordinator whose leases are meant for a worker that nobody goes to.
type stray struct{ affinity.Coordinator }

func (c stray) Acquire(ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
	a.Pin = affinity.Target{Worker: "elsewhere"}
	return c.Coordinator.Acquire(ctx, a)
}

func TestARequestThatWentElsewhereThanItHadToIsCancelled(t *testing.T) {
	gone := make(chan struct{}, 1)
	w := newWorker(t, "w0", func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
		gone <- struct{}{}
	})
	r := newRig(t, Config{IdleTTL: time.Minute}, func(p *Parts) { p.Affinity = stray{p.Affinity} }, w.entry())
	if p := r.send("s"); p.status != 500 || p.code() != "internal" {
		t.Errorf("got %d %s", p.status, p.body)
	}
	receive(t, "the worker is freed", gone)
	r.idle()
}
