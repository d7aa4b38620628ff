package router

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// ask sends a query.
func (r *rig) ask(session string, headers ...string) reply {
	r.t.Helper()
	return r.with(session, append(headers, QueryHeader, QueryTarget)...)
}

func TestAQueryAnswersWhatADispatchWouldChoose(t *testing.T) {
	for _, policy := range []string{"round-robin", "random", "power-of-two", "least-loaded"} {
		r, workers := newRankedRig(t, Config{Policy: policy, Seed: 11}, 2, 0, 3)
		for i := range 20 {
			for session, headers := range map[string][]string{
				"": nil, fmt.Sprint("s", i): nil, fmt.Sprint("t", i): {workerPin, "w2"}, fmt.Sprint("u", i): {workerPin, "w0", rankPin, "1"},
			} {
				first, second := r.ask(session, headers...), r.ask(session, headers...)
				got := r.with(session, headers...).body
				w, rank, _ := strings.Cut(got, "/")
				want := fmt.Sprintf(`{"worker":%q,"rank":%s,"bound":false}`, w, rank)
				if rank == "-" {
					want = fmt.Sprintf(`{"worker":%q,"bound":false}`, w)
				}
				if first.body != want || second.body != want || first.status != 200 || first.header.Get("Content-Type") != "application/json" {
					t.Fatalf("%s, session %q: asked, it said %d %s and then %s; the request went to %s", policy, session, first.status, first.body, second.body, got)
				}
			}
		}
		hits := workers[0].hits.Load() + workers[1].hits.Load() + workers[2].hits.Load()
		if s := r.stats(); hits != 80 || s.Sessions != 60 || s.Leases != 0 {
			t.Errorf("%s: 80 requests in 60 sessions gave %d dispatches and %+v", policy, hits, s)
		}
	}
}

func TestAQueryAnswersWhereASessionIsBound(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 2, 0)
	r.send("s")
	r.send("one")
	for _, c := range []struct {
		session, path string
		headers       []string
		want          string
	}{
		{"s", "/v1/chat/completions", nil, `{"worker":"w0","rank":0,"bound":true}`},
		{"s", "/v1/completions", nil, `{"worker":"w0","rank":0,"bound":true}`},
		{"s", "/v1/completions", []string{workerPin, "w0"}, `{"worker":"w0","rank":0,"bound":true}`},
		{"one", "/v1/completions", nil, `{"worker":"w1","bound":true}`},
		{"", "/v1/completions", []string{workerPin, "w1"}, `{"worker":"w1","bound":false}`},
	} {
		req := r.headed(t.Context(), c.session, append(c.headers, QueryHeader, " target ")...)
		req.URL.Path = c.path
		if p := r.do(req); p.status != 200 || p.body != c.want {
			t.Errorf("%+v: got %d %s", c, p.status, p.body)
		}
	}
	w1 := workers[1].entry()
	if err := r.SetWorkers([]discovery.Worker{w1}); err != nil {
		t.Fatal(err)
	}
	if p := r.ask("s"); p.body != `{"worker":"w1","bound":false}` {
		t.Errorf("on a dead binding: %s", p.body)
	}
	if s := r.stats(); s.Bound != 2 {
		t.Errorf("the query touched the dead binding: %+v", s)
	}
}

func TestAQueryFailsAsADispatchWould(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 0, 0)
	empty := newRig(t, Config{}, nil)
	r.with("s", workerPin, "w0")
	for _, c := range []struct {
		name, session, body string
		headers             []string
		status              int
		code                string
	}{
		{"too long an id", strings.Repeat("s", 257), chat, nil, 400, "invalid_argument"},
		{"a contradicting pin", "s", chat, []string{workerPin, "w1"}, 400, "invalid_argument"},
		{"an unknown model", "s", `{"model":"x"}`, nil, 404, "model_not_found"},
		{"a bad body", "s", `{`, nil, 400, "invalid_argument"},
	} {
		req := r.headed(t.Context(), c.session, append(c.headers, QueryHeader, QueryTarget)...)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(c.body)), int64(len(c.body))
		if p := r.do(req); p.status != c.status || p.code() != c.code {
			t.Errorf("%s: got %d %s", c.name, p.status, p.body)
		}
	}
	if p := empty.ask("s"); p.status != 503 || p.code() != "unavailable" || p.header.Get("Retry-After") != "1" {
		t.Errorf("no worker: got %+v", p)
	}
	for _, value := range []string{"Target", "targets", "1", "true", "target,target"} {
		if p := r.with("s", QueryHeader, value); p.status != 400 || p.code() != "invalid_argument" {
			t.Errorf("%s: %q: got %d %s", QueryHeader, value, p.status, p.body)
		}
	}
	if p := r.with("s", QueryHeader, " "); p.body != "w0/-" {
		t.Errorf("a blank header: got %d %s", p.status, p.body)
	}
}

