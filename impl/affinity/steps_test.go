package affinity

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Steps are what the calls have visited: one entry each, and where bindings lapse or make
// room, those as well.
func TestStepsCountWhatIsVisited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 200})
		spent := func(f func()) uint64 {
			before := table.Steps()
			f()
			return table.Steps() - before
		}
		turn := func(n int) {
			l := acquire(t, table, ask(fmt.Sprint(n)))
			if _, bound := l.Bound(); !bound {
				if err := l.Commit(worker("w")); err != nil {
					t.Fatal(err)
				}
			}
			l.Release()
		}
		for n := range 200 {
			turn(n)
		}
		if got := spent(func() { turn(7) }); got != 2 {
			t.Errorf("an acquire and a release of what is bound take %d steps, want 2", got)
		}
		if got := spent(func() { _, _, _ = table.Query(ask("absent")) }); got != 1 {
			t.Errorf("a query for what is absent takes %d steps, want 1", got)
		}
		time.Sleep(ttl)
		// The first takes over the room of one that has lapsed, which it must look for.
		if got := spent(func() { turn(1000) }); got < 5 || got > 40 {
			t.Errorf("a new session in the room of one that has lapsed takes %d steps, want 5 to 40", got)
		}
	})
}
