package router

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

func TestASessionStaysOnOneWorkerOnEveryPath(t *testing.T) {
	r, _ := newAffineRig(t, Config{}, 4)
	home := r.send("s").body
	for i := range 12 {
		req := r.request(t.Context(), "s")
		req.URL.Path = [...]string{"/v1/chat/completions", "/v1/completions", "/v1/embeddings"}[i%3]
		if p := r.do(req); p.body != home {
			t.Fatalf("turn %d went to %s, want %s", i, p.body, home)
		}
		r.send("") // keyless traffic moves the policy on
	}
}

func TestSessionsSpreadAndKeylessRequestsDoToo(t *testing.T) {
	r, _ := newAffineRig(t, Config{Policy: "least-loaded", Seed: 5}, 3)
	for name, session := range map[string]func(int) string{
		"sessions": func(i int) string { return fmt.Sprint("s", i) }, "keyless": func(int) string { return "" },
	} {
		counts := map[string]int{}
		for i := range 60 {
			counts[r.send(session(i)).body]++
		}
		if len(counts) != 3 {
			t.Errorf("%s went to %v, want all three workers", name, counts)
		}
	}
}

func TestWithAffinityOffSessionHeadersMeanNothing(t *testing.T) {
	a, b := newWorker(t, "a", fine("a")), newWorker(t, "b", fine("b"))
	r := newRig(t, Config{}, nil, a.entry(), b.entry())
	for range 10 {
		r.send("s")
	}
	if a.hits.Load() != 5 || b.hits.Load() != 5 {
		t.Errorf("a got %d, b got %d, want 5 each", a.hits.Load(), b.hits.Load())
	}
	if p := r.send(strings.Repeat("s", 5000)); p.status != 200 {
		t.Errorf("a long id is harmless without affinity, but got %d", p.status)
	}
}

func TestConcurrentFirstRequestsOfASessionShareOneWorker(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 4)
	for _, w := range workers {
		w.set(func(rw http.ResponseWriter, req *http.Request) {
			time.Sleep(20 * time.Millisecond) // give the others time to wait
			fine(w.id)(rw, req)
		})
	}
	var wg sync.WaitGroup
	bodies := make([]string, 24)
	for i := range bodies {
		wg.Go(func() {
			p, err := r.try(r.request(t.Context(), "s"))
			if err != nil {
				t.Error(err)
			}
			bodies[i] = p.body
		})
	}
	wg.Wait()
	for _, b := range bodies {
		if b != bodies[0] {
			t.Fatalf("one session went to several workers: %v", bodies)
		}
	}
}

func TestAnswersThatDoNotBindANewSession(t *testing.T) {
	for _, code := range []int{302, 400, 404, 429, 500, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			r, workers := newAffineRig(t, Config{}, 2)
			workers[0].set(status(code)) // round robin begins with it
			if p := r.send("s"); p.status != code {
				t.Fatalf("got %d, want %d passed on", p.status, code)
			}
			if p := r.send("s"); p.body != "w1" {
				t.Errorf("the session was bound by a %d", code)
			}
		})
	}
}

func TestWhatABoundWorkersAnswerDoesToTheBinding(t *testing.T) {
	for _, c := range []struct {
		status int
		stays  bool
	}{{400, true}, {404, true}, {429, true}, {503, true}, {500, false}, {502, false}, {504, false}} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			r, workers := newAffineRig(t, Config{}, 3)
			r.send("s")
			workers[0].set(status(c.status))
			if p := r.send("s"); p.status != c.status {
				t.Fatalf("got %d, want %d passed on", p.status, c.status)
			}
			if n := workers[1].hits.Load() + workers[2].hits.Load(); n != 0 {
				t.Fatalf("a %d was tried elsewhere", c.status)
			}
			workers[0].set(fine("w0"))
			if p := r.send("s"); (p.body == "w0") != c.stays {
				t.Errorf("after a %d the session went to %s", c.status, p.body)
			}
		})
	}
}

