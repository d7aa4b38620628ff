package affinity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ttl = 10 * time.Second

func newTable(t *testing.T, cfg Config) *Table {
	t.Helper()
	if cfg.IdleTTL == 0 {
		cfg.IdleTTL = ttl
	}
	table, err := New(cfg, SystemClock{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func key(session string) Key { return Key{Model: "m", Session: session} }

func acquire(t *testing.T, table *Table, k Key) Lease {
	t.Helper()
	l, err := table.Acquire(t.Context(), k)
	if err != nil {
		t.Fatalf("Acquire(%v): %v", k, err)
	}
	return l
}

// bind makes an idle binding.
func bind(t *testing.T, table *Table, session, worker string) {
	t.Helper()
	l := acquire(t, table, key(session))
	if l.Bound() != "" {
		t.Fatalf("session %q is bound to %q already", session, l.Bound())
	}
	if err := l.Commit(worker); err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// where returns the binding without a lasting trace on an absent session; it
// refreshes a present one.
func where(t *testing.T, table *Table, session string) string {
	t.Helper()
	l := acquire(t, table, key(session))
	defer l.Release()
	return l.Bound()
}

func TestASessionStaysWithTheWorkerItsFirstRequestCommitted(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", "w1")
	for range 3 {
		if got := where(t, table, "s"); got != "w1" {
			t.Fatalf("bound to %q, want w1", got)
		}
	}
}

func TestTheKeyIsExact(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", "w1")
	for _, k := range []Key{{"m", "S"}, {"m", " s"}, {"m", "s "}, {"other", "s"}, {"", "ms"}, {"ms", ""}} {
		l := acquire(t, table, k)
		if l.Bound() != "" {
			t.Errorf("%q is bound to %q, though only (m, s) was", k, l.Bound())
		}
		l.Abandon()
	}
}

func TestAnAbandonedFirstRequestLeavesNothing(t *testing.T) {
	table := newTable(t, Config{})
	for name, end := range map[string]func(Lease){
		"abandon": Lease.Abandon, "release": Lease.Release, "invalidate": Lease.Invalidate,
	} {
		l := acquire(t, table, key("s"))
		end(l)
		if table.Len() != 0 {
			t.Errorf("%s: %d slots taken, want 0", name, table.Len())
		}
		if err := l.Commit("w"); !errors.Is(err, ErrStale) {
			t.Errorf("%s: Commit afterwards = %v, want ErrStale", name, err)
		}
	}
}

func TestTheIdleTimeIsCountedFromTheEndOfTheLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", "w1")
		for range 5 { // each request slides the deadline
			time.Sleep(ttl - time.Nanosecond)
			if got := where(t, table, "s"); got != "w1" {
				t.Fatalf("a nanosecond before its deadline the session was bound to %q", got)
			}
		}
		time.Sleep(ttl)
		if got := where(t, table, "s"); got != "" {
			t.Errorf("at its deadline the session was still bound to %q", got)
		}
	})
}

func TestRequestsInFlightHoldABindingOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", "w1")
		long := acquire(t, table, key("s"))
		time.Sleep(ttl / 2)
		acquire(t, table, key("s")).Release()
		time.Sleep(5 * ttl)
		short := acquire(t, table, key("s"))
		if short.Bound() != "w1" {
			t.Fatalf("bound to %q with a request in flight", short.Bound())
		}
		short.Release()
		short.Release() // must not take the long one's hold
		time.Sleep(5 * ttl)
		if got := where(t, table, "s"); got != "w1" {
			t.Fatalf("a second Release ended somebody else's lease: bound to %q", got)
		}
		long.Release()
		time.Sleep(ttl - time.Nanosecond)
		if got := where(t, table, "s"); got != "w1" {
			t.Errorf("after the last release a full TTL must run, but the session was bound to %q", got)
		}
	})
}

