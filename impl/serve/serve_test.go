package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

const good = `listen: 127.0.0.1:0
generation: 7
policy: least-loaded
seed: 42
idleTTL: 60s
capacity: 100
atCapacity: evict
headerTimeout: 2s
sessionHeaders: [X-Mine, x-session-id]
tenantHeader: X-Tenant
aliases: {latest: m}
workers:
  - id: w0
    url: http://127.0.0.1:9000
    models: [m]
    role: decode
    ranks: 4
  - {id: w1, url: "http://127.0.0.1:9001", models: [m, n]}
`

func TestAGoodFileIsReadWhole(t *testing.T) {
	f, err := parse("router.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c := f.config()
	if f.Listen != "127.0.0.1:0" || f.Generation != "7" || c.Policy != "least-loaded" || c.Seed != 42 || c.IdleTTL != time.Minute ||
		c.Capacity != 100 || c.AtCapacity != "evict" || c.HeaderTimeout != 2*time.Second ||
		strings.Join(c.SessionHeaders, "+") != "X-Mine+x-session-id" || c.TenantHeader != "X-Tenant" || c.Aliases["latest"] != "m" {
		t.Errorf("read %+v", f)
	}
	ws := f.workers()
	if len(ws) != 2 || ws[0].ID != "w0" || ws[1].URL != "http://127.0.0.1:9001" || len(ws[1].Models) != 2 ||
		ws[0].Role != "decode" || ws[0].Ranks != 4 || ws[1].Role != "" || ws[1].Ranks != 0 {
		t.Errorf("workers %+v", ws)
	}
}

func TestABadFileIsRefusedByLineAndKey(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct {
		name, text string
		line       int
		problem    string
	}{
		{"empty", " \n", 0, "empty"},
		{"no listen", replace("listen: 127.0.0.1:0\n", ""), 0, "listen"},
		{"an unknown key", replace("seed:", "sede:"), 4, "sede"},
		{"an unknown key of a worker", replace("    url:", "    uri:"), 14, "uri"},
		{"a repeated key", good + "seed: 1\n", 19, "seed"},
		{"a number for a list", replace("models: [m]", "models: 3"), 15, "3"},
		{"a word for a number", replace("capacity: 100", "capacity: many"), 6, "many"},
		{"a duration without unit", replace("60s", "60"), 5, "60"},
		{"a bad duration", replace("60s", "soon"), 5, "soon"},
		{"a TTL out of range", replace("60s", "1ms"), 5, "idleTTL 1ms"},
		{"an unknown policy", replace("least-loaded", "fastest"), 3, "fastest"},
		{"an unknown mode", replace("evict", "explode"), 7, "explode"},
		{"a negative timeout", replace("headerTimeout: 2s", "headerTimeout: -2s"), 8, "headerTimeout -2s"},
		{"a bad URL", replace("http://127.0.0.1:9000", "127.0.0.1"), 14, "http://HOST:PORT"},
		{"a repeated worker", replace("id: w1", "id: w0"), 18, "unique"},
		{"no models", replace("    models: [m]\n", ""), 13, "models"},
		{"an unknown role", replace("role: decode", "role: decoder"), 16, "prefill or decode"},
		{"a word for ranks", replace("ranks: 4", "ranks: four"), 17, "four"},
		{"negative ranks", replace("ranks: 4", "ranks: -4"), 17, "out of range"},
		{"a bad session header", replace("x-session-id", "x session"), 9, "sessionHeaders[1]"},
		{"a repeated session header", replace("x-session-id", "x-mine"), 9, "twice"},
		{"a list of one session header", replace("[X-Mine, x-session-id]", "X-Mine"), 9, "X-Mine"},
		{"a bad tenant header", replace("X-Tenant", "X:Tenant"), 10, "tenantHeader"},
		{"an empty alias", replace("latest: m", "'': m"), 11, "aliases"},
		{"no YAML", "listen: [", 1, ""},
		{"a second document", good + "---\nlisten: x\n", 0, "document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("router.yaml", []byte(c.text))
			var e *FileError
			if !errors.As(err, &e) {
				t.Fatalf("parse = %v, want a *FileError", err)
			}
			if e.Line != c.line || !strings.Contains(e.Problem, c.problem) || !strings.HasPrefix(err.Error(), "router.yaml:") {
				t.Errorf("got %v, want line %d and %q", err, c.line, c.problem)
			}
		})
	}
}

