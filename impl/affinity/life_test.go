package affinity

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestASessionStaysWhereItsFirstRequestCommitted(t *testing.T) {
	for name, target := range map[string]Target{
		"a worker": worker("w1"), "rank 0": ranked("w1", 0), "the highest rank": ranked("w1", 1<<32-1),
	} {
		table := newTable(t, Config{})
		bind(t, table, "s", target)
		for range 3 {
			l := acquire(t, table, ask("s"))
			if got := home(l); got != target || where(t, table, "s") != target {
				t.Fatalf("%s: leased on %v, bound to %v, want %v", name, got, where(t, table, "s"), target)
			}
			l.Release()
		}
	}
}

func TestTheKeyIsExact(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", worker("w1"))
	for _, k := range []Key{{"m", "", "S"}, {"m", "", " s"}, {"m", "", "s "}, {"other", "", "s"}, {"", "", "ms"}, {"ms", "", ""}, {"m", "t", "s"}, {"", "m", "s"}} {
		l := acquire(t, table, Ask{Key: k})
		if at, bound := l.Bound(); bound {
			t.Errorf("%q is bound to %v, though only (m, s) was", k, at)
		}
		if err := l.Commit(worker(k.Model + k.Tenant + k.Session)); err != nil {
			t.Error(err)
		}
		l.Release()
	}
	if got := where(t, table, "s"); got != worker("w1") {
		t.Errorf("bound to %v, want w1", got)
	}
}

func TestAnAbandonedFirstRequestLeavesNothing(t *testing.T) {
	table := newTable(t, Config{})
	for name, end := range map[string]func(Lease){"release": Lease.Release, "invalidate": Lease.Invalidate} {
		l := acquire(t, table, ask("s"))
		end(l)
		wants(t, table, Stats{})
		if err := l.Commit(worker("w")); !errors.Is(err, ErrStale) {
			t.Errorf("%s: Commit afterwards = %v, want ErrStale", name, err)
		}
	}
}

func TestTheIdleTimeIsCountedFromTheEndOfTheLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", worker("w1"))
		for range 5 { // each request slides the deadline
			time.Sleep(ttl - time.Nanosecond)
			l := acquire(t, table, ask("s"))
			if got := home(l); got != worker("w1") {
				t.Fatalf("a nanosecond before its deadline the session was bound to %v", got)
			}
			l.Release()
		}
		time.Sleep(ttl)
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("at its deadline the session was still bound to %v", got)
		}
		bind(t, table, "s", worker("w2"))
	})
}

func TestAcquiringAloneDoesNotSlideTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", worker("w1"))
		time.Sleep(ttl / 2)
		acquire(t, table, ask("s")).Invalidate()
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("bound to %v", got)
		}
	})
}

func TestRequestsInFlightHoldABindingOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", worker("w1"))
		long := acquire(t, table, ask("s"))
		time.Sleep(ttl / 2)
		acquire(t, table, ask("s")).Release()
		time.Sleep(5 * ttl)
		short := acquire(t, table, ask("s"))
		if got := home(short); got != worker("w1") {
			t.Fatalf("bound to %v with a request in flight", got)
		}
		short.Release()
		short.Release() // must not take the long one's hold
		time.Sleep(5 * ttl)
		if got := where(t, table, "s"); got != worker("w1") {
			t.Fatalf("a second Release ended somebody else's lease: bound to %v", got)
		}
		wants(t, table, Stats{Sessions: 1, Leases: 1})
		long.Release()
		time.Sleep(ttl - time.Nanosecond)
		if got := where(t, table, "s"); got != worker("w1") {
			t.Errorf("after the last release a full TTL must run, but the session was bound to %v", got)
		}
		time.Sleep(time.Nanosecond)
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("bound to %v a whole TTL after the last release", got)
		}
	})
}

func TestAnExpiredSessionIsInitializedInItsOwnSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 1})
		bind(t, table, "s", worker("w1"))
		time.Sleep(ttl)
		bind(t, table, "s", worker("w2"))
		wants(t, table, Stats{Sessions: 1})
		if got := where(t, table, "s"); got != worker("w2") {
			t.Errorf("bound to %v, want w2", got)
		}
	})
}

