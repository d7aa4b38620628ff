package router

import (
	"io"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/impl/affinity"
)

// one is the numbers of ranks of n workers that have one.
func one(n int) []int { return make([]int, n) }

const (
	prefillPin     = "x-dynamo-prefill-instance-id"
	prefillRankPin = "x-dynamo-prefill-dp-rank"
)

func TestARequestRunsInTwoPhases(t *testing.T) {
	f := newFloor(t, Config{}, one(2), one(2), nil)
	f.want("", "d0/- after p0/-")
	f.want("", "d1/- after p1/-")
	req := f.headed(t.Context(), "", "X-Request-Id", "mine", "Authorization", "Bearer k", "Accept-Encoding", "gzip")
	req.URL.Path = "/v1/completions"
	const sent = `{ "model":"m","temperature":0.70 ,"max_tokens": 50,"stream":true,"stream_options":{},"seed":12345678901234567890 }`
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(sent)), int64(len(sent))
	if p := f.do(req); p.body != "d0/- after p0/-" {
		t.Fatalf("got %d %s", p.status, p.body)
	}
	body, header := f.seen("d0")
	if !strings.HasPrefix(body, strings.TrimSuffix(sent, " }")+`,"kv_transfer_params":{"do_remote_prefill":true,`) || !strings.HasSuffix(body, `"big":12345678901234567890} }`) {
		t.Errorf("decode got %s", body)
	}
	if header.Get("X-Request-Id") != "mine" || header.Get("Authorization") != "Bearer k" || header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("decode got %v", header)
	}
	body, header = f.seen("p0")
	if !strings.HasPrefix(body, `{ "model":"m","temperature":0.70 ,"max_tokens": 1,"stream":false,"seed":12345678901234567890,"kv_transfer_params":`) {
		t.Errorf("prefill got %s", body)
	}
	if header.Get("X-Request-Id") != "mine" || header.Get("Authorization") != "Bearer k" || header.Get("Accept-Encoding") != "" {
		t.Errorf("prefill got %v", header)
	}
	f.idle()
}

func TestBothPhasesHaveOneRequestID(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), one(1))
	ids := map[string]bool{}
	for range 3 {
		f.want("", "d0/- after p0/-")
		_, p := f.seen("p0")
		_, d := f.seen("d0")
		if p.Get("X-Request-Id") == "" || p.Get("X-Request-Id") != d.Get("X-Request-Id") {
			t.Errorf("prefill got %q, decode %q", p["X-Request-Id"], d["X-Request-Id"])
		}
		ids[d.Get("X-Request-Id")] = true
	}
	if len(ids) != 3 {
		t.Errorf("three requests had %d ids", len(ids))
	}
	f.want("", "a0/-", workerPin, "a0")
	if _, a := f.seen("a0"); a["X-Request-Id"] != nil {
		t.Errorf("a request in one phase was given the id %q", a["X-Request-Id"])
	}
}

func TestEachPhaseHasItsOwnBinding(t *testing.T) {
	f := newFloor(t, Config{}, []int{2, 2, 2}, []int{2, 2}, nil)
	f.want("s", "d0/0 after p0/0")
	f.want("t", "d1/0 after p1/0")
	for range 3 {
		f.send("")
		f.want("s", "d0/0 after p0/0")
		f.want("t", "d1/0 after p1/0")
	}
	f.without("p0")
	moved := f.send("s").body
	if !strings.HasPrefix(moved, "d0/0 after p") || strings.Contains(moved, "p0") {
		t.Fatalf("when its prefill worker had left, s went to %s", moved)
	}
	f.want("t", "d1/0 after p1/0")
	f.without("p0", "d1")
	f.want("s", moved)
	if p := f.send("t"); p.body != "d0/0 after p1/0" && p.body != "d0/1 after p1/0" {
		t.Errorf("when its decode worker had left, t went to %s", p.body)
	}
	f.idle()
	for _, c := range []affinity.Coordinator{f.parts.Affinity, f.parts.Prefill.Affinity} {
		if s := c.(*affinity.Table).Stats(); s.Bound != 2 || s.Leases != 0 {
			t.Errorf("a table holds %+v", s)
		}
	}
}