// journal is a log that a test reads while it grows.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

type running struct {
	t      *testing.T
	file   string
	base   string
	reload chan struct{}
	log    *journal
	stop   context.CancelFunc
	ended  chan error
}

func start(t *testing.T, text string) *running {
	r := &running{t: t, file: filepath.Join(t.TempDir(), "router.yaml"), reload: make(chan struct{}), log: &journal{}, ended: make(chan error, 1)}
	r.write(text)
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	address := make(chan net.Addr, 1)
	go func() {
		r.ended <- run(ctx, r.file, r.reload, slog.New(slog.NewTextHandler(r.log, nil)), func(a net.Addr) { address <- a })
	}()
	select {
	case a := <-address:
		r.base = "http://" + a.String()
	case err := <-r.ended:
		t.Fatalf("run: %v", err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-r.ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return r
}

func (r *running) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// rewrite replaces the file and asks for a reload. That is over when a second
// request has been taken.
func (r *running) rewrite(text string) {
	r.t.Helper()
	r.write(text)
	for range 2 {
		select {
		case r.reload <- struct{}{}:
		case <-time.After(patience):
			r.t.Fatal("no reload")
		}
	}
}

func (r *running) get(method, path, body string) (int, string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func config(generation string, urls ...string) string {
	text := "listen: 127.0.0.1:0\ngeneration: " + generation + "\nworkers:\n"
	for i, u := range urls {
		text += fmt.Sprintf("  - {id: w%d, url: %q, models: [m]}\n", i, u)
	}
	return text
}

func namedWorker(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAReloadChangesWorkersAndGenerationAndABadFileChangesNothing(t *testing.T) {
	first, second := namedWorker(t, "first"), namedWorker(t, "second")
	r := start(t, config("1", first))
	state := func() string {
		code, generation := r.get("GET", GenerationPath, "")
		_, body := r.get("POST", "/v1/completions", `{"model":"m"}`)
		return fmt.Sprint(code, " ", generation, " ", body)
	}
	if code, body := r.get("GET", "/health", ""); code != 200 || !strings.Contains(body, `"ok"`) {
		t.Errorf("health: %d %s", code, body)
	}
	if got := state(); got != "200 1 first" {
		t.Fatalf("at first: %s", got)
	}
	r.rewrite(config("2", second))
	if got := state(); got != "200 2 second" {
		t.Fatalf("after a reload: %s", got)
	}
	for _, c := range []struct{ text, log string }{
		{strings.Replace(config("3", first), "workers", "wrokers", 1), "router.yaml:3: "},
		{config("3", "nowhere"), "router.yaml:4: "},
		{config("3", first) + "policy: random\nseed: 9\n", "changes policy, seed"},
		{strings.Replace(config("3", first), "127.0.0.1:0", "127.0.0.1:1", 1), "changes listen"},
		{config("3", first) + "sessionHeaders: [x-mine]\n", "changes sessionHeaders"},
		{config("3", first) + "tenantHeader: x-tenant\n", "changes tenantHeader"},
		{"", "is empty"},
	} {
		r.rewrite(c.text)
		if !strings.Contains(r.log.String(), c.log) || !strings.Contains(r.log.String(), "level=ERROR") {
			t.Errorf("the log holds no %q:\n%s", c.log, r.log)
		}
		if got := state(); got != "200 2 second" {
			t.Fatalf("after a bad file: %s", got)
		}
	}
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.reload <- struct{}{}
	r.rewrite(config("4", first))
	if got := state(); got != "200 4 first" {
		t.Errorf("after the file was good again: %s", got)
	}
}

func TestABadStartIsAnError(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if err := Run(t.Context(), filepath.Join(dir, "absent.yaml"), nil, log); err == nil || !strings.Contains(err.Error(), "absent.yaml") {
		t.Errorf("absent file: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	name := filepath.Join(dir, "taken.yaml")
	if err := os.WriteFile(name, []byte("listen: "+l.Addr().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), name, nil, log); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("taken address: %v", err)
	}
}

func TestAClosedReloadChannelIsNoReload(t *testing.T) {
	r := start(t, config("1", namedWorker(t, "first")))
	close(r.reload)
	if code, body := r.get("GET", GenerationPath, ""); code != 200 || body != "1" {
		t.Errorf("got %d %q", code, body)
	}
}