func TestAQueryDoesNotWaitForAFirstRequest(t *testing.T) {
	r, workers := newRankedRig(t, Config{}, 0, 0)
	h := newHanger()
	workers[0].set(h.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.begin(r.request(ctx, "s"))
	receive(t, "the first request arrives", h.arrived)
	if p := r.ask("s"); p.body != `{"worker":"w1","bound":false}` {
		t.Errorf("got %s", p.body)
	}
	if got := fmt.Sprint(r.InFlight()); got != "map[w0:1 w1:0]" {
		t.Errorf("in flight %s", got)
	}
	cancel()
	r.idle()
}

func TestAQueryRefreshesNothing(t *testing.T) {
	r, _ := newRankedRig(t, Config{IdleTTL: time.Second}, 0, 0)
	r.send("s")
	bound := `{"worker":"w0","bound":true}`
	if p := r.ask("s"); p.body != bound {
		t.Fatalf("got %s", p.body)
	}
	begin := time.Now()
	eventually(t, "the session lapses though it is asked for all the time", func() bool { return r.ask("s").body != bound })
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("it lapsed after %v", d)
	}
}

func TestAQueryWithAffinityOff(t *testing.T) {
	r := newRig(t, Config{}, nil, newWorker(t, "w0", fine("w0")).entry())
	if p := r.ask("s"); p.body != `{"worker":"w0","bound":false}` {
		t.Errorf("got %d %s", p.status, p.body)
	}
}

func TestTenantsKeepEqualSessionsApart(t *testing.T) {
	r, _ := newRankedRig(t, Config{TenantHeader: "x-tenant"}, 0, 0, 0, 0, 0)
	homes := map[string]string{}
	tenants := []string{"", "a", "A", "a b", "\xff"}
	for _, tenant := range tenants {
		homes[tenant] = r.with("s", "X-Tenant", tenant).body
	}
	for i, tenant := range tenants {
		if want := fmt.Sprintf("w%d/-", i); homes[tenant] != want {
			t.Errorf("tenant %q began at %s, want %s", tenant, homes[tenant], want)
		}
		for range 2 {
			r.send("")
			if p := r.with("s", "X-Tenant", " "+tenant+"\t", "X-Tenant", "other"); p.body != homes[tenant] {
				t.Errorf("tenant %q moved to %s", tenant, p.body)
			}
		}
	}
	if p := r.send("s"); p.body != homes[""] {
		t.Errorf("without the header: %s", p.body)
	}
	if p := r.with("s", "X-Tenant", strings.Repeat("t", 256)); p.status != 200 {
		t.Errorf("a name of 256 bytes: %d %s", p.status, p.body)
	}
	if p := r.with("s", "X-Tenant", strings.Repeat("t", 257)); p.status != 400 || p.code() != "invalid_argument" {
		t.Errorf("a name of 257 bytes: %d %s", p.status, p.body)
	}
	if p := r.with("", "X-Tenant", strings.Repeat("t", 257)); p.status != 200 {
		t.Errorf("without a session a tenant means nothing, but got %d %s", p.status, p.body)
	}
}

func TestFinalAndParentHeadersMeanNothing(t *testing.T) {
	r, _ := newRankedRig(t, Config{}, 0, 0, 0)
	r.send("parent")
	r.send("")
	if p := r.with("s", "x-dynamo-parent-session-id", "parent", "x-parent-session-id", "parent", "x-dynamo-session-final", "true"); p.body != "w2/-" {
		t.Errorf("the child began at %s", p.body)
	}
	if p := r.send("s"); p.body != "w2/-" {
		t.Errorf("after its final turn the session went to %s", p.body)
	}
}
