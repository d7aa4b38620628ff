package affinity

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestADeadBindingIsDroppedAndInitializedAnew(t *testing.T) {
	for name, a := range map[string]Ask{
		"without a pin": ask("s"), "a pin elsewhere binds": pinned("s", ranked("v", 0)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := mortal{}
				table := newTable(t, Config{Capacity: 1, Live: dead.live})
				bind(t, table, "s", worker("w"))
				old, older := acquire(t, table, ask("s")), acquire(t, table, ask("s"))
				dead[worker("w")] = true
				fresh := acquire(t, table, a)
				if at, bound := fresh.Bound(); bound {
					t.Fatalf("bound to %v", at)
				}
				old.Invalidate() // of the old binding: inert
				wants(t, table, Stats{Sessions: 1, Initializing: 1, Leases: 2})
				commit(t, fresh, ranked("v", 0))
				fresh.Release()
				time.Sleep(ttl - 1)
				older.Release()
				if got := where(t, table, "s"); got != ranked("v", 0) {
					t.Errorf("bound to %v", got)
				}
				time.Sleep(time.Nanosecond)
				if got := where(t, table, "s"); got != (Target{}) {
					t.Errorf("a lease on the dead binding prolonged the new one: bound to %v", got)
				}
			})
		})
	}
}

func TestLeasesOnADeadBindingDoNotCountForTheNewOne(t *testing.T) {
	for name, end := range map[string]func(Lease){"release": Lease.Release, "invalidate": Lease.Invalidate} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := mortal{}
				table := newTable(t, Config{Live: dead.live})
				bind(t, table, "s", worker("w"))
				old := acquire(t, table, ask("s"))
				dead[worker("w")] = true
				running := acquire(t, table, ask("s"))
				commit(t, running, worker("v"))
				end(old)
				time.Sleep(2 * ttl)
				if got := where(t, table, "s"); got != worker("v") {
					t.Errorf("the end of a lease on the dead binding ended the running one's hold: bound to %v", got)
				}
				running.Release()
			})
		})
	}
}

func TestAPinToADeadWorkerInitializesAndLeavesThePinToTheCaller(t *testing.T) {
	table := newTable(t, Config{Live: mortal{worker("w"): true}.live})
	bind(t, table, "s", worker("w"))
	l := acquire(t, table, pinned("s", worker("w")))
	if at, bound := l.Bound(); bound {
		t.Errorf("bound to %v", at)
	}
	if err := l.Commit(worker("v")); !errors.Is(err, ErrMismatch) {
		t.Errorf("Commit elsewhere = %v, want ErrMismatch", err)
	}
	wants(t, table, Stats{})
}

func TestADeadRankIsNotItsWholeWorker(t *testing.T) {
	dead := mortal{ranked("w", 1): true}
	table := newTable(t, Config{Live: dead.live})
	bind(t, table, "a", ranked("w", 1))
	bind(t, table, "b", ranked("w", 0))
	bind(t, table, "c", worker("w"))
	for session, want := range map[string]Target{"a": {}, "b": ranked("w", 0), "c": worker("w")} {
		if got := where(t, table, session); got != want {
			t.Errorf("%s is bound to %v, want %v", session, got, want)
		}
	}
}

func TestLivenessIsAskedForTheModel(t *testing.T) {
	live := func(model string, _ Target) bool { return model == "m" }
	table := newTable(t, Config{Live: live})
	for _, model := range []string{"m", "n"} {
		l := acquire(t, table, Ask{Key: Key{Model: model, Session: "s"}})
		commit(t, l, worker("w"))
		l.Release()
		if _, bound, err := table.Query(Ask{Key: Key{Model: model, Session: "s"}}); err != nil || bound != (model == "m") {
			t.Errorf("model %s: bound = %v, %v", model, bound, err)
		}
	}
}

func TestAWorkerThatDiedBeforeTheCommitServesNoWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := mortal{}
		table := newTable(t, Config{Live: dead.live})
		first := acquire(t, table, ask("s"))
		waiting := waitBehind(t.Context(), table, pinned("s", worker("v")), ask("s"))
		dead[worker("w")] = true
		commit(t, first, worker("w"))
		if got := home(first); got != worker("w") {
			t.Errorf("the first request finishes where it is, not on %v", got)
		}
		heir := <-waiting
		if at, bound := heir.lease.Bound(); heir.err != nil || bound {
			t.Fatalf("the first waiter got %v, bound to %v; want to initialize", heir.err, at)
		}
		wants(t, table, Stats{Sessions: 1, Initializing: 1, Leases: 2, Waiting: 1})
		first.Invalidate() // inert
		commit(t, heir.lease, worker("v"))
		last := <-waiting
		if last.err != nil || home(last.lease) != worker("v") {
			t.Errorf("the last waiter got %v on %v", last.err, home(last.lease))
		}
		heir.lease.Release()
		last.lease.Release()
		wants(t, table, Stats{Sessions: 1})
	})
}

func TestTheDeadMakeRoomBeforeANewSessionIsRefused(t *testing.T) {
	const n = 200
	dead := mortal{}
	table := newTable(t, Config{Capacity: n, Live: dead.live})
	for i := range n {
		bind(t, table, fmt.Sprint(i), ranked(fmt.Sprint("w", i%4), uint32(i%3)))
	}
	running := acquire(t, table, ask("1"))
	if _, err := table.Acquire(t.Context(), ask("new")); !errors.Is(err, ErrCapacity) {
		t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
	}
	dead[worker("w1")] = true
	for i := range n / 4 {
		bind(t, table, fmt.Sprint("new", i), worker("w0"))
	}
	wants(t, table, Stats{Sessions: n, Leases: 1})
	if _, err := table.Acquire(t.Context(), ask("new")); !errors.Is(err, ErrCapacity) {
		t.Fatalf("Acquire at capacity = %v, want ErrCapacity", err)
	}
	if got := home(running); got != ranked("w1", 1) {
		t.Errorf("the request on the dead worker is on %v", got)
	}
	running.Release()
	for i := range n {
		want := ranked(fmt.Sprint("w", i%4), uint32(i%3))
		if i%4 == 1 {
			want = Target{}
		}
		if got := where(t, table, fmt.Sprint(i)); got != want {
			t.Errorf("session %d is bound to %v, want %v", i, got, want)
		}
	}
}