func TestAnExpiredSessionIsInitializedInItsOwnSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 1})
		bind(t, table, "s", "w1")
		time.Sleep(ttl)
		bind(t, table, "s", "w2")
		if table.Len() != 1 {
			t.Errorf("%d slots taken, want 1", table.Len())
		}
		if got := where(t, table, "s"); got != "w2" {
			t.Errorf("bound to %q, want w2", got)
		}
	})
}

func TestInvalidatingWithSiblingsInFlightTouchesNoNewerBinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", "w1")
		failing, sibling, late := acquire(t, table, key("s")), acquire(t, table, key("s")), acquire(t, table, key("s"))
		failing.Invalidate()
		bind(t, table, "s", "w2")
		if sibling.Bound() != "w1" {
			t.Errorf("the sibling finishes where it is, not on %q", sibling.Bound())
		}
		time.Sleep(ttl / 2)
		sibling.Release()
		late.Invalidate()
		if table.Len() != 1 {
			t.Errorf("%d slots taken, want 1", table.Len())
		}
		time.Sleep(ttl/2 - time.Nanosecond)
		held := acquire(t, table, key("s"))
		if held.Bound() != "w2" {
			t.Fatalf("a stale lease ended the newer binding: bound to %q", held.Bound())
		}
		held.Release()
		time.Sleep(ttl)
		if got := where(t, table, "s"); got != "" {
			t.Errorf("a stale lease prolonged the newer binding: bound to %q", got)
		}
	})
}

func TestEveryMethodDoesNothingOnceTheLeaseIsOver(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", "w1")
	l := acquire(t, table, key("s"))
	l.Release()
	l.Release()
	l.Invalidate()
	l.Abandon()
	if err := l.Commit("w2"); !errors.Is(err, ErrStale) {
		t.Errorf("Commit = %v, want ErrStale", err)
	}
	if got := where(t, table, "s"); got != "w1" {
		t.Errorf("bound to %q, want w1", got)
	}
}

func TestABoundLeaseCanNeitherMoveNorBeAbandoned(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", "w1")
	l := acquire(t, table, key("s"))
	defer l.Release()
	if err := l.Commit("w2"); !errors.Is(err, ErrStale) {
		t.Errorf("Commit of another worker = %v, want ErrStale", err)
	}
	if err := l.Commit("w1"); err != nil {
		t.Errorf("Commit of the same worker = %v", err)
	}
	l.Abandon()
	if got := where(t, table, "s"); got != "w1" {
		t.Errorf("bound to %q, want w1", got)
	}
}

func TestASessionCannotBeBoundToAWorkerWithoutAName(t *testing.T) {
	table := newTable(t, Config{})
	l := acquire(t, table, key("s"))
	defer l.Release()
	if err := l.Commit(""); err == nil || !strings.Contains(err.Error(), `"s"`) {
		t.Errorf("Commit = %v, want an error that names the session", err)
	}
}

func TestTheIDLimitIs256Bytes(t *testing.T) {
	table := newTable(t, Config{})
	for _, c := range []struct {
		id string
		ok bool
	}{
		{strings.Repeat("a", 256), true},
		{strings.Repeat("a", 257), false},
		{strings.Repeat("é", 128), true},
		{strings.Repeat("é", 128) + "a", false},
	} {
		l, err := table.Acquire(t.Context(), Key{Model: strings.Repeat("m", 300), Session: c.id})
		if c.ok && err != nil || !c.ok && !errors.Is(err, ErrTooLong) {
			t.Errorf("%d bytes: error %v, want accepted = %v", len(c.id), err, c.ok)
		}
		if l != nil {
			l.Abandon()
		}
	}
	if table.Len() != 0 {
		t.Errorf("%d slots taken, want 0", table.Len())
	}
}

func TestAnEndedContextAcquiresNothing(t *testing.T) {
	table := newTable(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Acquire(ctx, key("s")); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire = %v, want context.Canceled", err)
	}
	if table.Len() != 0 {
		t.Errorf("%d slots taken, want 0", table.Len())
	}
}

func TestSettingsOutOfRangeAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "idleTTL 0s"},
		{Config{IdleTTL: time.Second - 1}, "idleTTL 999.999999ms"},
		{Config{IdleTTL: MaxIdleTTL + 1}, "idleTTL"},
		{Config{IdleTTL: -time.Second}, "idleTTL -1s"},
		{Config{IdleTTL: ttl, Capacity: -1}, "capacity -1"},
		{Config{IdleTTL: ttl, InitWait: -1}, "initWait -1ns"},
	} {
		if _, err := New(c.cfg, SystemClock{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, want an error with %q", c.cfg, err, c.want)
		}
	}
	for _, ok := range []time.Duration{MinIdleTTL, MaxIdleTTL} {
		if _, err := New(Config{IdleTTL: ok}, SystemClock{}); err != nil {
			t.Errorf("New with idleTTL %v: %v", ok, err)
		}
	}
}

func TestAtCapacityANewSessionIsRefusedAndPresentOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		table := newTable(t, Config{Capacity: n})
		for i := range n {
			bind(t, table, fmt.Sprint("s", i), "w1")
		}
		if _, err := table.Acquire(t.Context(), key("new")); !errors.Is(err, ErrCapacity) {
			t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
		}
		time.Sleep(ttl - time.Nanosecond)
		for i := range n - 1 {
			if got := where(t, table, fmt.Sprint("s", i)); got != "w1" {
				t.Fatalf("present session s%d is bound to %q", i, got)
			}
		}
		time.Sleep(time.Nanosecond) // only the last session expires
		bind(t, table, "new", "w2")
		if _, err := table.Acquire(t.Context(), key("newer")); !errors.Is(err, ErrCapacity) {
			t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
		}
		time.Sleep(ttl)
		for i := range n {
			bind(t, table, fmt.Sprint("later", i), "w3")
		}
		if table.Len() != n {
			t.Errorf("%d slots taken, want %d", table.Len(), n)
		}
	})
}

func TestInitializersHoldSlotsUntilTheyAreAbandoned(t *testing.T) {
	table := newTable(t, Config{Capacity: 1})
	first := acquire(t, table, key("a"))
	if _, err := table.Acquire(t.Context(), key("b")); !errors.Is(err, ErrCapacity) {
		t.Fatalf("Acquire = %v, want ErrCapacity", err)
	}
	first.Abandon()
	acquire(t, table, key("b")).Abandon()
}

func TestEvictionEndsTheLongestIdleBindingAndSparesThoseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 3, Evict: true})
		bind(t, table, "busy", "w1")
		busy := acquire(t, table, key("busy"))
		for _, s := range []string{"old", "young"} {
			bind(t, table, s, "w1")
			time.Sleep(time.Second)
		}
		bind(t, table, "new", "w2")
		if got := where(t, table, "young"); got != "w1" {
			t.Errorf("young is bound to %q, want w1", got)
		}
		if busy.Bound() != "w1" || table.Len() != 3 {
			t.Errorf("busy on %q, %d slots", busy.Bound(), table.Len())
		}
		one, two := acquire(t, table, key("young")), acquire(t, table, key("new"))
		if _, err := table.Acquire(t.Context(), key("old")); !errors.Is(err, ErrCapacity) {
			t.Errorf("with every session in flight Acquire = %v, want ErrCapacity", err)
		}
		one.Release()
		two.Release()
		busy.Release()
	})
}

func TestExpiredSessionsAreReclaimedByNewOnesLongBeforeCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		for round := range 20 {
			for i := range 1000 {
				bind(t, table, fmt.Sprint(round, "-", i), "w")
			}
			time.Sleep(ttl)
		}
		if n := table.Len(); n > 2500 {
			t.Errorf("%d sessions held, though at most 1000 lived at any time", n)
		}
	})
}
