package affinity

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// inUse is how many bytes are in use once everything unused was collected.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one's finalizers and sweeps let go
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// handClock is moved by hand and counts the timers that were ever asked for.
type handClock struct {
	nanos  atomic.Int64
	timers atomic.Int64
}

func (c *handClock) Now() time.Time { return time.Unix(0, c.nanos.Load()) }

func (c *handClock) AfterFunc(time.Duration, func()) (stop func() bool) {
	c.timers.Add(1)
	return func() bool { return true }
}

func newHandTable(t testing.TB, cfg Config) (*Table, *handClock) {
	t.Helper()
	clock := &handClock{}
	cfg.IdleTTL = ttl
	table, err := New(cfg, clock)
	if err != nil {
		t.Fatal(err)
	}
	return table, clock
}

func TestAnIdleSessionCostsLittleMemoryNoGoroutineAndNoTimer(t *testing.T) {
	const idBytes, limit = 32, 400
	keys := randomKeys(cold)
	goroutines, before := runtime.NumGoroutine(), inUse()
	table, clock := newHandTable(t, Config{})
	for _, k := range keys {
		clock.nanos.Add(1)
		l := acquire(t, table, Ask{Key: k})
		commit(t, l, ranked("worker", 0))
		l.Release()
	}
	each := (inUse()-before)/cold - idBytes
	t.Logf("%d bytes for each of %d idle sessions, besides the %d of its id", each, cold, idBytes)
	if each > limit {
		t.Errorf("an idle session costs %d bytes besides its id, want at most %d", each, limit)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines became %d", goroutines, n)
	}
	if n := clock.timers.Load(); n != 0 {
		t.Errorf("%d timers for sessions for which nobody waited", n)
	}
	wants(t, table, Stats{Sessions: cold})
	runtime.KeepAlive(keys)
}

func TestMemoryStaysFlatHoweverManySessionsPass(t *testing.T) { staysFlat(t, 4*DefaultCapacity) }

// It is the test above at the full length of a million sessions; run it once,
// with -benchtime 1x.
func BenchmarkMemoryOverAMillionSessions(b *testing.B) {
	for b.Loop() {
		early, late := staysFlat(b, 16*DefaultCapacity)
		b.ReportMetric(float64(early), "B-after-a-quarter")
		b.ReportMetric(float64(late), "B-after-all")
	}
}

// staysFlat lets n new sessions pass through each of two tables of the default
// capacity: one in which they expire just in time, and one in which they are
// evicted.
func staysFlat(t testing.TB, n int) (early, late int64) {
	expiring, clock := newHandTable(t, Config{})
	evicting, frozen := newHandTable(t, Config{Evict: true})
	for from := 0; from < n; from += n / 4 {
		var wg sync.WaitGroup
		wg.Go(func() { pass(t, expiring, clock, ttl/(DefaultCapacity-512), from, n/4) })
		wg.Go(func() { pass(t, evicting, frozen, 1, from, n/4) })
		wg.Wait()
		if late = inUse(); from == 0 {
			early = late
		}
	}
	t.Logf("two tables of %d sessions: %d bytes in use after a quarter of %d sessions, %d after all", DefaultCapacity, early, n, late)
	if late > early+early/10 {
		t.Errorf("memory grew from %d to %d bytes", early, late)
	}
	wants(t, evicting, Stats{Sessions: DefaultCapacity})
	runtime.KeepAlive(expiring)
	return early, late
}

// pass brings n new sessions, a step of time apart. Some of their bindings fail.
func pass(t testing.TB, table *Table, clock *handClock, step time.Duration, from, n int) {
	var id []byte
	for i := from; i < from+n; i++ {
		id = strconv.AppendInt(append(id[:0], "a session of a usual length: "...), int64(i), 10)
		clock.nanos.Add(int64(step))
		l, err := table.Acquire(t.Context(), ask(string(id)))
		if err != nil {
			t.Error(err)
			return
		}
		if err := l.Commit(ranked("worker", uint32(i%8))); err != nil {
			t.Error(err)
		}
		if i%64 == 1 {
			l.Invalidate()
		}
		l.Release()
	}
}

func TestARequestOfABoundSessionAllocatesNothing(t *testing.T) {
	dead := mortal{}
	table := newTable(t, Config{Live: dead.live})
	bind(t, table, "s", ranked("w", 0))
	for name, a := range map[string]Ask{"without a pin": ask("s"), "pinned": pinned("s", worker("w"))} {
		ctx := t.Context()
		if n := testing.AllocsPerRun(1000, func() {
			l, err := table.Acquire(ctx, a)
			if _, bound := l.Bound(); err != nil || !bound || l.Commit(ranked("w", 0)) != nil {
				t.Error("not bound")
			}
			l.Release()
			l.Release()
		}); n != 0 {
			t.Errorf("%s: %v allocations for acquire, commit and release, want none", name, n)
		}
		if n := testing.AllocsPerRun(1000, func() {
			if _, bound, err := table.Query(a); err != nil || !bound {
				t.Error("not bound")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for a query, want none", name, n)
		}
	}
}

func TestASessionDoesNotKeepItsRequestAlive(t *testing.T) {
	request := strings.Repeat("a request of some size ", 100)
	within := func(s string) bool {
		at, from := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(request)))
		return from <= at && at < from+uintptr(len(request))
	}
	table := newTable(t, Config{})
	k := Key{Model: request[0:5], Tenant: request[5:10], Session: request[10:20]}
	l := acquire(t, table, Ask{k, Target{}})
	commit(t, l, worker(request[20:30]))
	l.Release()
	s, hash := table.shard(&k)
	e := s.core.find(hash, &k)
	for _, part := range []string{e.session, e.scope.value.model, e.scope.value.tenant, e.seat.value.model, e.seat.value.target.Worker} {
		if within(part) {
			t.Errorf("%q lies in the request that brought it", part)
		}
	}
	runtime.KeepAlive(request)
}

// Handles are used again, but a burst of leases leaves no more of them behind
// than the next requests can use.
func TestABurstOfLeasesIsForgotten(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", worker("w"))
	leases := make([]Lease, 10*maxSpare)
	for i := range leases {
		leases[i] = acquire(t, table, ask("s"))
	}
	for _, l := range leases {
		l.Release()
	}
	s, _ := table.shard(&Key{Model: "m", Session: "s"})
	if s.spares != maxSpare || s.open != 0 {
		t.Errorf("%d spare handles, %d open, want %d and none", s.spares, s.open, maxSpare)
	}
	for _, l := range leases { // those that are kept and those that are not
		if l.Release(); l.Commit(worker("w")) != ErrStale {
			t.Fatal("a lease that is over could commit")
		}
	}
	wants(t, table, Stats{Sessions: 1})
}
