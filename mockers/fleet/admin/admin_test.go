package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/mockers/fleet"
	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bed struct {
	*testing.T
	f *fleet.Fleet
	h http.Handler
}

func start(t *testing.T) *bed {
	t.Helper()
	f, err := fleet.New(fleet.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &bed{t, f, Handler(f)}
}

// call makes one call, checks its status and decodes the answer into out.
func (b *bed) call(method, path, body string, status int, out any) string {
	b.Helper()
	rec := httptest.NewRecorder()
	b.h.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	if rec.Code != status {
		b.Fatalf("%s %s %s: %d %s; want %d", method, path, body, rec.Code, rec.Body, status)
	}
	if out != nil {
		if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil {
			b.Fatalf("%s %s: %v in %s", method, path, err, rec.Body)
		}
	}
	return rec.Body.String()
}

func TestWorkersAreListedAndAdded(t *testing.T) {
	b := start(t)
	var added Worker
	b.call("POST", "/mock/v1/workers", "", 201, &added)
	var list struct{ Workers []Worker }
	b.call("GET", "/mock/v1/workers", "", 200, &list)
	if len(list.Workers) != 3 || list.Workers[2].ID != added.ID || added.ID != "w2" {
		t.Fatalf("added %+v, listed %+v", added, list)
	}
	w := b.f.Worker("w2")
	if added.URL != w.URL() || added.Port != w.Port() || added.Host != w.Host() || !added.Alive || added.Incarnation != 1 || added.Fault != nil || added.Models[0] != "mock" {
		t.Errorf("added %+v", added)
	}
	if added.Role != worker.Aggregated || added.Ranks != 0 {
		t.Errorf("added as %s with %d ranks", added.Role, added.Ranks)
	}
}

func TestAWorkerIsAddedInTheShapeAskedFor(t *testing.T) {
	b := start(t)
	for body, want := range map[string]worker.Shape{
		``:                             {Role: worker.Aggregated},
		`{}`:                           {Role: worker.Aggregated},
		`{"role":"decode"}`:            {Role: worker.Decode},
		`{"ranks":2}`:                  {Role: worker.Aggregated, Ranks: 2},
		`{"role":"prefill","ranks":4}`: {Role: worker.Prefill, Ranks: 4},
	} {
		var w Worker
		raw := b.call("POST", "/mock/v1/workers", body, 201, &w)
		if got := b.f.Worker(w.ID).Shape(); got != want || w.Role != want.Role || w.Ranks != want.Ranks || !strings.Contains(raw, `"ranks":`) {
			t.Errorf("%s: %+v, listed as %s", body, got, raw)
		}
	}
}

func TestHandoffsAreReadOnFromWhereTheyWereLeft(t *testing.T) {
	b := start(t)
	var h Handoffs
	if raw := b.call("GET", "/mock/v1/handoffs", "", 200, &h); h.Next != 0 || !strings.Contains(raw, `"handoffs":[]`) {
		t.Errorf("none: %s", raw)
	}
	r := b.f.Handoffs()
	for i := range 3 {
		r.Issue(handoff.Ticket{Engine: "w0-1"}, "r", "mock", handoff.Party{Worker: "w0", Incarnation: 1, Attempt: i}, 1)
	}
	raw := b.call("GET", "/mock/v1/handoffs?since=1", "", 200, &h)
	if len(h.Handoffs) != 2 || h.Next != 3 || h.Forgotten != 0 || h.Handoffs[0].Issued.Attempt != 1 || !strings.Contains(raw, `"consumed":null,"refused":0,"outcome":"never-consumed"`) {
		t.Errorf("since 1: %s", raw)
	}
	b.call("GET", "/mock/v1/handoffs?since=9", "", 200, &h)
	if len(h.Handoffs) != 0 || h.Next != 9 {
		t.Errorf("since 9: %+v", h)
	}
}

func TestAFaultIsSetShownAndCleared(t *testing.T) {
	b := start(t)
	var w Worker
	b.call("PUT", "/mock/v1/workers/w1/fault", `{"kind":"status","status":503,"retryAfter":2,"count":3}`, 200, &w)
	if want := (worker.Fault{Kind: worker.Status, Status: 503, RetryAfter: 2, Count: 3}); w.Fault == nil || *w.Fault != want {
		t.Errorf("fault %+v; want %+v", w.Fault, want)
	}
	if b.f.Worker("w0").Fault() != nil {
		t.Error("the other worker has a fault too")
	}
	b.call("DELETE", "/mock/v1/workers/w1/fault", "", 200, nil)
	if f := b.f.Worker("w1").Fault(); f != nil {
		t.Errorf("after DELETE: %+v", f)
	}
}

func TestWhatIsNotUnderstoodIsRefusedByName(t *testing.T) {
	b := start(t)
	b.f.Worker("w1").Crash()
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "/mock/v1/workers/w0/fault", `{"kind":"hang","delay":3}`, 400, `delay`},
		{"PUT", "/mock/v1/workers/w0/fault", `{"kind":"explode"}`, 400, `explode`},
		{"PUT", "/mock/v1/workers/w0/fault", `{"kind":"status","status":"503"}`, 400, `status`},
		{"PUT", "/mock/v1/workers/w0/fault", `{"kind":"hang"} {}`, 400, `more than one`},
		{"PUT", "/mock/v1/workers/w0/fault", ``, 400, `EOF`},
		{"PUT", "/mock/v1/workers/w0/fault", `null`, 400, `kind`},
		{"PUT", "/mock/v1/workers/w9/fault", `{"kind":"hang"}`, 404, `w9`},
		{"PUT", "/mock/v1/workers/w1/fault", `{"kind":"hang"}`, 409, `not alive`},
		{"POST", "/mock/v1/workers/w9/crash", ``, 404, `w9`},
		{"POST", "/mock/v1/workers/w0/restart", ``, 409, `alive`},
		{"GET", "/mock/v1/ledger?since=x", ``, 400, `x`},
		{"GET", "/mock/v1/ledger?since=-1", ``, 400, `-1`},
		{"GET", "/mock/v1/ledger?sinse=1", ``, 400, `sinse`},
		{"GET", "/mock/v1/handoffs?since=x", ``, 400, `x`},
		{"POST", "/mock/v1/workers", `{"role":"encode"}`, 400, `encode`},
		{"POST", "/mock/v1/workers", `{"rank":4}`, 400, `rank`},
		{"POST", "/mock/v1/workers", `{"ranks":-4}`, 400, `-4`},
		{"POST", "/mock/v1/workers", `{"ranks":4} {}`, 400, `more than one`},
		{"POST", "/mock/v1/workers", `{"ranks":`, 400, `shape`},
	} {
		var e struct{ Error string }
		b.call(c.method, c.path, c.body, c.status, &e)
		if !strings.Contains(e.Error, c.says) {
			t.Errorf("%s %s %s: %q; want %q in it", c.method, c.path, c.body, e.Error, c.says)
		}
	}
	if b.f.Worker("w0").Fault() != nil {
		t.Error("a refused fault was set")
	}
	if n := len(b.f.Workers()); n != 2 {
		t.Errorf("%d workers; a refused one was added", n)
	}
}