func TestAFailingBoundWorkerIsReplacedUnseenByTheClientAndForGood(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{"reset before headers": reset, "no headers in time": hang} {
		t.Run(name, func(t *testing.T) {
			r, workers := newAffineRig(t, Config{HeaderTimeout: short}, 3)
			r.send("s")
			workers[0].set(fail)
			p := r.send("s")
			if p.status != 200 || p.body == "w0" {
				t.Fatalf("got %d from %q, want 200 from another worker", p.status, p.body)
			}
			workers[0].set(fine("w0"))
			for range 4 {
				if again := r.send("s"); again.body != p.body {
					t.Errorf("the session went on to %s after moving to %s", again.body, p.body)
				}
			}
			if n := workers[0].hits.Load(); n != 2 {
				t.Errorf("the failed worker got %d requests, want 2", n)
			}
		})
	}
}

func TestAFailureMovesNoOtherSession(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	r.send("a") // w0
	r.send("b") // w1
	r.send("c") // w0
	workers[0].set(reset)
	if p := r.send("a"); p.body != "w1" {
		t.Fatalf("a went to %s", p.body)
	}
	workers[0].set(fine("w0"))
	if p := r.send("c"); p.body != "w0" { // at once, while fresh picks avoid w0
		t.Errorf("c moved to %s", p.body)
	}
}

func TestASessionWhoseWorkerLeftMovesAndStaysAwayFromItsNextLife(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	r.send("s")
	r.send("other") // w1
	if err := r.SetWorkers([]discovery.Worker{workers[1].entry()}); err != nil {
		t.Fatal(err)
	}
	if p := r.send("s"); p.body != "w1" {
		t.Fatalf("s went to %s", p.body)
	}
	if err := r.SetWorkers([]discovery.Worker{workers[0].entry(), workers[1].entry()}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s, other := r.send("s").body, r.send("other").body; s != "w1" || other != "w1" {
			t.Errorf("after w0 came back s went to %s and other to %s", s, other)
		}
	}
}

func TestASessionMovesWhenItsWorkerNoLongerServesTheModel(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	r.send("s")     // w0
	r.send("other") // w1
	other := workers[0].entry()
	other.Models = []string{"another"}
	if err := r.SetWorkers([]discovery.Worker{other, workers[1].entry()}); err != nil {
		t.Fatal(err)
	}
	if p := r.send("s"); p.status != 200 || p.body != "w1" {
		t.Errorf("s got %+v, want w1", p)
	}
}

func TestABindingEndsWithItsWorkerEvenIfNobodyTurnsUp(t *testing.T) {
	r, workers := newAffineRig(t, Config{Capacity: 1}, 2)
	r.send("s") // w0
	if p := r.send("new"); p.status != 503 {
		t.Fatalf("got %d at capacity, want 503", p.status)
	}
	if err := r.SetWorkers([]discovery.Worker{workers[1].entry()}); err != nil {
		t.Fatal(err)
	}
	if p := r.send("new"); p.status != 200 {
		t.Errorf("a session of a worker that has left keeps its place: got %+v", p)
	}
}

func TestGrowingTheFleetMovesNoSession(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	home := map[string]string{}
	for i := range 20 {
		s := fmt.Sprint("s", i)
		home[s] = r.send(s).body
	}
	set := []discovery.Worker{newWorker(t, "w2", fine("w2")).entry(), workers[1].entry(), workers[0].entry()}
	if err := r.SetWorkers(set); err != nil {
		t.Fatal(err)
	}
	for s, want := range home {
		if p := r.send(s); p.body != want {
			t.Errorf("%s moved from %s to %s", s, want, p.body)
		}
	}
	if p := r.send("new"); p.body != "w2" {
		t.Errorf("the newcomer's turn went to %s", p.body)
	}
}

