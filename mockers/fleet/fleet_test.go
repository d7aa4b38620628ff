package fleet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c Config) *Fleet {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// client returns a client of its own, so that nothing outlives the test.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func ask(c *http.Client, url, key string, stream bool) (int, string, error) {
	body := fmt.Sprintf(`{"prompt":"[[rp:%s]]","stream":%v,"max_tokens":3}`, key, stream)
	res, err := c.Post(url+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func TestSixtyFourWorkersServeAtOnceIntoOneLedger(t *testing.T) {
	const workers, each = 64, 4
	f := start(t, Config{Workers: workers})
	c := client(t)
	var all sync.WaitGroup
	for _, w := range f.Workers() {
		all.Go(func() {
			for n := range each {
				key := fmt.Sprintf("%s-%d", w.ID(), n)
				if status, body, err := ask(c, w.URL(), key, n%2 == 0); err != nil || status != 200 || !strings.Contains(body, key) {
					t.Errorf("%s: %d %q %v", key, status, body, err)
				}
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := f.Ledger().Wait(ctx, func(v ledger.View) bool {
		done := 0
		v.Each(0, func(a *ledger.Attempt) bool {
			if a.End == ledger.Complete && strings.HasPrefix(a.Key, a.Worker+"-") {
				done++
			}
			return true
		})
		return done == workers*each
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWorkersAreListedInOrderWithTheirAddressesEvenWhenCrashed(t *testing.T) {
	f := start(t, Config{Workers: 3})
	f.Worker("w1").Crash()
	added, err := f.Add(worker.Shape{})
	if err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for i, w := range f.Workers() {
		if w.ID() != fmt.Sprint("w", i) || w != f.Worker(w.ID()) || w.Host() != "127.0.0.1" {
			t.Errorf("worker %d is %s at %s", i, w.ID(), w.Host())
		}
		ports[w.Port()] = true
		if w.Alive() != (i != 1) {
			t.Errorf("%s alive: %v", w.ID(), w.Alive())
		}
	}
	if len(ports) != 4 || added.ID() != "w3" || f.Worker("w9") != nil {
		t.Errorf("%d ports, added %s, w9 %v", len(ports), added.ID(), f.Worker("w9"))
	}
	if status, _, err := ask(client(t), added.URL(), "k", false); err != nil || status != 200 {
		t.Errorf("added worker: %d, %v", status, err)
	}
}

func TestTheFirstModelIsServedByDefault(t *testing.T) {
	for _, c := range []struct {
		models []string
		want   string
	}{{nil, "mock"}, {[]string{"a", "b"}, "a"}} {
		f := start(t, Config{Workers: 1, Models: c.models})
		if _, body, err := ask(client(t), f.Workers()[0].URL(), "k", false); err != nil || !strings.Contains(body, `"model":"`+c.want+`"`) {
			t.Errorf("models %v: %q, %v", c.models, body, err)
		}
	}
}

func TestAWorkerMayServeModelsOfItsOwn(t *testing.T) {
	f := start(t, Config{Workers: 1, Models: []string{"a", "b"}})
	w, err := f.AddServing([]string{"b"}, worker.Shape{})
	if err != nil || fmt.Sprint(w.Models()) != "[b]" || fmt.Sprint(f.Workers()[0].Models()) != "[a b]" || f.Worker(w.ID()) != w {
		t.Fatalf("%v, %v", w, err)
	}
	if _, body, err := ask(client(t), w.URL(), "k", false); err != nil || !strings.Contains(body, `"model":"b"`) {
		t.Errorf("%q, %v", body, err)
	}
}

func TestAPlanHoldsOnWhicheverWorkerTheRequestReaches(t *testing.T) {
	f := start(t, Config{Workers: 2})
	if _, err := f.Plan("k", worker.Plan{Fault: &worker.Fault{Kind: worker.Status, Status: 503, Count: 2}}); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	for i, want := range []int{503, 503, 200} {
		if status, _, err := ask(c, f.Workers()[i%2].URL(), "k", false); err != nil || status != want {
			t.Errorf("attempt %d: %d, %v; want %d", i, status, err, want)
		}
	}
	if _, err := f.Plan("k", worker.Plan{Events: -1}); err == nil || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("a bad plan: %v", err)
	}
}

func TestClearFaultsLeavesTheDeadDead(t *testing.T) {
	f := start(t, Config{Workers: 3})
	for i, kind := range []worker.Kind{worker.Refuse, worker.Hang} {
		if err := f.Workers()[i].SetFault(worker.Fault{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	f.Worker("w2").Crash()
	if err := f.ClearFaults(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	for _, w := range f.Workers() {
		_, _, err := ask(c, w.URL(), "k", false)
		if (err == nil) != (w.ID() != "w2") {
			t.Errorf("%s: %v", w.ID(), err)
		}
	}
}

func TestCloseEndsEveryRunningAttemptWithinTwoSeconds(t *testing.T) {
	const workers = 16
	f := start(t, Config{Workers: workers, Timing: worker.Timing{TTFT: time.Hour}})
	c := client(t)
	var clients sync.WaitGroup
	for i, w := range f.Workers() {
		clients.Go(func() { ask(c, w.URL(), fmt.Sprint(i), i%2 == 0) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := f.Ledger().Wait(ctx, func(v ledger.View) bool { return v.Len() == workers }); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("Close took %s", d)
	}
	for _, a := range f.Ledger().Snapshot(0) {
		if a.End != ledger.Crashed {
			t.Errorf("attempt %d ended %s", a.Seq, a.End)
		}
	}
	clients.Wait()
	if _, err := f.Add(worker.Shape{}); err == nil {
		t.Error("Add after Close succeeded")
	}
}

func TestFixedPortsAreUsedAndATakenOneIsReported(t *testing.T) {
	free := start(t, Config{Workers: 2})
	ports := []int{free.Workers()[0].Port(), free.Workers()[1].Port()}
	if f, err := New(Config{Workers: 2, Ports: ports}); err == nil {
		f.Close()
		t.Error("two fleets share a port")
	} else if !strings.Contains(err.Error(), fmt.Sprint(ports[0])) {
		t.Errorf("a taken port: %v; want its number", err)
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	f := start(t, Config{Workers: 1, Ports: ports})
	if _, err := f.Add(worker.Shape{}); err != nil {
		t.Fatal(err)
	}
	for i, w := range f.Workers() {
		if w.Port() != ports[i] {
			t.Errorf("%s is on %d; want %d", w.ID(), w.Port(), ports[i])
		}
	}
}

func TestABadConfigStartsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	for name, c := range map[string]Config{
		"workers":            {Workers: -1},
		"an empty model":     {Workers: 1, Models: []string{""}},
		"timing":             {Workers: 1, Timing: worker.Timing{TTFT: -1}},
		"too few ports":      {Workers: 2, Ports: []int{9001}},
		"a port twice":       {Workers: 2, Ports: []int{9001, 9001}},
		"a port beyond TCP":  {Workers: 1, Ports: []int{70000}},
		"a port in use":      {Workers: 1, Ports: []int{taken}},
		"a role":             {Shapes: []worker.Shape{{Role: "encode"}}},
		"ranks":              {Shapes: []worker.Shape{{Role: worker.Prefill}, {Ranks: -1}}},
		"hand-offs":          {Workers: 1, Handoffs: -1},
		"ports for shapes":   {Workers: 1, Shapes: make([]worker.Shape, 1), Ports: []int{9001}},
		"a negative default": {Workers: 1, Timing: worker.Timing{Tokens: -1}},
	} {
		if f, err := New(c); err == nil {
			f.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}
