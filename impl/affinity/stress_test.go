package affinity

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// Many goroutines do everything at once; the race detector, the invariants that
// each of them can see, and the counts at the end judge.
func TestConcurrentUseKeepsOneInitializerTheCapacityAndTheCounts(t *testing.T) {
	for _, evict := range []bool{false, true} {
		t.Run(fmt.Sprintf("evicting %v", evict), func(t *testing.T) { stress(t, evict) })
	}
}

func stress(t *testing.T, evict bool) {
	const sessions, workers, rounds, capacity = 60, 8, 1500, 40
	var dead atomic.Uint32 // one bit for each worker
	live := func(_ string, at Target) bool { return dead.Load()&(1<<(at.Worker[0]-'a')) == 0 }
	table := newTable(t, Config{Capacity: capacity, Evict: evict, Live: live})
	var initializers [sessions]atomic.Int32
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			var old Lease
			for range rounds {
				n := rng.IntN(sessions)
				a := ask(fmt.Sprint(n))
				at := ranked(string(rune('a'+rng.IntN(3))), uint32(rng.IntN(2)))
				if rng.IntN(4) == 0 {
					a.Pin = at
				}
				if rng.IntN(50) == 0 {
					dead.Store(1 << rng.IntN(4))
				}
				ctx, cancel := context.WithCancel(t.Context())
				if rng.IntN(10) == 0 {
					go cancel()
				}
				l, err := table.Acquire(ctx, a)
				if err != nil {
					if !errors.Is(err, ErrCapacity) && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrPin) || l != (Lease{}) {
						t.Errorf("Acquire = %v, %v", l, err)
					}
					cancel()
					continue
				}
				old.Release() // over: must do nothing to anybody
				old.Invalidate()
				if home, bound := l.Bound(); bound && !home.meets(a.Pin) {
					t.Errorf("pinned to %v, bound to %v", a.Pin, home)
				} else if !bound {
					if initializers[n].Add(1) != 1 {
						t.Errorf("session %d has two initializers", n)
					}
					initializers[n].Add(-1)
					if rng.IntN(3) > 0 {
						if err := l.Commit(at); err != nil {
							t.Errorf("Commit: %v", err)
						}
					}
				}
				if _, _, err := table.Query(a); err != nil && !errors.Is(err, ErrPin) {
					t.Errorf("Query: %v", err)
				}
				if n := table.Len(); n < 0 || n > capacity {
					t.Errorf("%d slots taken of %d", n, capacity)
				}
				if rng.IntN(5) == 0 {
					l.Invalidate()
				}
				l.Release()
				old = l
				cancel()
			}
		})
	}
	wg.Wait()
	audit(t, table)
	if got := table.Stats(); got.Leases != 0 || got.Waiting != 0 || got.Initializing != 0 {
		t.Errorf("when all was over, the table held %+v", got)
	}
}

// audit compares the table's counts with what it holds.
func audit(t *testing.T, table *Table) {
	t.Helper()
	sessions, seats, scopes := 0, map[*shared[seat]]int{}, map[*shared[scope]]int{}
	for i := range table.shards {
		c := &table.shards[i].core
		queued := map[*entry]bool{}
		gone := 0
		for _, item := range c.idle.items {
			if item.entry.revision == 0 {
				gone++
				continue
			}
			if queued[item.entry] {
				t.Errorf("session %q is queued twice", item.entry.session)
			}
			queued[item.entry] = true
			if item.deadline > item.entry.deadline {
				t.Errorf("session %q is queued for %d, after its deadline %d", item.entry.session, item.deadline, item.entry.deadline)
			}
		}
		if gone != c.idle.gone || gone > len(c.idle.items)/2 {
			t.Errorf("%d of %d queued have left the table, %d are counted", gone, len(c.idle.items), c.idle.gone)
		}
		for _, e := range c.entries {
			for ; e != nil; e = e.chained {
				sessions++
				scopes[e.scope]++
				if e.seat != nil {
					seats[e.seat]++
				}
				if e.queued != queued[e] || e.phase == bound && e.leases == 0 && !e.queued {
					t.Errorf("session %q with %d leases: queued = %v, in the queue = %v", e.session, e.leases, e.queued, queued[e])
				}
			}
		}
	}
	if stats := table.Stats(); sessions != stats.Sessions || sessions != table.Len() {
		t.Errorf("%d sessions are held, %d counted, in %d slots", sessions, stats.Sessions, table.Len())
	}
	for s, n := range seats {
		if s.users != n || table.common.seats.values[s.value] != s {
			t.Errorf("%v has %d sessions, %d are counted", s.value, n, s.users)
		}
	}
	for s, n := range scopes {
		if s.users != n || table.common.scopes.values[s.value] != s {
			t.Errorf("%v has %d sessions, %d are counted", s.value, n, s.users)
		}
	}
	if len(seats) != len(table.common.seats.values) || len(scopes) != len(table.common.scopes.values) {
		t.Errorf("%d seats and %d scopes are kept, %d and %d are in use", len(table.common.seats.values), len(table.common.scopes.values), len(seats), len(scopes))
	}
}
