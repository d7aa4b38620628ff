package affinity

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestAtCapacityANewSessionIsRefusedAndPresentOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		table := newTable(t, Config{Capacity: n})
		for i := range n {
			bind(t, table, fmt.Sprint("s", i), worker("w1"))
		}
		if _, err := table.Acquire(t.Context(), ask("new")); !errors.Is(err, ErrCapacity) {
			t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
		}
		wants(t, table, Stats{Sessions: n})
		time.Sleep(ttl - time.Nanosecond)
		for i := range n - 1 {
			l := acquire(t, table, ask(fmt.Sprint("s", i)))
			if got := home(l); got != worker("w1") {
				t.Fatalf("present session s%d is bound to %v", i, got)
			}
			l.Release()
		}
		time.Sleep(time.Nanosecond) // only the last session expires
		bind(t, table, "new", worker("w2"))
		if _, err := table.Acquire(t.Context(), ask("newer")); !errors.Is(err, ErrCapacity) {
			t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
		}
		time.Sleep(ttl)
		for i := range n {
			bind(t, table, fmt.Sprint("later", i), worker("w3"))
		}
		wants(t, table, Stats{Sessions: n})
	})
}

func TestInitializersHoldSlotsUntilTheyAreAbandoned(t *testing.T) {
	table := newTable(t, Config{Capacity: 1})
	first := acquire(t, table, ask("a"))
	if _, err := table.Acquire(t.Context(), ask("b")); !errors.Is(err, ErrCapacity) {
		t.Fatalf("Acquire = %v, want ErrCapacity", err)
	}
	first.Release()
	acquire(t, table, ask("b")).Release()
	wants(t, table, Stats{})
}

func TestEvictionEndsTheLongestIdleBindingAndSparesThoseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 3, Evict: true})
		bind(t, table, "busy", worker("w1"))
		busy := acquire(t, table, ask("busy"))
		for _, s := range []string{"old", "young"} {
			bind(t, table, s, worker("w1"))
			time.Sleep(time.Second)
		}
		bind(t, table, "new", worker("w2"))
		if got := where(t, table, "young"); got != worker("w1") {
			t.Errorf("young is bound to %v, want w1", got)
		}
		if got := where(t, table, "old"); got != (Target{}) {
			t.Errorf("old is bound to %v", got)
		}
		wants(t, table, Stats{Sessions: 3, Leases: 1})
		one, two := acquire(t, table, ask("young")), acquire(t, table, ask("new"))
		if _, err := table.Acquire(t.Context(), ask("old")); !errors.Is(err, ErrCapacity) {
			t.Errorf("with every session in flight Acquire = %v, want ErrCapacity", err)
		}
		one.Release()
		two.Release()
		busy.Release()
	})
}

// The order of eviction is the order of last use over all shards, whatever the
// sessions did before.
func TestEvictionFollowsTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 300
		table := newTable(t, Config{Capacity: n, Evict: true})
		for i := range n {
			bind(t, table, fmt.Sprint(i), worker("w"))
			time.Sleep(time.Nanosecond)
		}
		for i := range n { // in another order, some of them twice
			if i%3 == 0 {
				acquire(t, table, ask(fmt.Sprint((i*7+50)%n))).Release()
				time.Sleep(time.Nanosecond)
			}
			acquire(t, table, ask(fmt.Sprint((i*7)%n))).Release()
			time.Sleep(time.Nanosecond)
		}
		order := make([]string, 0, n) // by last use, the latest first
		seen := map[string]bool{}
		note := func(k int) {
			if s := fmt.Sprint(k); !seen[s] {
				seen[s] = true
				order = append(order, s)
			}
		}
		for i := n - 1; i >= 0; i-- {
			note(i * 7 % n)
			if i%3 == 0 {
				note((i*7 + 50) % n)
			}
		}
		for i := n - 1; i >= 0; i-- {
			if got := where(t, table, order[i]); got != worker("w") {
				t.Fatalf("%s was evicted before its turn", order[i])
			}
			bind(t, table, fmt.Sprint("new", i), worker("v"))
			if got := where(t, table, order[i]); got != (Target{}) {
				t.Fatalf("%s was idle for longest, but another was evicted", order[i])
			}
		}
		wants(t, table, Stats{Sessions: n})
	})
}

func TestExpiredSessionsAreReclaimedByNewOnesLongBeforeCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		for round := range 20 {
			for i := range 1000 {
				bind(t, table, fmt.Sprint(round, "-", i), worker("w"))
			}
			time.Sleep(ttl)
		}
		if n := table.Len(); n > 2500 {
			t.Errorf("%d sessions held, though at most 1000 lived at any time", n)
		}
	})
}
