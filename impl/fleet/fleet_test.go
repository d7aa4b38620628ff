package fleet

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/selection"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func worker(id string, role discovery.Role, ranks int) discovery.Worker {
	return discovery.Worker{ID: id, URL: "http://h:1", Models: []string{"m"}, Role: role, Ranks: ranks}
}

func newFleet(t *testing.T, workers ...discovery.Worker) *Fleet {
	t.Helper()
	f := New()
	set(t, f, workers...)
	return f
}

func set(t *testing.T, f *Fleet, workers ...discovery.Worker) {
	t.Helper()
	if err := f.Set(workers); err != nil {
		t.Fatal(err)
	}
}

// name says where a place is.
func name(p Place) string { return p.ID() + "/" + p.Rank().String() }

func find(t *testing.T, f *Fleet, id string, rank ...uint32) affinity.Target {
	t.Helper()
	wish := affinity.Target{Worker: id}
	if len(rank) > 0 {
		wish.Rank = affinity.RankOf(rank[0])
	}
	p, err := f.Find("m", wish)
	if err != nil {
		t.Fatal(err)
	}
	return p.Target()
}

func TestRoundRobinMeetsEveryWorkerBeforeASecondRankOfOne(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 3), worker("c", "", 0))
	rr := selection.NewRoundRobin()
	var got []string
	for range 6 {
		got = append(got, name(f.Begin(rr, Want{Model: "m"}).Place))
	}
	if want := "a/0 b/0 c/none a/1 b/1 b/2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPoolsAreByRole(t *testing.T) {
	f := newFleet(t, worker("a", "", 1), worker("p", discovery.Prefill, 1), worker("d", discovery.Decode, 1), worker("q", discovery.Prefill, 1))
	rr := selection.NewRoundRobin()
	for pool, want := range map[Pool]string{Whole: "a d", Decode: "d", Prefill: "p q"} {
		var got []string
		for range 4 {
			got = append(got, f.Begin(rr, Want{Model: "m", Pool: pool}).ID())
		}
		slices.Sort(got)
		if got := strings.Join(slices.Compact(got), " "); got != want {
			t.Errorf("%v: %s, want %s", pool, got, want)
		}
	}
	if !f.Split("m") || f.Split("x") {
		t.Error("Split is wrong")
	}
	for range 3 {
		if got := f.Begin(rr, Want{Model: "m", Split: true}); got.ID() != "d" {
			t.Errorf("of both roles, %s was chosen", got.ID())
		}
		if got := f.Begin(rr, Want{Model: "m", Split: true, At: find(t, f, "a")}); got.ID() != "a" {
			t.Errorf("instead of the named one, %s was chosen", got.ID())
		}
	}
	set(t, f, worker("p", discovery.Prefill, 1), worker("a", "", 1))
	if f.Split("m") {
		t.Error("split without a decode worker")
	}
	if got := f.Begin(rr, Want{Model: "m", Split: true}); got.ID() != "a" {
		t.Errorf("without decode workers, %s was chosen", got.ID())
	}
	set(t, f, worker("p", discovery.Prefill, 1))
	if f.Begin(rr, Want{Model: "m"}) != nil {
		t.Error("a prefill worker was to answer a client")
	}
}

func TestLookSaysWhatBeginWillDoAndLeavesNoTrace(t *testing.T) {
	for _, policy := range selection.Names() {
		p, _ := selection.ByName(policy, 3)
		f := newFleet(t, worker("a", "", 2), worker("b", "", 0), worker("c", "", 4))
		for i := range 100 {
			w := Want{Model: "m"}
			if i%3 == 0 {
				w.At = find(t, f, "c")
			}
			before := fmt.Sprint(f.LoadByRank())
			first, _ := f.Look(p, w)
			second, _ := f.Look(p, w)
			if after := fmt.Sprint(f.LoadByRank()); after != before {
				t.Fatalf("looking changed the load from %s to %s", before, after)
			}
			if got := f.Begin(p, w); name(first) != name(got.Place) || name(second) != name(got.Place) {
				t.Fatalf("%s: looked at %s and %s, began at %s", policy, name(first), name(second), name(got.Place))
			}
		}
	}
}

func TestLoadIsCountedByRankAndReleasedOnce(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 0))
	rr := selection.NewRoundRobin()
	first := f.Begin(rr, Want{Model: "m", At: find(t, f, "a", 1)})
	second := f.Begin(rr, Want{Model: "m", At: find(t, f, "b", 0)})
	third := f.Begin(rr, Want{Model: "m", At: find(t, f, "b")})
	if got := fmt.Sprint(f.LoadByRank(), f.Load()); got != "map[a:[0 1] b:[2]] map[a:1 b:2]" {
		t.Errorf("load %s", got)
	}
	set(t, f, worker("b", "", 0)) // a leaves
	set(t, f, worker("b", "", 0), worker("a", "", 3))
	if got := fmt.Sprint(f.LoadByRank()); got != "map[a:[0 1 0] b:[2]]" {
		t.Errorf("load with the one that left %s", got)
	}
	for range 2 {
		first.Release()
		second.Release()
		third.Release()
	}
	if got := fmt.Sprint(f.LoadByRank()); got != "map[a:[0 0 0] b:[0]]" {
		t.Errorf("load after everything %s", got)
	}
}

