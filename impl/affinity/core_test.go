package affinity

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func newTestCore() *core {
	c := newCore(&common{ttl: 10})
	return &c
}

// put makes a binding that was released at the given time.
func (c *core) put(session string, now int64) *entry {
	a := ask(session)
	e := c.insert(1, &a.Key) // all hashes are equal
	c.commit(e, e.revision, worker("w"))
	c.release(e, e.revision, now)
	return e
}

func TestAfterAHandOverTheOldInitializerCanDoNothing(t *testing.T) {
	c := newTestCore()
	k := key("s")
	e := c.insert(1, &k)
	old := e.revision
	w := &waiter{}
	c.join(e, w)
	if heir, removed := c.abandon(e, old); heir != w || removed || w.answer != elected {
		t.Fatalf("abandon = %v, %v, want the waiter", heir, removed)
	}
	if _, ok := c.commit(e, old, worker("w1")); ok {
		t.Error("the old initializer committed")
	}
	if heir, removed := c.abandon(e, old); heir != nil || removed {
		t.Error("the old initializer abandoned the heir's entry")
	}
	if _, ok := c.commit(e, e.revision, worker("w2")); !ok || e.seat.value.target != worker("w2") {
		t.Error("the heir could not commit")
	}
}

func TestLeasesNeverBecomeNegative(t *testing.T) {
	c := newTestCore()
	e := c.put("s", 1)
	for range 3 {
		c.release(e, e.revision, 1)
	}
	if e.leases != 0 || len(c.idle.items) != 1 {
		t.Errorf("%d leases, %d times idle", e.leases, len(c.idle.items))
	}
}

func TestKeysWithOneHashAreKeptApart(t *testing.T) {
	c := newTestCore()
	var entries []*entry
	for i := range 5 {
		entries = append(entries, c.put(fmt.Sprint(i), 1))
	}
	for _, i := range []int{2, 0, 4, 1, 3} { // the middle, the last, the first
		e := entries[i]
		if old := e.revision; !c.invalidate(e, old) || c.invalidate(e, old) {
			t.Errorf("entry %d was not removed once", i)
		}
		entries[i] = nil
		for j, want := range entries {
			k := key(fmt.Sprint(j))
			if got := c.find(1, &k); got != want {
				t.Errorf("with %d gone, %d is found as %v", i, j, got)
			}
		}
	}
	if len(c.entries) != 0 || c.sessions != 0 {
		t.Errorf("%d entries, %d sessions left", len(c.entries), c.sessions)
	}
}

func TestTheDeadAreBuriedFromTheMiddleOfAChain(t *testing.T) {
	c := newTestCore()
	for i := range 6 {
		a := ask(fmt.Sprint(i))
		e := c.insert(1, &a.Key)
		c.commit(e, e.revision, worker(fmt.Sprint("w", i%2)))
	}
	dead := c.seats.those(func(s seat) bool { return s.target == worker("w1") })
	if n := c.bury(dead); n != 3 || c.sessions != 3 {
		t.Errorf("%d buried, %d left", n, c.sessions)
	}
	for i := range 6 {
		k := key(fmt.Sprint(i))
		if e := c.find(1, &k); (e == nil) != (i%2 == 1) {
			t.Errorf("entry %d is %v", i, e)
		}
	}
}

func TestTheIdleAreReclaimedInOrderAndAClockThatWentBackStoodStill(t *testing.T) {
	c := newTestCore()
	for i, now := range []int64{20, 50, 20, 70, 60} {
		c.put(fmt.Sprint(i), now)
	}
	if c.reclaim(29) {
		t.Error("reclaimed before the first deadline")
	}
	for i, by := range []int64{30, 60, 60, 80, 80} {
		if d := c.idle.earliest.Load(); d != by || c.reclaim(by-1) || !c.reclaim(by) {
			t.Errorf("deadline %d is %d, want %d", i, d, by)
		}
	}
	if len(c.entries) != 0 || len(c.idle.items) != 0 {
		t.Errorf("%d entries left", len(c.entries))
	}
}

func TestTheIdleQueueDoesNotGrowWithBindingsThatEnd(t *testing.T) {
	c := newTestCore()
	c.put("stays", 1)
	for i := range int64(1000) {
		e := c.put("s", i)
		c.invalidate(e, e.revision)
		if n := len(c.idle.items); n > 3 {
			t.Fatalf("%d items for one idle binding", n)
		}
	}
	if len(c.seats.values) != 1 || len(c.scopes.values) != 1 {
		t.Errorf("%d seats and %d scopes for one binding", len(c.seats.values), len(c.scopes.values))
	}
	if !c.reclaim(5000) || c.reclaim(5000) || c.idle.gone != 0 {
		t.Errorf("the binding that stayed was not reclaimed once; %d gone", c.idle.gone)
	}
	if len(c.seats.values) != 0 || len(c.scopes.values) != 0 {
		t.Errorf("%d seats and %d scopes for no binding", len(c.seats.values), len(c.scopes.values))
	}
}

// bindAndEnd lets an initializer bind its session and ends the binding before
// any waiter can wake.
func bindAndEnd(l Lease) {
	h := l.holder.(*handle)
	s, e := h.shard, h.entry
	s.mu.Lock()
	defer s.mu.Unlock()
	wake, _ := s.core.commit(e, h.revision, worker("dead"))
	s.wake(e, wake)
	s.core.invalidate(e, h.revision)
	s.table.used.Add(-1)
	s.retire(h)
}

func TestABindingThatEndedBeforeItsWaitersWokeIsNotHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		waiting := waitBehind(t.Context(), table, ask("s"), ask("s"), ask("s"))
		bindAndEnd(first)
		for range 3 {
			r := <-waiting
			if r.err != nil {
				t.Fatal(r.err)
			}
			if home(r.lease) == (Target{}) {
				commit(t, r.lease, worker("alive"))
			}
			if got := home(r.lease); got != worker("alive") {
				t.Errorf("bound to %v", got)
			}
			r.lease.Release()
		}
		wants(t, table, Stats{Sessions: 1})
	})
}

func TestAWaiterCancelledInTheMomentOfItsAnswerGivesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		ctx, cancel := context.WithCancel(t.Context())
		waiting := waitBehind(ctx, table, ask("s"))
		commit(t, first, worker("w1"))
		cancel() // before the waiter has run
		if r := <-waiting; !errors.Is(r.err, context.Canceled) || r.lease != (Lease{}) {
			t.Fatalf("the waiter got %v", r)
		}
		wants(t, table, Stats{Sessions: 1, Leases: 1})
		first.Release()
		time.Sleep(ttl)
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("still bound to %v", got)
		}
	})
}