func TestCrashAndRestartShowTheNewIncarnation(t *testing.T) {
	b := start(t)
	var w Worker
	b.call("POST", "/mock/v1/workers/w0/crash", "", 200, &w)
	if w.Alive {
		t.Errorf("after the crash: %+v", w)
	}
	b.call("POST", "/mock/v1/workers/w0/restart", "", 200, &w)
	if !w.Alive || w.Incarnation != 2 {
		t.Errorf("after the restart: %+v", w)
	}
}

func TestTheLedgerIsReadOnFromWhereItWasLeft(t *testing.T) {
	b := start(t)
	var l Ledger
	if raw := b.call("GET", "/mock/v1/ledger", "", 200, &l); len(l.Attempts) != 0 || l.Next != 0 || !strings.Contains(raw, `"attempts":[]`) {
		t.Errorf("empty ledger: %s", raw)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	c := &http.Client{Transport: tr}
	for _, key := range []string{"a", "b"} {
		res, err := c.Post(b.f.Workers()[0].URL()+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x","user":"`+key+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	b.call("GET", "/mock/v1/ledger?since=1", "", 200, &l)
	if len(l.Attempts) != 1 || l.Attempts[0].Key != "b" || l.Next != 2 {
		t.Errorf("since 1: %+v", l)
	}
	b.call("GET", "/mock/v1/ledger?since=9", "", 200, &l)
	if len(l.Attempts) != 0 || l.Next != 9 {
		t.Errorf("since 9: %+v", l)
	}
}