func TestLeastLoadedGoesByRank(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 2))
	ll := selection.NewLeastLoaded(1)
	seen := map[string]int{}
	for range 8 {
		seen[name(f.Begin(ll, Want{Model: "m"}).Place)]++
	}
	if len(seen) != 4 || seen["a/0"] != 2 || seen["a/1"] != 2 || seen["b/0"] != 2 {
		t.Errorf("eight requests went to %v", seen)
	}
	seen = map[string]int{}
	for range 4 {
		seen[name(f.Begin(ll, Want{Model: "m", At: find(t, f, "b")}).Place)]++
	}
	if seen["b/0"] != 2 || seen["b/1"] != 2 {
		t.Errorf("four requests for b went to %v", seen)
	}
}

func TestWishesThatCannotBeMetAreErrors(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 0), worker("c", "", 1))
	for _, c := range []struct {
		worker string
		rank   uint32
		want   string
	}{{"x", 0, "unknown"}, {"A", 0, "unknown"}, {"a#1", 0, "unknown"}, {"a", 2, "ranks 0 to 1"}, {"b", 1, "ranks 0 to 0"}, {"c", 1, "out of range"}, {"a", 4294967295, "out of range"}} {
		if _, err := f.Find("m", affinity.Target{Worker: c.worker, Rank: affinity.RankOf(c.rank)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := f.Find("n", affinity.Target{Worker: "a"}); err == nil {
		t.Error("a worker was found for a model it does not serve")
	}
	if got := name(Place{f.current.Load().members[1], find(t, f, "b", 0).Rank}); got != "b/0" {
		t.Errorf("rank 0 of a worker without ranks: %s", got)
	}
}

func TestWhoeverChangesIsANewIncarnation(t *testing.T) {
	base := worker("a", "", 1)
	for _, c := range []struct {
		name   string
		change func(*discovery.Worker)
		same   bool
	}{
		{"nothing changes", func(*discovery.Worker) {}, true},
		{"its role is written out", func(w *discovery.Worker) { w.Role = discovery.Aggregated }, true},
		{"one rank becomes known", func(w *discovery.Worker) { w.Ranks = 0 }, true},
		{"another model", func(w *discovery.Worker) { w.Models = []string{"m", "n"} }, true},
		{"another address", func(w *discovery.Worker) { w.URL = "http://h:2" }, false},
		{"another incarnation", func(w *discovery.Worker) { w.Incarnation = "2" }, false},
		{"another role", func(w *discovery.Worker) { w.Role = discovery.Decode }, false},
		{"another number of ranks", func(w *discovery.Worker) { w.Ranks = 2 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t, base)
			old := find(t, f, "a")
			next := base
			c.change(&next)
			set(t, f, next)
			if f.Live("m", old) != c.same || (find(t, f, "a").Worker == old.Worker) != c.same {
				t.Errorf("the old one is live: %v, want %v", f.Live("m", old), c.same)
			}
			if got := f.Begin(selection.NewRoundRobin(), Want{Model: "m", At: old}); (got != nil) != c.same {
				t.Errorf("the old one gets requests: %v, want %v", got != nil, c.same)
			}
		})
	}
}

func TestAFailedWorkerIsAvoidedByFreshPicksOnly(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 0))
	rr := selection.NewRoundRobin()
	bad := f.Begin(rr, Want{Model: "m", At: find(t, f, "a", 0)})
	bad.Failed()
	for range 4 {
		if got := f.Begin(rr, Want{Model: "m"}); got.ID() != "b" {
			t.Errorf("went to %s", got.ID())
		}
	}
	if got := f.Begin(rr, Want{Model: "m", At: find(t, f, "a")}); got.ID() != "a" {
		t.Errorf("the named one is not used: %s", got.ID())
	}
	if got := f.Begin(rr, Want{Model: "m", Not: []string{find(t, f, "b").Worker}}); got.ID() != "a" {
		t.Errorf("when every other one is out, went to %s", got.ID())
	}
	bad.Responded()
	if first, second := f.Begin(rr, Want{Model: "m"}), f.Begin(rr, Want{Model: "m"}); first.ID() != "b" || second.ID() != "a" {
		t.Errorf("after a response picks went to %s and %s", first.ID(), second.ID())
	}
}

func TestAWorkerThatLeavesBetweenChoiceAndCountGetsNoRequest(t *testing.T) {
	f := newFleet(t, worker("a", "", 2), worker("b", "", 0))
	p, ok := f.exact(Want{Model: "m", At: find(t, f, "b")})
	set(t, f, worker("a", "", 2))
	if got := f.begin(p, "m"); !ok || got != nil || p.total() != 0 {
		t.Errorf("exact %v, begin %v, in flight %d", ok, got, p.total())
	}
}

func TestNobodyWhoLeftGetsARequestAndNoLoadIsLost(t *testing.T) {
	with := []discovery.Worker{worker("a", "", 2), worker("b", "", 0)}
	f := newFleet(t, with...)
	rr := selection.NewRoundRobin()
	var gone atomic.Bool // between the Set that removes b and the one that adds it again
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, err := f.Find("m", affinity.Target{Worker: "b"})
				if err != nil {
					continue
				}
				was := gone.Load()
				if got := f.Begin(rr, Want{Model: "m", At: p.Target()}); got != nil {
					if was { // when this one had been found already, so it is not the next incarnation
						t.Error("a worker got a request after it was removed")
					}
					got.Release()
				}
				if got := f.Begin(rr, Want{Model: "m"}); got != nil {
					got.Release()
				}
			}
		})
	}
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		set(t, f, with[0])
		gone.Store(true)
		f.LoadByRank()
		gone.Store(false)
		set(t, f, with...)
	}
	close(stop)
	wg.Wait()
	if got := fmt.Sprint(f.LoadByRank()); got != "map[a:[0 0] b:[0]]" || len(f.leaving) != 0 {
		t.Errorf("load %s, leaving %d", got, len(f.leaving))
	}
}