func TestEachPhaseObeysItsOwnPins(t *testing.T) {
	f := newFloor(t, Config{}, []int{4, 4}, []int{4, 4}, nil)
	f.want("", "d1/3 after p1/2", workerPin, "d1", rankPin, "3", prefillPin, "p1", prefillRankPin, "2")
	f.want("", "d1/0 after p1/1", workerPin, "d1", "x-data-parallel-rank", "0", "x-prefill-instance-id", "p1", "x-prefill-dp-rank", "1")
	for range 4 { // the decode rank does not leak, nor does the worker's name
		if p := f.with("", workerPin, "d1", rankPin, "3"); !strings.HasPrefix(p.body, "d1/3 after p") {
			t.Errorf("got %d %s", p.status, p.body)
		}
	}
	seen := map[string]bool{}
	for range 8 {
		p := f.with("", workerPin, "d0", rankPin, "1")
		seen[strings.TrimPrefix(p.body, "d0/1 after ")] = true
	}
	if len(seen) != 8 {
		t.Errorf("beside a pinned decode rank, prefill went to %v, want every rank once", seen)
	}
	f.want("s", "d0/2 after p0/1", workerPin, "d0", rankPin, "2", prefillPin, "p0", prefillRankPin, "1")
	f.want("s", "d0/2 after p0/1")
	f.want("s", "d0/2 after p0/1", prefillPin, "p0")
	f.idle()
}

func TestABadPinInEitherPhaseTouchesNothing(t *testing.T) {
	f := newFloor(t, Config{}, []int{2, 2}, []int{2, 2}, one(1))
	f.want("s", "d0/0 after p0/0", workerPin, "d0", rankPin, "0", prefillPin, "p0", prefillRankPin, "0")
	before := f.hits("")
	for _, headers := range [][]string{
		{workerPin, "p1"},                                 // prefill workers answer nobody
		{prefillPin, "d1"},                                // and decode workers do no prefill
		{prefillPin, "a0"},                                // nor do those that do everything
		{prefillPin, "x"},                                 //
		{prefillPin, "p1", prefillRankPin, "2"},           //
		{prefillPin, "p1", rankPin, "0"},                  // a rank of no phase's worker
		{prefillRankPin, "0"},                             //
		{workerPin, "d0", prefillRankPin, "0"},            // the worker of the other phase is no stand-in
		{prefillPin, "p0", prefillRankPin, "-1"},          //
		{workerPin, "d0", rankPin, "2", prefillPin, "p0"}, //
	} {
		for _, session := range []string{"", "new", "s"} {
			f.refused(session, 400, "invalid_argument", headers...)
			f.refused(session, 400, "invalid_argument", append(headers, QueryHeader, QueryTarget)...)
		}
	}
	for _, headers := range [][]string{{prefillPin, "p1"}, {prefillPin, "p0", prefillRankPin, "1"}, {workerPin, "d1"}, {workerPin, "d0", rankPin, "1", prefillPin, "p0"}} {
		f.refused("s", 400, "invalid_argument", headers...)
	}
	if n := f.hits("") - before; n != 0 {
		t.Errorf("%d requests were dispatched", n)
	}
	for _, c := range []affinity.Coordinator{f.parts.Affinity, f.parts.Prefill.Affinity} {
		if s := c.(*affinity.Table).Stats(); s.Sessions != 1 || s.Bound != 1 || s.Leases != 0 {
			t.Errorf("a table holds %+v", s)
		}
	}
	f.want("s", "d0/0 after p0/0")
	f.idle()
}

