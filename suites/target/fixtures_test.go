package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/fixtures/hostile"
	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/spec"
)

const fixtures = "../../fixtures/targets"

// v1Claims are the claims that the manifests in fixtures answer: the specification's.
var v1Claims = func() []string {
	s, err := spec.Load()
	if err != nil {
		panic(err)
	}
	return s.ClaimNames()
}()

func fixture(t *testing.T, name string) *Manifest {
	t.Helper()
	m, err := Load(filepath.Join(fixtures, name), v1Claims)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEveryFixtureIsAGoodManifest(t *testing.T) {
	files, err := filepath.Glob(fixtures + "/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, mode := range hostile.Modes() {
		files = append(files, filepath.Join(fixtures, "hostile", mode+".yaml"))
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".expected.yaml") {
			continue // package report reads these
		}
		if _, err := Load(f, v1Claims); err != nil {
			t.Error(err)
		}
	}
}

// backend is a plain worker: it answers its name.
type backend struct {
	Worker
	server *http.Server
	over   chan struct{}
}

func backends(t *testing.T, n int) ([]*backend, []Worker) {
	t.Helper()
	var all []*backend
	var workers []Worker
	for i := range n {
		b := &backend{over: make(chan struct{})}
		l, err := net.Listen("tcp4", loopback+":0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		b.Worker = Worker{ID: fmt.Sprintf("w%d", i+1), Host: loopback, Port: port, URL: baseURL(loopback, port), Model: "mock"}
		b.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, b.ID)
		})}
		go func() { defer close(b.over); _ = b.server.Serve(l) }()
		t.Cleanup(b.close)
		all, workers = append(all, b), append(workers, b.Worker)
	}
	return all, workers
}

func (b *backend) close() {
	_ = b.server.Close()
	<-b.over
}

// ask sends one request and gives the name of the worker that answered.
func ask(t *testing.T, base, session string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	body := strings.NewReader(`{"model":"mock","messages":[{"role":"user","content":"hi"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.Header.Set("X-Session-ID", session)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("status %d, body %q, %v", res.StatusCode, b, err)
	}
	return string(b)
}

// sticky drives a target through its life: it sticks, it spreads, it keeps its
// bindings over a change of workers, it leaves nothing behind.
func sticky(t *testing.T, m *Manifest, r *Running, all []Worker) {
	t.Helper()
	home := map[string]string{}
	used := map[string]bool{}
	for i := range 30 {
		s := fmt.Sprintf("session-%d", i)
		home[s] = ask(t, r.BaseURL(), s)
		used[home[s]] = true
	}
	if len(used) != 3 {
		t.Errorf("30 sessions went to %v", used)
	}
	stays := func(when string) {
		t.Helper()
		for s, w := range home {
			if got := ask(t, r.BaseURL(), s); got != w {
				t.Errorf("%s: %s went to %s, its home is %s", when, s, got, w)
			}
		}
	}
	stays("at rest")
	for round := range 3 {
		set := all[:4-round%2]
		if err := r.Apply(context.Background(), set); err != nil {
			t.Fatal(err)
		}
		stays(fmt.Sprintf("after change %d", round+1))
	}
	// The fourth worker is really in use.
	got := map[string]bool{}
	for range 16 {
		got[ask(t, r.BaseURL(), "")] = true
	}
	if !got["w4"] {
		t.Errorf("keyless requests went to %v only", got)
	}
}

func TestHAProxyKeepsItsBindingsOverReloadsAndLeavesNothing(t *testing.T) {
	t.Parallel() // it waits for HAProxy's clock most of the time
	require.Require(t, "haproxy")
	_, all := backends(t, 4)
	m := fixture(t, "haproxy.yaml")
	r := started(t, m, Options{Workers: all[:3]})
	sticky(t, m, r, all)
	if t.Failed() {
		t.Logf("log:\n%s", r.Logs())
	}
	stopAndGone(t, r)
}

// stopAndGone stops a target and checks its process and its port.
func stopAndGone(t *testing.T, r *Running) {
	t.Helper()
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if lives(r.PID()) {
		t.Error("its process lives")
	}
	u, _ := url.Parse(r.BaseURL())
	port, _ := strconv.Atoi(u.Port())
	if taken(port) {
		t.Errorf("somebody still listens on %d", port)
	}
}

func TestHAProxyFailsOverAndForgetsIdleSessions(t *testing.T) {
	require.Require(t, "haproxy")
	procs, all := backends(t, 3)
	r := started(t, fixture(t, "haproxy.yaml"), Options{Workers: all, Variant: "shortTTL"})
	if r.Session().IdleTTL != 3*time.Second {
		t.Fatalf("session %+v", r.Session())
	}
	home := ask(t, r.BaseURL(), "s")
	for _, b := range procs {
		if b.ID == home {
			b.close()
		}
	}
	next := ask(t, r.BaseURL(), "s")
	if next == home {
		t.Fatalf("a dead worker answered")
	}
	if again := ask(t, r.BaseURL(), "s"); again != next {
		t.Errorf("after the failover: %s, then %s", next, again)
	}
}

func TestABadConfigurationIsReportedWithTheTargetsWords(t *testing.T) {
	require.Require(t, "haproxy")
	m := fixture(t, "haproxy.yaml")
	bad := strings.Replace(string(m.Source()), "balance roundrobin", "balance rounrobin", 1)
	m, err := Parse("bad.yaml", []byte(bad), v1Claims)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(context.Background(), m, Options{Workers: someWorkers(1)})
	var u *UnreachableError
	if !errors.As(err, &u) || u.Exit != "exit status 1" || !strings.Contains(u.Log, "balance only supports") {
		t.Errorf("Start: %v", err)
	}
}

func TestTheReferenceRunsAsAProcess(t *testing.T) {
	_, all := backends(t, 4)
	m := fixture(t, "reference.yaml")
	r := started(t, m, Options{Workers: all[:3]})
	sticky(t, m, r, all)
	if t.Failed() {
		t.Logf("log:\n%s", r.Logs())
	}
	stopAndGone(t, r)
}

func TestTheReferenceRunsInThisProcess(t *testing.T) {
	_, all := backends(t, 4)
	m := Reference(v1Claims)
	r := started(t, m, Options{Workers: all[:3], Variant: VariantShortTTL, Seed: 7})
	sticky(t, m, r, all)
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-r.Exited()
	if r.ExitError() != nil || r.PID() != 0 {
		t.Error(r.ExitError(), r.PID())
	}
}

func TestHostileTargetsAreHeldAndEnded(t *testing.T) {
	t.Parallel()
	for _, mode := range hostile.Modes() {
		t.Run(mode, func(t *testing.T) {
			m := fixture(t, filepath.Join("hostile", mode+".yaml"))
			r, err := Start(context.Background(), m, Options{Workers: someWorkers(2)})
			if slices.Contains([]string{hostile.ExitsAtOnce, hostile.NeverReady}, mode) {
				var u *UnreachableError
				if !errors.As(err, &u) {
					t.Fatalf("Start: %v", err)
				}
				if want := map[bool]string{true: hostile.ErrAtOnce.Error(), false: "status 503"}[mode == hostile.ExitsAtOnce]; !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			a, err := probe(context.Background(), r.BaseURL()+"/v1/models", 300*time.Millisecond)
			if mode == hostile.Huge && (err != nil || len(a.body) != probeBody) || mode != hostile.Huge && err == nil {
				t.Errorf("probe: %d bytes, %v", len(a.body), err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("probe took %v", took)
			}
			stopAndGone(t, r)
		})
	}
}
