package router

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRequestsReachTheWorkerByteForByte(t *testing.T) {
	var method, uri string
	var header http.Header
	var body []byte
	w := newWorker(t, "w0", func(_ http.ResponseWriter, r *http.Request) {
		method, uri, header = r.Method, r.RequestURI, r.Header
		body, _ = io.ReadAll(r.Body)
	})
	r := newRig(t, Config{}, nil, w.entry())
	sent := "{ \"model\" :\t\"m\", \"x\":\"é\\u0000\" }\n"
	const target = `/v1/a%2Fb//c"d/..;x?q=1&q=%20+&&z=?`
	c, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, "PUT "+target+" HTTP/1.1\r\nHost: me\r\nAuthorization: Bearer secret\r\nX-Unknown: 1\r\nX-Unknown: 2\r\n"+
		"Connection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n")
	for i := range len(sent) {
		_, _ = io.WriteString(c, "1\r\n"+sent[i:i+1]+"\r\n")
	}
	_, _ = io.WriteString(c, "0\r\n\r\n")
	answer, err := io.ReadAll(c)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 200 OK\r\n")) {
		t.Fatalf("answer %q, error %v", answer, err)
	}
	if method != "PUT" || uri != target || string(body) != sent {
		t.Errorf("the worker saw %s %s %q\nwant PUT %s %q", method, uri, body, target, sent)
	}
	delete(header, "Content-Length")
	want := http.Header{
		"Authorization": {"Bearer secret"}, "X-Unknown": {"1", "2"}, "Content-Type": {"application/json; charset=utf-8"},
	}
	for name, values := range header {
		if !slices.Equal(values, want[name]) {
			t.Errorf("the worker saw %s: %q, want %q", name, values, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("the worker did not see %s", name)
	}
}

func TestResponsesReachTheClientByteForByte(t *testing.T) {
	body := bytes.Repeat([]byte("\x00\xff0123456789abcdef\r\n"), 10000)
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		status int
		body   []byte
		want   http.Header
	}{
		{"a whole body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Many"] = []string{"a", "b"}
			w.Header().Set("Connection", "X-Hop")
			w.Header().Set("X-Hop", "1")
			w.Header().Set("Content-Encoding", "made-up")
			w.WriteHeader(201)
			_, _ = w.Write(body)
		}, 201, body, http.Header{"X-Many": {"a", "b"}, "X-Hop": nil, "Content-Encoding": {"made-up"}}},
		{"no content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
			_, _ = io.WriteString(w, "<html>")
		}, 200, []byte("<html>"), http.Header{"Content-Type": nil, "Date": nil, "Content-Length": {"6"}}},
		{"nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, nil, http.Header{"Content-Length": nil}},
		{"trailers", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			w.Header().Set(http.TrailerPrefix+"X-Sum", "7")
		}, 200, []byte("x"), nil},
		{"an error of the worker's own", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(429)
			_, _ = io.WriteString(w, "busy")
		}, 429, []byte("busy"), http.Header{"Retry-After": {"17"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{}, nil, newWorker(t, "w0", c.handle).entry())
			p := r.send("")
			if p.status != c.status || p.body != string(c.body) {
				t.Errorf("got %d and %d bytes, want %d and %d", p.status, len(p.body), c.status, len(c.body))
			}
			for name, values := range c.want {
				if !slices.Equal(p.header[name], values) {
					t.Errorf("%s: %q, want %q", name, p.header[name], values)
				}
			}
		})
	}
}

func TestTheRoutersOwnAnswers(t *testing.T) {
	r := newRig(t, Config{IdleTTL: time.Minute, MaxBody: 1000}, nil, newWorker(t, "w0", fine("w0")).entry())
	long := strings.Repeat("s", 257)
	chunked := func(n int) io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat(" ", n)), strings.NewReader(chat))
	}
	for _, c := range []struct {
		name, method, path, session string
		body                        io.Reader
		status                      int
		code                        string
	}{
		{"malformed JSON", "POST", "/v1/chat/completions", "", strings.NewReader("{"), 400, "invalid_argument"},
		{"no body", "POST", "/v1/chat/completions", "", nil, 400, "invalid_argument"},
		{"no model", "POST", "/v1/chat/completions", "", strings.NewReader("{}"), 400, "invalid_argument"},
		{"an unknown model", "POST", "/v1/completions", "s", strings.NewReader(`{"model":"x"}`), 404, "model_not_found"},
		{"an id of 257 bytes", "POST", "/v1/completions", long, strings.NewReader(chat), 400, "invalid_argument"},
		{"an id of 256 bytes", "POST", "/v1/completions", long[1:], strings.NewReader(chat), 200, ""},
		{"a large body", "POST", "/v1/completions", "", strings.NewReader(strings.Repeat(" ", 1001)), 413, "request_too_large"},
		{"a large body of unknown length", "POST", "/v1/completions", "", chunked(1000), 413, "request_too_large"},
		{"the largest body", "POST", "/v1/completions", "", chunked(1000 - len(chat)), 200, ""},
		{"another path", "POST", "/v2/chat", "", strings.NewReader(chat), 404, "not_found"},
		{"a GET of inference", "GET", "/v1/chat/completions", "", nil, 405, "method_not_allowed"},
		{"a POST of health", "POST", "/health", "", strings.NewReader(chat), 405, "method_not_allowed"},
		{"embeddings", "POST", "/v1/embeddings", "", strings.NewReader(chat), 200, ""},
		{"health", "GET", "/health", "", nil, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, r.base+c.path, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if c.session != "" {
				req.Header.Set("X-Session-ID", c.session)
			}
			p := r.do(req)
			if p.status != c.status || c.code != "" && p.code() != c.code {
				t.Errorf("got %d %s, want %d %s", p.status, p.body, c.status, c.code)
			}
		})
	}
}

func TestModelsAreTheUnionOfWhatWorkersServe(t *testing.T) {
	a, b := refusing(t, "a"), refusing(t, "b")
	a.Models, b.Models = []string{"z", "m"}, []string{"m", "k"}
	r := newRig(t, Config{}, nil, a, b)
	req, _ := http.NewRequestWithContext(t.Context(), "GET", r.base+"/v1/models", nil)
	want := `{"data":[{"id":"k","object":"model","created":0,"owned_by":"routeproof"},` +
		`{"id":"m","object":"model","created":0,"owned_by":"routeproof"},` +
		`{"id":"z","object":"model","created":0,"owned_by":"routeproof"}],"object":"list"}`
	if p := r.do(req); p.status != 200 || p.body != want {
		t.Errorf("got %d %s", p.status, p.body)
	}
}

func TestWithoutAnyWorkerTheAnswerIs503(t *testing.T) {
	r := newRig(t, Config{}, nil)
	if p := r.send(""); p.status != 503 || p.code() != "unavailable" || p.header.Get("Retry-After") != "1" {
		t.Errorf("got %+v", p)
	}
}

func TestRequestsGoOnlyToWorkersThatServeTheModel(t *testing.T) {
	a, b := newWorker(t, "a", fine("a")), newWorker(t, "b", fine("b"))
	eb := b.entry()
	eb.Models = []string{"other"}
	r := newRig(t, Config{IdleTTL: time.Minute}, nil, a.entry(), eb)
	for range 10 {
		if p := r.send("s"); p.body != "a" {
			t.Fatalf("model m went to %q", p.body)
		}
		req := r.request(t.Context(), "s")
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(`{"model":"other"}`)), -1
		if p := r.do(req); p.body != "b" {
			t.Fatalf("model other went to %q", p.body)
		}
	}
}
