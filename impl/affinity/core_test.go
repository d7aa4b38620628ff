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
	keys := []Key{{"m", "", "a"}, {"n", "", "a"}, {"m", "t", "a"}, {"m", "", "b"}, {"", "m", "a"}}
	c := newTestCore()
	var entries []*entry
	for i := range keys {
		entries = append(entries, c.insert(1, &keys[i]))
	}
	for _, gone := range []int{2, 0, 4, 1, 3} { // from the middle and from both ends
		if _, removed := c.abandon(entries[gone], entries[gone].revision); !removed {
			t.Errorf("%v was not removed", keys[gone])
		}
		entries[gone] = nil
		for i := range keys {
			if got := c.find(1, &keys[i]); got != entries[i] {
				t.Errorf("with %v gone, %v is found as %v", keys[gone], keys[i], got)
			}
		}
	}
	if len(c.entries) != 0 || c.sessions != 0 || c.initializing != 0 {
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

func TestWhoWasInFlightWhenItsTurnCameIsFoundWhenItIsIdleAgain(t *testing.T) {
	c := newTestCore()
	e := c.put("s", 0)
	a := ask("s")
	c.acquire(5, 1, &a)
	if c.reclaim(100) {
		t.Fatal("a session in flight was reclaimed")
	}
	if len(c.idle.items) != 0 {
		t.Error("a session in flight is still in the queue, though its turn came")
	}
	c.release(e, e.revision, 20)
	if c.reclaim(29) || !c.reclaim(30) {
		t.Error("the session was not reclaimed at its new deadline")
	}
}

func TestASessionOfManyRequestsIsQueuedOnce(t *testing.T) {
	c := newTestCore()
	e := c.put("s", 0)
	a := ask("s")
	for now := int64(1); now < 9; now++ {
		c.acquire(now, 1, &a)
		c.release(e, e.revision, now)
	}
	if len(c.idle.items) != 1 || c.idle.earliest.Load() != 10 {
		t.Errorf("%d items, the first for %d, want one, for its first deadline", len(c.idle.items), c.idle.earliest.Load())
	}
	if c.reclaim(17) || c.idle.earliest.Load() != 18 || !c.reclaim(18) {
		t.Error("the session was not reclaimed at its last deadline")
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
