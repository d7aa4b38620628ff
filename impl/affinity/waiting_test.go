package affinity

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneOfManyFirstRequestsInitializesAndTheOthersFollowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		waiting := waitBehind(t.Context(), table, slices.Repeat([]Ask{ask("s")}, 10)...)
		if len(waiting) != 0 {
			t.Fatal("somebody did not wait")
		}
		wants(t, table, Stats{Sessions: 1, Initializing: 1, Leases: 1, Waiting: 10})
		commit(t, first, ranked("w1", 0))
		first.Release()
		synctest.Wait()
		time.Sleep(3 * ttl) // ten leases hold the binding
		for range 10 {
			r := <-waiting
			if r.err != nil || home(r.lease) != ranked("w1", 0) {
				t.Fatalf("a waiter got %v, want a lease on w1", r.err)
			}
			r.lease.Release()
		}
		if got := where(t, table, "s"); got != ranked("w1", 0) {
			t.Errorf("bound to %v, want w1", got)
		}
		wants(t, table, Stats{Sessions: 1})
	})
}

func TestAnAbandonedInitializerHandsOverToExactlyOneWaiter(t *testing.T) {
	for name, end := range map[string]func(Lease){"release": Lease.Release, "invalidate": Lease.Invalidate} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := newTable(t, Config{})
				lease := acquire(t, table, ask("s"))
				waiting := waitBehind(t.Context(), table, ask("s"), ask("s"), ask("s"))
				for range 2 {
					end(lease)
					synctest.Wait()
					if len(waiting) != 1 {
						t.Fatalf("%d waiters woke, want 1", len(waiting))
					}
					r := <-waiting
					if r.err != nil || home(r.lease) != (Target{}) {
						t.Fatalf("the heir got %v, want an initializer", r)
					}
					lease = r.lease
				}
				commit(t, lease, worker("w2"))
				r := <-waiting
				if r.err != nil || home(r.lease) != worker("w2") {
					t.Errorf("the last waiter got %v, want w2", r)
				}
				r.lease.Release()
				lease.Release()
			})
		})
	}
}

func TestACancelledWaiterLeavesAtOnceAndTheOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		ctx, cancel := context.WithCancel(t.Context())
		ahead := waitBehind(t.Context(), table, ask("s"))
		leaving := waitBehind(ctx, table, ask("s"))
		behind := waitBehind(t.Context(), table, ask("s"))
		begin := time.Now()
		cancel()
		if r := <-leaving; !errors.Is(r.err, context.Canceled) || time.Since(begin) != 0 {
			t.Fatalf("the cancelled waiter got %v after %v", r.err, time.Since(begin))
		}
		wants(t, table, Stats{Sessions: 1, Initializing: 1, Leases: 1, Waiting: 2})
		for i, next := range []<-chan result{ahead, behind} {
			first.Release()
			r := <-next
			if r.err != nil || home(r.lease) != (Target{}) {
				t.Fatalf("waiter %d got %v, want an initializer", i, r)
			}
			first = r.lease
		}
		first.Release()
		wants(t, table, Stats{})
	})
}

func TestWaitingEndsAfterInitWaitAndLeavesTheInitializerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		begin := time.Now()
		_, err := table.Acquire(t.Context(), ask("s"))
		if !errors.Is(err, ErrInitWait) || time.Since(begin) != DefaultInitWait {
			t.Fatalf("Acquire = %v after %v, want ErrInitWait after %v", err, time.Since(begin), DefaultInitWait)
		}
		commit(t, first, worker("w1"))
		first.Release()
		wants(t, table, Stats{Sessions: 1})
	})
}

// A waiter who must wait again, because what it was granted has ended, has no
// more time than anybody else.
func TestInitWaitIsOneForTheWholeWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		begin := time.Now()
		waiting := waitBehind(t.Context(), table, ask("s"))
		time.Sleep(DefaultInitWait - time.Second)
		h := first.holder.(*handle)
		e, s := h.entry, h.shard
		_, hash := table.shard(&Key{Model: "m", Session: "s"})
		s.mu.Lock() // the waiter cannot wake in between
		wake, _ := s.core.commit(e, h.revision, worker("dead"))
		s.wake(e, wake)
		s.core.invalidate(e, h.revision)
		k := key("s")
		again := s.hand(s.core.insert(hash, &k), Target{})
		s.retire(h)
		s.mu.Unlock()
		r := <-waiting
		if took := time.Since(begin); !errors.Is(r.err, ErrInitWait) || took != DefaultInitWait {
			t.Errorf("the waiter got %v after %v, want ErrInitWait after %v", r.err, took, DefaultInitWait)
		}
		again.Release()
		wants(t, table, Stats{})
	})
}

func TestAWaitersDeadlineIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, ask("s"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := table.Acquire(ctx, ask("s")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v, want context.DeadlineExceeded", err)
		}
		first.Release()
	})
}