func TestInvalidatingWithSiblingsInFlightTouchesNoNewerBinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", worker("w1"))
		failing, sibling, late := acquire(t, table, ask("s")), acquire(t, table, ask("s")), acquire(t, table, ask("s"))
		failing.Invalidate()
		wants(t, table, Stats{Leases: 2})
		bind(t, table, "s", worker("w2"))
		if got := home(sibling); got != worker("w1") {
			t.Errorf("the sibling finishes where it is, not on %v", got)
		}
		if err := sibling.Commit(ranked("w1", 3)); err != nil {
			t.Errorf("the sibling's dispatch was refused: %v", err)
		}
		if err := sibling.Commit(worker("w2")); !errors.Is(err, ErrMismatch) {
			t.Errorf("the sibling's dispatch to the newer binding: %v, want ErrMismatch", err)
		}
		time.Sleep(ttl / 2)
		sibling.Release()
		late.Invalidate()
		wants(t, table, Stats{Sessions: 1})
		time.Sleep(ttl/2 - time.Nanosecond)
		if got := where(t, table, "s"); got != worker("w2") {
			t.Fatalf("a stale lease ended the newer binding: bound to %v", got)
		}
		time.Sleep(time.Nanosecond)
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("a stale lease prolonged the newer binding: bound to %v", got)
		}
	})
}

func TestEveryMethodDoesNothingOnceTheLeaseIsOver(t *testing.T) {
	table := newTable(t, Config{})
	bind(t, table, "s", worker("w1"))
	over := acquire(t, table, ask("s"))
	over.Release()
	present := acquire(t, table, ask("s")) // with the same handle
	if present.holder != over.holder {
		t.Fatal("the handle is not used again, and the test tests nothing")
	}
	for name, l := range map[string]Lease{"over": over, "zero": {}} {
		l.Release()
		l.Invalidate()
		if err := l.Commit(worker("w1")); !errors.Is(err, ErrStale) {
			t.Errorf("%s: Commit = %v, want ErrStale", name, err)
		}
		if at, bound := l.Bound(); bound || at != (Target{}) {
			t.Errorf("%s: bound to %v", name, at)
		}
	}
	wants(t, table, Stats{Sessions: 1, Leases: 1})
	if got := home(present); got != worker("w1") {
		t.Errorf("bound to %v, want w1", got)
	}
	present.Release()
}

func TestTheIDLimitIs256Bytes(t *testing.T) {
	table := newTable(t, Config{})
	for _, c := range []struct {
		id string
		ok bool
	}{
		{"", true},
		{strings.Repeat("a", 256), true},
		{strings.Repeat("a", 257), false},
		{strings.Repeat("é", 128), true},
		{strings.Repeat("é", 128) + "a", false},
	} {
		a := Ask{Key: Key{Model: strings.Repeat("m", 300), Tenant: strings.Repeat("t", 300), Session: c.id}}
		if !c.ok {
			a.Pin.Rank = RankOf(0) // the length is what is looked at first
		}
		l, err := table.Acquire(t.Context(), a)
		_, _, qerr := table.Query(a)
		for _, err := range []error{err, qerr} {
			if c.ok && err != nil || !c.ok && (!errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), "257 bytes")) {
				t.Errorf("%d bytes: error %v, want accepted = %v", len(c.id), err, c.ok)
			}
		}
		l.Release()
	}
	wants(t, table, Stats{})
}

func TestAnEndedContextAcquiresNothing(t *testing.T) {
	table := newTable(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Acquire(ctx, ask("s")); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire = %v, want context.Canceled", err)
	}
	wants(t, table, Stats{})
}

func TestAQueryLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := mortal{}
		table := newTable(t, Config{Live: dead.live})
		query := func(state string, want Target, held Stats) {
			t.Helper()
			if got := where(t, table, "s"); got != want {
				t.Errorf("%s: bound to %v, want %v", state, got, want)
			}
			wants(t, table, held)
		}
		query("absent", Target{}, Stats{})
		l := acquire(t, table, ask("s"))
		query("initializing", Target{}, Stats{Sessions: 1, Initializing: 1, Leases: 1})
		commit(t, l, ranked("w1", 0))
		query("in flight", ranked("w1", 0), Stats{Sessions: 1, Leases: 1})
		l.Release()
		dead[worker("w1")] = true
		query("dead", Target{}, Stats{Sessions: 1})
		delete(dead, worker("w1"))
		time.Sleep(ttl - 1)
		query("idle", ranked("w1", 0), Stats{Sessions: 1})
		time.Sleep(time.Nanosecond) // had the query refreshed it, it would be bound
		query("expired", Target{}, Stats{Sessions: 1})
	})
}