func TestWhoServesWithoutBothRoles(t *testing.T) {
	for _, c := range []struct {
		name               string
		prefill, decode, a []int
		want               []string
	}{
		{"decode workers alone do everything", nil, one(1), nil, []string{"d0/-", "d0/-"}},
		{"so do they beside aggregated ones", nil, one(1), one(1), []string{"d0/-", "a0/-", "d0/-"}},
		{"prefill workers leave it to aggregated ones", one(2), nil, one(1), []string{"a0/-", "a0/-"}},
		{"where both roles are, aggregated ones wait", one(1), one(1), one(1), []string{"d0/- after p0/-", "d0/- after p0/-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFloor(t, Config{}, c.prefill, c.decode, c.a)
			for _, want := range c.want {
				f.want("", want)
			}
			if body, _ := f.seen("d0"); c.want[0] == "d0/-" && body != chat {
				t.Errorf("a request in one phase came as %s", body)
			}
		})
	}
	f := newFloor(t, Config{}, one(2), nil, nil)
	f.refused("", 503, "unavailable")
	f.refused("s", 503, "unavailable")
	f.refused("s", 503, "unavailable", QueryHeader, QueryTarget)
	if f.hits("") != 0 {
		t.Error("a prefill worker was to answer a client")
	}
	if p := f.send("s"); p.header.Get("Retry-After") != "1" {
		t.Errorf("got %+v", p)
	}
}

func TestOtherEndpointsRunInOnePhase(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), nil)
	req := f.headed(t.Context(), "s")
	req.URL.Path = "/v1/embeddings"
	if p := f.do(req); p.body != "d0/-" || f.hits("p") != 0 {
		t.Errorf("got %d %s, %d requests for prefill", p.status, p.body, f.hits("p"))
	}
}

func TestASessionAtAnAggregatedWorkerStaysThereInOnePhase(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), one(1))
	f.without("p0", "d0")
	f.want("s", "a0/-")
	f.without()
	f.want("s", "a0/-")
	f.want("new", "d0/- after p0/-")
	f.want("pinned", "a0/-", workerPin, "a0")
	f.want("pinned", "a0/-")
	f.without("p0")
	f.want("new", "d0/-")
	if n := f.hits("p"); n != 1 {
		t.Errorf("%d requests for prefill, want 1", n)
	}
}

func TestAQueryNamesBothPhases(t *testing.T) {
	f := newFloor(t, Config{Policy: "random", Seed: 5}, []int{4, 4}, []int{4, 4}, one(1))
	ask := func(session, path, want string, headers ...string) {
		t.Helper()
		req := f.headed(t.Context(), session, append(headers, QueryHeader, QueryTarget)...)
		req.URL.Path = path
		if p := f.do(req); p.status != 200 || p.body != want {
			t.Errorf("got %d %s, want %s", p.status, p.body, want)
		}
	}
	var said []string
	for range 10 {
		p := f.with("", QueryHeader, QueryTarget)
		got := f.send("").body // d1/2 after p0/3
		d, p0, _ := strings.Cut(got, " after ")
		want := `{"worker":"` + d[:2] + `","rank":` + d[3:] + `,"bound":false,"prefill":{"worker":"` + p0[:2] + `","rank":` + p0[3:] + `,"bound":false}}`
		if p.body != want {
			t.Errorf("asked, it said %s; the request went to %s", p.body, got)
		}
		said = append(said, got)
	}
	if strings.Join(said, "") == strings.Repeat(said[0], 10) {
		t.Error("ten requests went to one place")
	}
	f.with("s", workerPin, "d0", rankPin, "2", prefillPin, "p1", prefillRankPin, "0")
	const bound = `{"worker":"d0","rank":2,"bound":true,"prefill":{"worker":"p1","rank":0,"bound":true}}`
	ask("s", "/v1/completions", bound)
	ask("s", "/v1/chat/completions", bound, prefillPin, "p1")
	ask("s", "/v1/embeddings", `{"worker":"d0","rank":2,"bound":true}`)
	ask("new", "/v1/completions", `{"worker":"a0","bound":false}`, workerPin, "a0")
	f.without("p1", "d0", "p0")
	ask("s", "/v1/completions", `{"worker":"a0","bound":false}`, workerPin, "a0")
	if f.hits("a") != 0 {
		t.Error("a query was dispatched")
	}
}
