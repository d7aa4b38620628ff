package affinity

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAfterAHandOverTheOldInitializerCanDoNothing(t *testing.T) {
	c := newCore(10)
	e := c.insert(key("s"))
	old := e.revision
	w := &waiter{}
	e.waiters.add(w)
	if heir, removed := c.abandon(e, old); heir != w || removed || !w.granted {
		t.Fatalf("abandon = %v, %v, want the waiter", heir, removed)
	}
	if _, ok := c.commit(e, old, "w1"); ok {
		t.Error("the old initializer committed")
	}
	if _, removed := c.abandon(e, old); removed {
		t.Error("the old initializer abandoned the heir's entry")
	}
	if _, ok := c.commit(e, w.revision, "w2"); !ok || e.worker != "w2" {
		t.Error("the heir could not commit")
	}
}

func TestLeasesNeverBecomeNegative(t *testing.T) {
	c := newCore(10)
	e := c.insert(key("s"))
	c.commit(e, e.revision, "w")
	for range 3 {
		c.release(e, e.revision, 1)
	}
	if e.leases != 0 || c.idle.first != e || c.idle.last != e {
		t.Errorf("%d leases", e.leases)
	}
}

func TestTheIdleAreReclaimedByDeadlineEvenIfTheClockWentBack(t *testing.T) {
	c := newCore(10)
	for i, now := range []int64{50, 20, 70, 20, 60} {
		e := c.insert(key(string(rune('a' + i))))
		c.commit(e, e.revision, "w")
		c.release(e, e.revision, now)
	}
	if c.reclaim(29) {
		t.Error("reclaimed before the first deadline")
	}
	for i, by := range []int64{30, 30, 60, 70, 80} {
		if d := c.idle.earliest(); d != by || !c.reclaim(by) {
			t.Errorf("deadline %d is %d, want %d", i, d, by)
		}
	}
	if len(c.entries) != 0 || c.idle.last != nil {
		t.Errorf("%d entries left", len(c.entries))
	}
}

func TestABindingThatEndedBeforeItsWaitersWokeIsNotHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s")).(*lease)
		waiting := waitBehind(t.Context(), table, key("s"), 3)
		s := first.shard
		s.mu.Lock() // nobody can wake in between
		wake, _ := s.core.commit(first.entry, first.revision, "dead")
		s.core.invalidate(first.entry, first.revision)
		table.used.Add(-1)
		for w := wake; w != nil; w = w.next {
			close(w.ready)
		}
		s.unlock()
		for range 3 {
			r := <-waiting
			if r.err != nil {
				t.Fatal(r.err)
			}
			if r.lease.Bound() == "" {
				if err := r.lease.Commit("alive"); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.lease.Bound(); got != "alive" {
				t.Errorf("bound to %q", got)
			}
			r.lease.Release()
		}
	})
}

func TestAWaiterCancelledInTheMomentOfItsGrantGivesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s")).(*lease)
		ctx, cancel := context.WithCancel(t.Context())
		waiting := waitBehind(ctx, table, key("s"), 1)
		s := first.shard
		s.mu.Lock()
		wake, _ := s.core.commit(first.entry, first.revision, "w1")
		first.worker = "w1"
		close(wake.ready)
		cancel()
		s.unlock()
		if r := <-waiting; !errors.Is(r.err, context.Canceled) || r.lease != nil {
			t.Fatalf("the waiter got %v", r)
		}
		first.Release()
		time.Sleep(ttl)
		if got := where(t, table, "s"); got != "" {
			t.Errorf("a lease leaked: still bound to %q", got)
		}
	})
}
