package router

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/pins"
)

// ranked answers 200 with the worker's id and the rank it was told, or "-".
func ranked(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, id+"/"+said(r))
	}
}

// said returns the rank that the worker was told, or "-".
func said(r *http.Request) string {
	if told := r.Header[pins.RankHeader]; len(told) > 0 {
		return strings.Join(told, "+")
	}
	return "-"
}

// newRankedRig makes fine workers w0, w1... with these numbers of ranks and a
// router with affinity.
func newRankedRig(t testing.TB, cfg Config, ranks ...int) (*rig, []*upstreamWorker) {
	t.Helper()
	if cfg.IdleTTL == 0 {
		cfg.IdleTTL = time.Minute
	}
	var workers []*upstreamWorker
	var set []discovery.Worker
	for i, n := range ranks {
		id := fmt.Sprint("w", i)
		workers = append(workers, newWorker(t, id, ranked(id)))
		e := workers[i].entry()
		e.Ranks = n
		set = append(set, e)
	}
	return newRig(t, cfg, nil, set...), workers
}

// with sends one request in the session with more headers: name, value, name...
func (r *rig) with(session string, headers ...string) reply {
	r.t.Helper()
	return r.do(r.headed(r.t.Context(), session, headers...))
}

func (r *rig) headed(ctx context.Context, session string, headers ...string) *http.Request {
	req := r.request(ctx, session)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return req
}

// stats counts what the table of sessions holds.
func (r *rig) stats() affinity.Stats { return r.parts.Affinity.(*affinity.Table).Stats() }

func TestKeylessRequestsGoRoundTheWorkersAndTheirRanks(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 2, 0, 3, 1)
	var got []string
	for range 7 {
		got = append(got, r.send("").body)
	}
	if want := "w0/0 w1/- w2/0 w3/- w0/1 w2/1 w2/2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestASessionStaysOnItsRank(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 4, 4)
	homes := map[string]int{}
	for i := range 8 {
		s := fmt.Sprint("s", i)
		home := r.send(s).body
		homes[home]++
		for range 3 {
			r.send("")
			if p := r.send(s); p.body != home {
				t.Fatalf("%s moved from %s to %s", s, home, p.body)
			}
		}
	}
	for _, home := range []string{"w0/0", "w1/3"} {
		if len(homes) < 2 || homes[home] > 4 {
			t.Errorf("sessions live at %v", homes)
		}
	}
}

func TestSessionsSpreadOverRanks(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 2, 2)
	homes := map[string]int{}
	for i := range 8 {
		homes[r.send(fmt.Sprint("s", i)).body]++
	}
	if len(homes) != 4 || homes["w0/0"] != 2 || homes["w1/1"] != 2 {
		t.Errorf("eight sessions live at %v, want two at each rank", homes)
	}
}

func TestAWorkerWithOneRankIsToldNone(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 0, 1)
	for _, session := range []string{"", "", "a", "b", "a", "b"} {
		if p := r.send(session); !strings.HasSuffix(p.body, "/-") {
			t.Errorf("session %q: %s", session, p.body)
		}
	}
	for session, w := range map[string]string{"": "w0", "c": "w1"} { // but who asks for rank 0 gets it
		if p := r.with(session, "x-dynamo-worker-instance-id", w, "x-dynamo-dp-rank", "0"); p.body != w+"/0" {
			t.Errorf("session %q: %s", session, p.body)
		}
	}
}

func TestAChangedNumberOfRanksMovesItsSessions(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 2, 2)
	if p := r.send("s"); p.body != "w0/0" {
		t.Fatalf("s at %s", p.body)
	}
	w0, w1 := workers[0].entry(), workers[1].entry()
	w0.Ranks, w1.Ranks = 4, 2
	if err := r.SetWorkers([]discovery.Worker{w0, w1}); err != nil {
		t.Fatal(err)
	}
	if p := r.send("s"); p.body != "w1/0" { // round robin: w0/0 had the last turn
		t.Errorf("s at %s", p.body)
	}
}

// Load is exact for each rank while requests run, and none is left whatever
// becomes of them.
func TestLoadByRankOnEveryPath(t *testing.T) {
	var started, release = make(chan string, 8), make(chan string)
	r, workers := newRankedRig(t, Config{HeaderTimeout: short}, 2, 0)
	held := func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		started <- said(req)
		select {
		case how := <-release:
			switch how {
			case "200", "400", "500":
				w.WriteHeader(map[string]int{"200": 200, "400": 400, "500": 500}[how])
			case "reset":
				panic(http.ErrAbortHandler)
			case "cut":
				w.WriteHeader(200)
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		case <-req.Context().Done():
		}
	}
	workers[0].set(held)
	for _, how := range []string{"200", "400", "500", "reset", "cut", "timeout", "client gone"} {
		for _, session := range []string{"", "s-" + how} {
			t.Run(how+" "+session, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := r.begin(r.headed(ctx, session, "x-dynamo-worker-instance-id", "w0", "x-dynamo-dp-rank", "1"))
				if told := receive(t, "the request arrives", started); told != "1" {
					t.Errorf("the worker was told %s", told)
				}
				if got := fmt.Sprint(r.InFlightByRank()); got != "map[w0:[0 1] w1:[0]]" {
					t.Errorf("in flight %s", got)
				}
				switch how {
				case "timeout":
				case "client gone":
					cancel()
				default:
					release <- how
				}
				receive(t, "the client has its answer", done)
				r.idle()
			})
		}
	}
}

func TestLeastLoadedSpreadsConcurrentRequestsOverRanks(t *testing.T) {
	seen := make(chan string, 6)
	proceed := make(chan struct{})
	r, workers := newRankedRig(t, Config{Policy: "least-loaded", Seed: 3}, 3, 3)
	for _, w := range workers {
		w.set(func(rw http.ResponseWriter, req *http.Request) {
			seen <- w.id + "/" + said(req)
			<-proceed
		})
	}
	for range 6 {
		r.begin(r.request(t.Context(), ""))
	}
	places := map[string]int{}
	for range 6 {
		places[receive(t, "arrival", seen)]++
	}
	close(proceed)
	if len(places) != 6 || places["w1/2"] != 1 {
		t.Errorf("six requests ran at %v, want one on each of six ranks", places)
	}
	r.idle()
}
