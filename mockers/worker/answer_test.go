package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/openai"
)

func TestAnAnswerWithoutStreamIsWholeAndAccountedFor(t *testing.T) {
	b := start(t, Timing{})
	r := b.chat("k1", false, 4)
	a := b.ended(0, ledger.Complete)
	b.accounts(a, r)
	if r.status != 200 || r.err != nil || !strings.Contains(r.body, `"content":"k1 `) || !strings.Contains(r.body, `"completion_tokens":4`) {
		t.Errorf("answer %+v", r)
	}
	if a.Key != "k1" || a.Endpoint != "chat" || a.Model != "mock" || a.Stream || a.Worker != "w0" || a.Incarnation != 1 {
		t.Errorf("attempt %+v", a)
	}
	if want := chat("k1", false, 4); string(a.Body) != want || a.BodyBytes != int64(len(want)) || a.BodySHA256 != digest(want) {
		t.Errorf("request body in the ledger: %q, %d, %s", a.Body, a.BodyBytes, a.BodySHA256)
	}
	if a.HeadersAt < a.Arrived || a.Ended < a.HeadersAt || a.AbortSeen != ledger.Unset || len(a.Events) != 0 {
		t.Errorf("times of attempt %+v", a)
	}
}

func TestAStreamIsEventByEventAndAccountedFor(t *testing.T) {
	b := start(t, Timing{})
	r := b.do("POST", "/v1/completions", `{"prompt":"a b","user":"k1","stream":true,"max_tokens":5,"stream_options":{"include_usage":true}}`)
	a := b.ended(0, ledger.Complete)
	b.accounts(a, r)
	if r.err != nil || !strings.HasSuffix(r.body, "data: [DONE]\n\n") || strings.Count(r.body, "data: ") != 7 || len(a.Events) != 7 {
		t.Errorf("answer %+v with %d events in the ledger", r, len(a.Events))
	}
	if ct := r.header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
		t.Errorf("content type %q", ct)
	}
	if !slices.IsSorted(a.Events) || a.Events[0] < a.HeadersAt || a.Ended < a.Events[6] || !a.Stream || a.Endpoint != "completions" {
		t.Errorf("attempt %+v", a)
	}
}

func TestEveryEventTravelsInAChunkOfItsOwn(t *testing.T) {
	b := start(t, Timing{})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", true, 3), "Connection: close")
	raw, err := io.ReadAll(c.br)
	b.must(err)
	_, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	for n := 0; n < 5; n++ {
		var size int
		if _, err := fmt.Sscanf(body, "%x\r\n", &size); err != nil {
			t.Fatalf("chunk %d: %v in %q", n, err, body)
		}
		_, body, _ = strings.Cut(body, "\r\n")
		if e := body[:size]; !strings.HasPrefix(e, "data: ") || strings.Index(e, "\n\n") != size-2 {
			t.Errorf("chunk %d is not one event: %q", n, e)
		}
		body = body[size+2:]
	}
	if body != "0\r\n\r\n" {
		t.Errorf("after the events: %q", body)
	}
}

func TestAnHTTP10ClientGetsItsStreamToTheEndOfTheConnection(t *testing.T) {
	b := start(t, Timing{})
	c := b.dial()
	body := chat("k", true, 3)
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r := c.recv()
	if r.err != nil || r.status != 200 || !strings.HasSuffix(r.body, "data: [DONE]\n\n") {
		t.Errorf("answer %+v", r)
	}
	b.accounts(b.ended(0, ledger.Complete), r)
}

func TestALargeAnswerIsAccountedFor(t *testing.T) {
	b := start(t, Timing{})
	r := b.chat("k", false, 100_000)
	b.accounts(b.ended(0, ledger.Complete), r)
	if len(r.body) < 3*piece || !json.Valid([]byte(r.body)) {
		t.Errorf("%d bytes, valid %v", len(r.body), json.Valid([]byte(r.body)))
	}
}

func TestResponseHeadersTellWhoAnsweredAndEchoTheRequest(t *testing.T) {
	b := start(t, Timing{})
	for _, path := range []string{"/v1/chat/completions", "/health", "/nowhere"} {
		method := "POST"
		if path == "/health" {
			method = "GET"
		}
		h := b.do(method, path, "{}", "X-Request-Id: r1", "X-Mock-Echo: hello").header
		for name, want := range map[string]string{"x-mock-worker": "w0", "x-mock-incarnation": "1", "x-request-id": "r1", "x-mock-echo": "hello"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q; want %q", path, name, got, want)
			}
		}
	}
	if h := b.do("GET", "/health", "").header; h.Values("x-request-id") != nil || h.Values("x-mock-echo") != nil {
		t.Errorf("headers out of nowhere: %v", h)
	}
}

func TestTheJoinKeyIsTheMarkerElseTheUserElseTheHeader(t *testing.T) {
	b := start(t, Timing{})
	const id = "X-Request-Id: header"
	for i, c := range []struct {
		body string
		key  string
		keys ledger.Keys
	}{
		{`{"user":"user","prompt":"[[rp:marker]]"}`, "marker", ledger.Keys{Header: "header", User: "user", Marker: "marker"}},
		{`{"user":"user","prompt":"x"}`, "user", ledger.Keys{Header: "header", User: "user"}},
		{`{"prompt":"x"}`, "header", ledger.Keys{Header: "header"}},
		{`not json`, "header", ledger.Keys{Header: "header"}},
		{`{"user":"user","model":"none","prompt":"x"}`, "user", ledger.Keys{Header: "header", User: "user"}},
	} {
		b.do("POST", "/v1/completions", c.body, id)
		if a := b.arrived(i); a.Key != c.key || a.Keys != c.keys {
			t.Errorf("%s: key %q, keys %+v", c.body, a.Key, a.Keys)
		}
	}
}

