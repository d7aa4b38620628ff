package affinity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type result struct {
	lease Lease
	err   error
}

// waitBehind starts n callers behind an initializer and returns once all wait.
func waitBehind(ctx context.Context, table *Table, k Key, n int) <-chan result {
	results := make(chan result, n)
	for range n {
		go func() {
			l, err := table.Acquire(ctx, k)
			results <- result{l, err}
		}()
		synctest.Wait() // one after the other, so that their order is known
	}
	return results
}

func TestOneOfManyFirstRequestsInitializesAndTheOthersFollowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s"))
		waiting := waitBehind(t.Context(), table, key("s"), 10)
		if len(waiting) != 0 {
			t.Fatal("somebody did not wait")
		}
		if err := first.Commit("w1"); err != nil {
			t.Fatal(err)
		}
		first.Release()
		synctest.Wait()
		time.Sleep(3 * ttl) // ten leases hold the binding
		for range 10 {
			r := <-waiting
			if r.err != nil || r.lease.Bound() != "w1" {
				t.Fatalf("a waiter got %v, want a lease on w1", r.err)
			}
			r.lease.Release()
		}
		if got := where(t, table, "s"); got != "w1" {
			t.Errorf("bound to %q, want w1", got)
		}
	})
}

func TestAnAbandonedInitializerHandsOverToExactlyOneWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		lease := acquire(t, table, key("s"))
		waiting := waitBehind(t.Context(), table, key("s"), 3)
		for range 2 {
			lease.Abandon()
			synctest.Wait()
			if len(waiting) != 1 {
				t.Fatalf("%d waiters woke, want 1", len(waiting))
			}
			r := <-waiting
			if r.err != nil || r.lease.Bound() != "" {
				t.Fatalf("the heir got %v, want an initializer", r)
			}
			lease = r.lease
		}
		if err := lease.Commit("w2"); err != nil {
			t.Fatal(err)
		}
		r := <-waiting
		if r.err != nil || r.lease.Bound() != "w2" {
			t.Errorf("the last waiter got %v, want w2", r)
		}
		r.lease.Release()
		lease.Release()
	})
}

func TestACancelledWaiterLeavesAtOnceAndTheOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s"))
		ctx, cancel := context.WithCancel(t.Context())
		leaving := waitBehind(ctx, table, key("s"), 1)
		staying := waitBehind(t.Context(), table, key("s"), 1)
		begin := time.Now()
		cancel()
		if r := <-leaving; !errors.Is(r.err, context.Canceled) || time.Since(begin) != 0 {
			t.Fatalf("the cancelled waiter got %v after %v", r.err, time.Since(begin))
		}
		first.Abandon()
		r := <-staying
		if r.err != nil || r.lease.Bound() != "" {
			t.Fatalf("the other waiter got %v, want an initializer", r)
		}
		r.lease.Abandon()
		if table.Len() != 0 {
			t.Errorf("%d slots taken, want 0", table.Len())
		}
	})
}

func TestWaitingEndsAfterInitWaitAndLeavesTheInitializerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s"))
		begin := time.Now()
		_, err := table.Acquire(t.Context(), key("s"))
		if !errors.Is(err, ErrInitWait) || time.Since(begin) != DefaultInitWait {
			t.Fatalf("Acquire = %v after %v, want ErrInitWait after %v", err, time.Since(begin), DefaultInitWait)
		}
		if err := first.Commit("w1"); err != nil {
			t.Errorf("the initializer could not commit: %v", err)
		}
		first.Release()
	})
}

func TestAWaitersDeadlineIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := table.Acquire(ctx, key("s")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v, want context.DeadlineExceeded", err)
		}
		first.Abandon()
	})
}

func TestCommitAndInvalidationInOneMomentElectAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, key("s"))
		waiting := waitBehind(t.Context(), table, key("s"), 4)
		if err := first.Commit("dead"); err != nil {
			t.Fatal(err)
		}
		first.Invalidate() // before any waiter has run
		for range 4 {
			r := <-waiting
			if r.err != nil {
				t.Fatal(r.err)
			}
			switch r.lease.Bound() {
			case "":
				if err := r.lease.Commit("w2"); err != nil {
					t.Fatalf("an elected waiter could not commit: %v", err)
				}
			case "dead", "w2": // it woke before the invalidation, or followed the new initializer
			default:
				t.Errorf("bound to %q", r.lease.Bound())
			}
			r.lease.Release()
		}
	})
}

// Many goroutines do everything at once; the race
// detector and the counts judge.
func TestConcurrentUseKeepsOneInitializerAndTheCapacity(t *testing.T) {
	table := newTable(t, Config{Capacity: 40})
	const sessions, workers, rounds = 60, 8, 400
	var initializing [sessions]atomic.Int32
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			for i := range rounds {
				n := (i*7 + g*13) % sessions
				ctx, cancel := context.WithCancel(t.Context())
				if i%11 == 0 {
					go cancel()
				}
				l, err := table.Acquire(ctx, key(fmt.Sprint(n)))
				if err != nil {
					if !errors.Is(err, ErrCapacity) && !errors.Is(err, context.Canceled) {
						t.Errorf("Acquire: %v", err)
					}
					cancel()
					continue
				}
				if l.Bound() == "" {
					if initializing[n].Add(1) != 1 {
						t.Errorf("session %d has two initializers", n)
					}
					initializing[n].Add(-1)
					if i%3 == 0 {
						l.Abandon()
					} else if err := l.Commit("w"); err != nil {
						t.Errorf("Commit: %v", err)
					}
				}
				if i%5 == 0 {
					l.Invalidate()
				}
				l.Release()
				if n := table.Len(); n < 0 || n > 40 {
					t.Errorf("%d slots taken of 40", n)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	held := 0
	for i := range table.shards {
		for _, e := range table.shards[i].core.entries {
			held++
			if e.phase != bound || e.leases != 0 || e.waiters.first != nil {
				t.Errorf("session %v was left in phase %d with %d leases", e.key, e.phase, e.leases)
			}
		}
	}
	if held != table.Len() {
		t.Errorf("%d sessions held, but %d slots taken", held, table.Len())
	}
}

func BenchmarkAcquireReleaseBound(b *testing.B) {
	table, err := New(Config{IdleTTL: time.Minute}, SystemClock{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	k := Key{Model: "model", Session: "0123456789abcdef0123456789abcdef"}
	l, _ := table.Acquire(ctx, k)
	_ = l.Commit("w")
	l.Release()
	b.ReportAllocs()
	for b.Loop() {
		l, err := table.Acquire(ctx, k)
		if err != nil || l.Bound() == "" {
			b.Fatal(err)
		}
		l.Release()
	}
}

func BenchmarkAcquireReleaseBoundParallel(b *testing.B) {
	table, err := New(Config{IdleTTL: time.Minute}, SystemClock{})
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]Key, 4096)
	for i := range keys {
		keys[i] = key(fmt.Sprint("session-", i))
		l, _ := table.Acquire(b.Context(), keys[i])
		_ = l.Commit("w")
		l.Release()
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			l, err := table.Acquire(b.Context(), keys[i%len(keys)])
			if err != nil {
				b.Error(err)
				return
			}
			l.Release()
		}
	})
}

func BenchmarkFirstRequestAtCapacityWithEviction(b *testing.B) {
	table, err := New(Config{IdleTTL: time.Minute, Capacity: 4096, Evict: true}, SystemClock{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l, err := table.Acquire(b.Context(), key(fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		_ = l.Commit("w")
		l.Release()
	}
}
