package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// faults are the tests with a store that is out of reach.
var faults = map[string]func(*testing.T, Suite){
	"an interruption ends with a snapshot without ghosts":   testGhosts,
	"a store that is away at the start is waited for":       testAwayAtStart,
	"a worker that was cut off comes back as a new one":     testCutOff,
	"calls to a store that is away fail and name the store": testAwayCalls,
	"many lives leave nothing behind":                       testCycles,
}

func testGhosts(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	record := func(id string) []byte { return fmt.Appendf(nil, `{"id":%q,"url":"http://h:1","models":["m"]}`, id) }
	for _, id := range []string{"stays", "goes", "changes"} {
		Must(t, st.Put(Within(t), "workers/"+id, record(id), nil))
	}
	reader := b.Open(t)
	view, fleet := Watch(t, reader, "workers"), Follow(t, reader)
	view.Until("three workers", func(m map[string]string) bool { return len(m) == 3 })
	fleet.UntilIDs("changes", "goes", "stays")
	back := b.Away(t)
	behind := b.Behind(t)
	Must(t, behind.Delete(Within(t), "workers/goes"))
	Must(t, behind.Put(Within(t), "workers/changes", record("changed"), nil))
	Must(t, behind.Put(Within(t), "workers/comes", record("comes"), nil))
	for range 3 { // what changes more often is told once
		Must(t, behind.Put(Within(t), "workers/flickers", record("flickers"), nil))
		Must(t, behind.Delete(Within(t), "workers/flickers"))
	}
	select {
	case <-time.After(2 * s.TTL): // nothing must happen
	case <-t.Context().Done():
	}
	if n := view.Snapshots(); n != 1 {
		t.Errorf("%d snapshots from a store that is away", n)
	}
	if set := fleet.UntilIDs("changes", "goes", "stays"); len(fleet.Sets()) > 4 {
		t.Errorf("the worker set changed while the store was away: %v", set)
	}
	back()
	view.UntilEqual(map[string]string{
		"workers/stays": string(record("stays")), "workers/changes": string(record("changed")), "workers/comes": string(record("comes")),
	})
	fleet.UntilIDs("changed", "comes", "stays")
	if n := view.Snapshots(); n < 2 {
		t.Errorf("%d snapshots in all: none after the interruption", n)
	}
	Must(t, st.Put(Within(t), "workers/after", record("after"), nil))
	fleet.UntilIDs("after", "changed", "comes", "stays")
}

func testAwayAtStart(t *testing.T, s Suite) {
	b := s.New(t)
	back := b.Away(t)
	st := b.Open(t)
	view, fleet := Watch(t, st, ""), Follow(t, st)
	r := register(t, st, worker("w0"), s.TTL)
	select {
	case <-r.Done():
		t.Fatalf("the registration gave up: %v", r.Err())
	case <-time.After(s.TTL): // long enough for some attempts
	}
	if events := view.Events(); len(events) > 0 {
		t.Errorf("a store that is away told %v", show(events))
	}
	if _, registered, _ := r.Current(); registered {
		t.Error("registered in a store that is away")
	}
	back()
	w := ready(t, r)
	if got := fleet.UntilIDs("w0")[0]; got.Incarnation != w.Incarnation {
		t.Errorf("followed %v, registered %v", got, w)
	}
	view.Until("the worker", func(m map[string]string) bool { return len(m) == 1 })
}

func testCutOff(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	fleet := Follow(t, b.Open(t))
	r := register(t, st, worker("w0"), s.TTL)
	first := ready(t, r)
	fleet.UntilIDs("w0")
	back := b.Away(t)
	for registered := true; registered; {
		var changed <-chan struct{}
		_, registered, changed = r.Current()
		if registered {
			select {
			case <-changed:
			case <-time.After(Patience):
				t.Fatal("the registration is not lost")
			}
		}
	}
	back()
	second := renewed(t, r, first.Incarnation)
	fleet.Until("the new incarnation alone", func(set []discovery.Worker) bool {
		return len(set) == 1 && set[0].Incarnation == second.Incarnation
	})
	reader := b.Open(t)
	Eventually(t, "the old record to be gone", func() bool { return len(Listing(t, reader, "")) == 1 }, func() any { return Listing(t, reader, "") })
	Must(t, r.Stop(Within(t)))
	fleet.UntilIDs()
}

func testAwayCalls(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	Must(t, st.Put(Within(t), "k", []byte("v"), nil))
	back := b.Away(t)
	_, listed := st.List(Within(t), "")
	for call, err := range map[string]error{
		"List": listed, "Create": st.Create(Within(t), "new", nil, nil), "Delete": st.Delete(Within(t), "k"),
		"Replace": st.Replace(Within(t), "k", []byte("v"), []byte("w")),
	} {
		if err == nil || !strings.Contains(err.Error(), "store") {
			t.Errorf("%s of a store that is away: %v", call, err)
		}
	}
	back()
	Eventually(t, "the store to answer again", func() bool {
		_, err := st.List(Within(t), "")
		return err == nil
	}, func() any { return "an error" })
	got := Listing(t, st, "")
	delete(got, "new") // may have been made: a call that fails has not always failed there
	delete(got, "k")   // may have been deleted
	if len(got) > 0 {
		t.Errorf("there is %v", got)
	}
}

// Cycles is how many lives the test of them leads; the environment variable
// ROUTEPROOF_CYCLES says otherwise.
const Cycles = 300

func testCycles(t *testing.T, s Suite) {
	n := Cycles
	if text := os.Getenv("ROUTEPROOF_CYCLES"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		Must(t, err)
	}
	b := s.New(t)
	st, reader := b.Open(t), b.Open(t)
	ctx, cancel := context.WithTimeout(t.Context(), Patience+time.Duration(n)*20*time.Millisecond)
	defer cancel()
	events, err := reader.Watch(ctx, "")
	Must(t, err)
	go func() {
		for range events { // a View would keep them
		}
	}()
	live := func(i int) { // with nothing that the test keeps
		r, err := discovery.Register(ctx, st, "workers", worker(fmt.Sprintf("w%d", i%7)), s.TTL, slog.New(slog.DiscardHandler))
		Must(t, err)
		Must(t, r.Ready(ctx))
		Must(t, r.Stop(ctx))
		if i%10 == 0 { // and a reader's
			ctx, cancel := context.WithCancel(ctx)
			events, err := reader.Watch(ctx, "")
			Must(t, err)
			<-events
			cancel()
			for range events {
			}
		}
	}
	for i := range 20 {
		live(i)
	}
	before := measure()
	for i := range n {
		live(i)
	}
	after := measure()
	t.Logf("before %+v, after %d lives %+v", before, n, after)
	// Other tests run meanwhile: what grows with each life is many times what they need.
	if n >= 1000 && (after.files > before.files+n/20 || after.goroutines > before.goroutines+n/5 || after.heap > before.heap+uint64(n)*2000) {
		t.Errorf("before %+v, after %d lives %+v", before, n, after)
	}
	if got := Listing(t, reader, ""); !maps.Equal(got, map[string]string{}) {
		t.Errorf("there is %v", got)
	}
}

type usage struct {
	goroutines, files int
	heap              uint64
}

func measure() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // elsewhere it counts as none
	return usage{goroutines: runtime.NumGoroutine(), files: len(files), heap: m.HeapAlloc}
}