func TestRequestsThatCannotBeServedAreRecordedToo(t *testing.T) {
	b := start(t, Timing{})
	for i, c := range []struct {
		method, path, body, endpoint string
		status                       int
	}{
		{"POST", "/v1/chat/completions", `{`, "chat", 400},
		{"POST", "/v1/chat/completions", `{"model":"mock"}`, "chat", 400},
		{"POST", "/v1/completions", `{"model":"mock"}`, "completions", 400},
		{"POST", "/v1/completions", `{"model":"none","prompt":"a"}`, "completions", 404},
		{"GET", "/v1/completions", ``, "completions", 405},
		{"POST", "/v1/embeddings?x=1", `{}`, "other", 404},
		{"POST", "/health", ``, "other", 404},
	} {
		r := b.do(c.method, c.path, c.body)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		if r.status != c.status || a.Endpoint != c.endpoint || a.Target != c.path || a.Method != c.method || a.Header["Host"][0] != "router.test" {
			t.Errorf("%s %s %s: status %d, attempt %+v", c.method, c.path, c.body, r.status, a)
		}
		var e struct{ Error struct{ Code int } }
		if err := json.Unmarshal([]byte(r.body), &e); err != nil || e.Error.Code != c.status {
			t.Errorf("%s %s: body %q", c.method, c.path, r.body)
		}
	}
}

func TestProbesAreCountedAndNotRecorded(t *testing.T) {
	b := start(t, Timing{})
	for _, path := range []string{"/health", "/v1/models", "/metrics"} {
		if r := b.do("GET", path, ""); r.status != 200 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	if b.w.Probes() != 3 || b.l.Len() != 0 {
		t.Errorf("%d probes, %d attempts; want 3, 0", b.w.Probes(), b.l.Len())
	}
	if r := b.do("GET", "/metrics", ""); !strings.Contains(r.body, `vllm:num_requests_running{model_name="mock"} 0`) {
		t.Errorf("metrics: %s", r.body)
	}
}

func TestABodyOverTheCapIsRefusedAndOneOverTheKeptSizeIsKnownByItsHash(t *testing.T) {
	b := start(t, Timing{})
	big := chat(strings.Repeat("k", 10), false, 2) + strings.Repeat(" ", ledger.KeepBody)
	if r := b.do("POST", "/v1/chat/completions", big); r.status != 200 {
		t.Errorf("status %d: %s", r.status, r.body)
	}
	if a := b.arrived(0); a.Body != nil || a.BodyBytes != int64(len(big)) || a.BodySHA256 != digest(big) {
		t.Errorf("%d body bytes kept, %d said", len(a.Body), a.BodyBytes)
	}
	res, err := http.Post(b.w.URL()+"/v1/chat/completions", "application/json", io.LimitReader(zeros{}, openai.MaxBody+1))
	b.must(err)
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if a := b.ended(1, ledger.Complete); res.StatusCode != 413 || a.Status != 413 {
		t.Errorf("status %d, in the ledger %d; want 413", res.StatusCode, a.Status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestAnswersKeepToTheirTiming(t *testing.T) {
	const ttft, interval = 40 * time.Millisecond, 10 * time.Millisecond
	b := start(t, Timing{TTFT: ttft, Interval: interval, Tokens: 3})
	b.do("POST", "/v1/completions", `{"prompt":"a","stream":true}`)
	a := b.ended(0, ledger.Complete)
	if len(a.Events) != 4 {
		t.Fatalf("%d events; want the 3 tokens of the timing and [DONE]", len(a.Events))
	}
	if d := a.Events[0] - a.HeadersAt; d < ttft {
		t.Errorf("first token %s after the headers; want at least %s", d, ttft)
	}
	if d := a.Events[2] - a.HeadersAt; d < ttft+2*interval {
		t.Errorf("third token %s after the headers; want at least %s", d, ttft+2*interval)
	}
	b.do("POST", "/v1/completions", `{"prompt":"a"}`)
	if a := b.ended(1, ledger.Complete); a.HeadersAt-a.Arrived < ttft+2*interval {
		t.Errorf("a whole answer came %s after its request", a.HeadersAt-a.Arrived)
	}
	b.must(b.w.SetTiming(Timing{Tokens: 1}))
	b.do("POST", "/v1/completions", `{"prompt":"a","stream":true}`)
	if a := b.ended(2, ledger.Complete); len(a.Events) != 2 {
		t.Errorf("%d events after the timing changed; want 2", len(a.Events))
	}
}

func TestEqualRequestsGetEqualBodiesFromDifferentWorkers(t *testing.T) {
	b, c := start(t, Timing{}), start(t, Timing{})
	for _, stream := range []bool{false, true} {
		if x, y := b.chat("k", stream, 6).body, c.chat("k", stream, 6).body; x != y || x == "" {
			t.Errorf("stream %v: %q and %q", stream, x, y)
		}
	}
}

func TestAKeptAliveConnectionServesManyRequests(t *testing.T) {
	b := start(t, Timing{})
	c := b.dial()
	for i := range 20 {
		c.send("POST", "/v1/chat/completions", chat(fmt.Sprint("k", i), i%2 == 0, 3))
		if r := c.recv(); r.status != 200 || r.err != nil || !strings.Contains(r.body, fmt.Sprint("k", i)) {
			t.Fatalf("request %d: %+v", i, r)
		}
	}
}
