package router

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/impl/affinity"
)

// tables counts what is held for decode and for prefill.
func (f *floor) tables() (d, p affinity.Stats) {
	return f.parts.Affinity.(*affinity.Table).Stats(), f.parts.Prefill.Affinity.(*affinity.Table).Stats()
}

// bindings says how many sessions are bound to decode and to prefill workers.
func (f *floor) bindings() string {
	d, p := f.tables()
	return fmt.Sprint(d.Bound, " ", p.Bound)
}

// bound says the same once no session is held any more.
func (f *floor) bound() string {
	f.t.Helper()
	eventually(f.t, "all leases released", func() bool {
		d, p := f.tables()
		return d.Leases == 0 && p.Leases == 0
	})
	return f.bindings()
}

func TestWhatAPrefillWorkersFailureDoes(t *testing.T) {
	says := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		status int
		code   string
		keeps  bool   // the session's binding to the prefill worker
		binds  string // after the same on a new session: decode's bindings and prefill's
	}{
		{"400", status(400), 400, "", true, "0 0"},
		{"404", status(404), 404, "", true, "0 0"},
		{"429", status(429), 429, "", true, "0 0"},
		{"503", status(503), 503, "", true, "0 0"},
		{"500", status(500), 500, "", false, "0 0"},
		{"502", status(502), 502, "", false, "0 0"},
		{"302", status(302), 302, "", true, "0 0"},
		{"an answer that is no JSON", says("data: x\n\n"), 502, "handoff_failed", true, "0 1"},
		{"no answer", says(""), 502, "handoff_failed", true, "0 1"},
		{"parameters that are no object", says(`{"kv_transfer_params":[1]}`), 502, "handoff_failed", true, "0 1"},
		{"a broken answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"kv_transfer_params":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 502, "handoff_failed", true, "0 1"},
		{"an answer that never ends", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, `{"kv_transfer_params":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, 504, "header_timeout", true, "0 1"},
		{"an endless answer", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
					return
				}
			}
		}, 502, "handoff_failed", true, "0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{HeaderTimeout: patience}
			if c.status == 504 {
				cfg.HeaderTimeout = short
			}
			f := newFloor(t, cfg, one(2), one(2), nil)
			f.workers["p0"].set(c.handle)
			f.workers["p1"].set(c.handle)
			if p := f.send("new"); p.status != c.status || c.code != "" && p.code() != c.code {
				t.Errorf("a new session got %d %s, want %d %s", p.status, p.body, c.status, c.code)
			}
			f.idle()
			if got := f.bound(); got != c.binds {
				t.Errorf("bindings after a new session's failure: %s, want %s", got, c.binds)
			}
			f.workers["p0"].set(f.good("p0"))
			f.workers["p1"].set(f.good("p1"))
			home := f.send("s").body
			p := home[len(home)-4 : len(home)-2]
			before := f.bound()
			f.workers[p].set(c.handle)
			decode, prefill := f.hits("d"), f.hits("p")
			if p := f.send("s"); p.status != c.status || c.code != "" && p.code() != c.code {
				t.Errorf("a bound session got %d %s, want %d %s", p.status, p.body, c.status, c.code)
			}
			f.idle()
			if d, p := f.hits("d")-decode, f.hits("p")-prefill; d != 0 || p != 1 {
				t.Errorf("%d requests for decode and %d for prefill, want 0 and 1", d, p)
			}
			if kept := f.bound() == before; kept != c.keeps {
				t.Errorf("bindings %s, before %s; want them kept: %v", f.bound(), before, c.keeps)
			}
			f.workers[p].set(f.good(p))
			if again := f.send("s").body; again[:2] != home[:2] || c.keeps && again != home {
				t.Errorf("the session went from %s to %s", home, again)
			}
		})
	}
}

func TestPrefillThatCannotBeReachedIsTriedElsewhere(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{"reset": reset, "no headers": hang} {
		t.Run(name, func(t *testing.T) {
			f := newFloor(t, Config{HeaderTimeout: short}, one(4), one(1), nil)
			f.want("s", "d0/- after p0/-")
			f.workers["p0"].set(fail)
			f.want("s", "d0/- after p1/-")
			f.want("new", "d0/- after p2/-")
			f.workers["p0"].set(f.good("p0"))
			f.want("s", "d0/- after p1/-") // for good
			for id := range f.workers {
				if id[0] == 'p' {
					f.workers[id].set(fail)
				}
			}
			before, decode := f.hits("p"), f.hits("d")
			attempts, want, code := int64(3), 502, "connection_failed"
			if name == "no headers" {
				attempts, want, code = 2, 504, "header_timeout"
			}
			f.refused("s", want, code)
			if n := f.hits("p") - before; n != 2 {
				t.Errorf("%d attempts for a bound session, want 2", n)
			}
			before = f.hits("p")
			f.refused("other", want, code)
			if n := f.hits("p") - before; n != attempts {
				t.Errorf("%d attempts for a new session, want %d", n, attempts)
			}
			before = f.hits("p")
			f.refused("", want, code, prefillPin, "p3") // exactly
			if n := f.hits("p") - before; n != 1 {
				t.Errorf("a pinned prefill had %d attempts, want 1", n)
			}
			if f.hits("d") != decode {
				t.Error("decode got something")
			}
			f.idle()
			if got := f.bound(); got != "2 1" { // s has lost its prefill worker, new has not been there again
				t.Errorf("bindings %s", got)
			}
		})
	}
}

func TestADecodeFailureNeedsAnotherHandOff(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{"reset": reset, "no headers": hang} {
		t.Run(name, func(t *testing.T) {
			f := newFloor(t, Config{HeaderTimeout: short}, one(2), one(4), nil)
			f.want("s", "d0/- after p0/-")
			f.workers["d0"].set(func(w http.ResponseWriter, r *http.Request) {
				_, _, params := f.read("d0", r)
				f.take("d0", params["remote_engine_id"].(string)) // used up before it fails
				fail(w, r)
			})
			f.want("s", "d1/- after p0/-")
			f.want("s", "d1/- after p0/-")
			if n := f.hits("p"); n != 4 {
				t.Errorf("%d requests for prefill, want 4", n)
			}
			for id := range f.workers {
				if id[0] == 'd' {
					f.workers[id].set(fail)
				}
			}
			prefill, decode := f.hits("p"), f.hits("d")
			attempts, want, code := int64(3), 502, "connection_failed"
			if name == "no headers" {
				attempts, want, code = 2, 504, "header_timeout"
			}
			f.refused("s", want, code)
			if p, d := f.hits("p")-prefill, f.hits("d")-decode; p != 2 || d != 2 {
				t.Errorf("bound: %d requests for prefill and %d for decode, want 2 each", p, d)
			}
			prefill, decode = f.hits("p"), f.hits("d")
			f.refused("other", want, code)
			if p, d := f.hits("p")-prefill, f.hits("d")-decode; p != attempts || d != attempts {
				t.Errorf("new: %d requests for prefill and %d for decode, want %d each", p, d, attempts)
			}
			prefill, decode = f.hits("p"), f.hits("d")
			f.refused("", want, code, workerPin, "d3")
			if p, d := f.hits("p")-prefill, f.hits("d")-decode; p != 1 || d != 1 {
				t.Errorf("pinned: %d requests for prefill and %d for decode, want 1 each", p, d)
			}
			f.idle()
			if got := f.bound(); got != "0 2" { // prefill served both
				t.Errorf("bindings %s", got)
			}
		})
	}
}

func TestADecodeWorkersAnswerIsPassedOnWithoutAnotherHandOff(t *testing.T) {
	for code, keeps := range map[int]string{400: "1 1", 429: "1 1", 503: "1 1", 500: "0 1"} {
		f := newFloor(t, Config{}, one(2), one(2), nil)
		f.want("s", "d0/- after p0/-")
		f.workers["d0"].set(status(code))
		if p := f.send("s"); p.status != code {
			t.Errorf("got %d %s, want %d", p.status, p.body, code)
		}
		if p, d := f.hits("p"), f.hits("d"); p != 2 || d != 2 {
			t.Errorf("%d: %d requests for prefill and %d for decode, want 2 each", code, p, d)
		}
		f.idle()
		if got := f.bound(); got != keeps {
			t.Errorf("%d: bindings %s, want %s", code, got, keeps)
		}
	}
}

func TestAPrefillWorkerWithNothingToHandOver(t *testing.T) {
	f := newFloor(t, Config{}, one(1), one(1), nil)
	for _, answer := range []string{`{"kv_transfer_params":null}`, `{}`} {
		f.workers["p0"].set(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		f.want("s", "d0/-")
		if body, _ := f.seen("d0"); body != chat {
			t.Errorf("decode got %s", body)
		}
	}
}

func TestWorkersThatLeaveWhilePrefillRuns(t *testing.T) {
	f := newFloor(t, Config{}, one(2), one(2), one(1))
	leave := func(ids ...string) {
		for _, id := range []string{"p0", "p1"} {
			f.workers[id].set(func(w http.ResponseWriter, r *http.Request) {
				f.without(ids...)
				f.prefills(id)(w, r)
			})
		}
	}
	f.want("s", "d0/- after p0/-")
	leave("d0")
	f.want("s", "d1/- after p0/-") // with the hand-off that nobody has used
	f.without()
	leave("d0", "d1")
	f.want("t", "a0/-")
	f.without()
	leave("p0", "p1") // what prefill has done still counts
	if p := f.send("u"); !strings.Contains(p.body, " after p") {
		t.Errorf("got %d %s", p.status, p.body)
	}
	f.without()
	leave()
	f.with("w", workerPin, "d1")
	leave("d1", "p0", "p1", "a0")
	if p := f.send("w"); !strings.HasPrefix(p.body, "d0/- after p") {
		t.Errorf("got %d %s", p.status, p.body)
	}
	f.without()
	leave("d0", "d1")
	f.refused("v", 400, "invalid_argument", workerPin, "d0")
	f.idle()
}