func TestABindingEndsAfterItsIdleTime(t *testing.T) {
	r, _ := newAffineRig(t, Config{IdleTTL: time.Second}, 2)
	if p := r.send("s"); p.body != "w0" {
		t.Fatalf("first turn on %s", p.body)
	}
	time.Sleep(1100 * time.Millisecond)
	if p := r.send("s"); p.body != "w1" {
		t.Errorf("the expired session went to %s, want the policy's next, w1", p.body)
	}
}

func TestAtCapacity(t *testing.T) {
	for _, c := range []struct {
		mode   AtCapacity
		status int
		held   bool // the first session keeps its binding
	}{{Refuse, 503, true}, {Unpinned, 200, true}, {Evict, 200, false}} {
		t.Run(string(c.mode), func(t *testing.T) {
			r, _ := newAffineRig(t, Config{Capacity: 1, AtCapacity: c.mode}, 3)
			r.send("s") // w0
			p := r.send("new")
			if p.status != c.status {
				t.Fatalf("got %d, want %d", p.status, c.status)
			}
			if c.status == 503 && (p.code() != "resource_exhausted" || p.header.Get("Retry-After") != "1") {
				t.Errorf("got %+v", p)
			}
			if p := r.send("s"); (p.body == "w0") != c.held {
				t.Errorf("the first session went to %s", p.body)
			}
		})
	}
}

func TestAClientThatLeavesUnbindsNothingAndBindsNothing(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	h := newHanger()
	leave := func(session string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		workers[0].set(h.ServeHTTP)
		sent := r.begin(r.request(ctx, session))
		receive(t, "the request arrives", h.arrived)
		cancel()
		if p := receive(t, "the client leaves", sent); p.err == nil {
			t.Error("a request that was never answered succeeded")
		}
		r.idle()
		workers[0].set(fine("w0"))
	}
	leave("new") // w0's turn: nothing is bound
	if p := r.send("new"); p.body != "w1" {
		t.Errorf("a cancelled first request bound its session: next turn on %s", p.body)
	}
	if p := r.send("s"); p.body != "w0" {
		t.Fatalf("s on %s", p.body)
	}
	leave("s")
	if p := r.send("s"); p.body != "w0" {
		t.Errorf("a cancelled request unbound its session: next turn on %s", p.body)
	}
	if p := r.send(""); p.body != "w1" {
		t.Fatalf("keyless on %s", p.body)
	}
	if p := r.send(""); p.body != "w0" {
		t.Errorf("a client that left made its worker avoided: keyless on %s", p.body)
	}
}

func TestWhenTheFirstRequestsClientLeavesAWaiterTakesOver(t *testing.T) {
	r, workers := newAffineRig(t, Config{}, 2)
	h := newHanger()
	workers[0].set(h.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := r.begin(r.request(ctx, "s"))
	receive(t, "the first request arrives", h.arrived)
	second := r.begin(r.request(t.Context(), "s"))
	select {
	case p := <-second:
		t.Fatalf("the second request did not wait but got %+v", p)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	if p := receive(t, "the first client leaves", first); p.err == nil {
		t.Error("the first request succeeded")
	}
	if p := receive(t, "the waiter takes over", second); p.body != "w1" {
		t.Errorf("the waiter got %+v", p)
	}
}

func TestWaitingBehindAFirstRequestEndsWith503(t *testing.T) {
	r, workers := newAffineRig(t, Config{InitWait: 50 * time.Millisecond}, 1)
	arrived := make(chan struct{}, 1)
	release := make(chan struct{})
	workers[0].set(func(w http.ResponseWriter, req *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	r.begin(r.request(t.Context(), "s"))
	receive(t, "the first request arrives", arrived)
	p := r.send("s")
	close(release)
	if p.status != 503 || p.code() != "init_wait_exceeded" || p.header.Get("Retry-After") != "1" {
		t.Errorf("got %+v", p)
	}
	r.idle()
}
