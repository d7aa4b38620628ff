package affinity

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPinAgainstALiveBinding(t *testing.T) {
	none := Target{}
	for name, c := range map[string]struct {
		bound, pin Target
		ok         bool
	}{
		"no pin":                                {worker("w"), none, true},
		"no pin, ranked binding":                {ranked("w", 1), none, true},
		"the same worker":                       {worker("w"), worker("w"), true},
		"the same worker and rank":              {ranked("w", 1), ranked("w", 1), true},
		"rank 0 is rank 0":                      {ranked("w", 0), ranked("w", 0), true},
		"the binding's rank fills the gap":      {ranked("w", 1), worker("w"), true},
		"the binding's rank 0 fills the gap":    {ranked("w", 0), worker("w"), true},
		"another worker":                        {worker("w"), worker("v"), false},
		"another worker, same rank":             {ranked("w", 1), ranked("v", 1), false},
		"another rank":                          {ranked("w", 1), ranked("w", 2), false},
		"rank 0 is no gap":                      {ranked("w", 0), ranked("w", 1), false},
		"rank 0 contradicts":                    {ranked("w", 1), ranked("w", 0), false},
		"a rank cannot narrow a binding":        {worker("w"), ranked("w", 1), false},
		"rank 0 cannot narrow a binding either": {worker("w"), ranked("w", 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			table := newTable(t, Config{Live: mortal{}.live})
			bind(t, table, "s", c.bound)
			l, err := table.Acquire(t.Context(), pinned("s", c.pin))
			target, isBound, qerr := table.Query(pinned("s", c.pin))
			if !c.ok {
				if !errors.Is(err, ErrPin) || !strings.Contains(err.Error(), c.bound.String()) || !strings.Contains(err.Error(), c.pin.String()) {
					t.Errorf("Acquire = %v, want an ErrPin that names both", err)
				}
				if !errors.Is(qerr, ErrPin) || isBound {
					t.Errorf("Query = %v, %v, %v, want ErrPin", target, isBound, qerr)
				}
				wants(t, table, Stats{Sessions: 1})
			} else if err != nil || qerr != nil || home(l) != c.bound || target != c.bound {
				t.Errorf("leased on %v (%v), queried %v (%v), want %v", home(l), err, target, qerr, c.bound)
			}
			l.Release()
			if got := where(t, table, "s"); got != c.bound {
				t.Errorf("the binding went from %v to %v", c.bound, got)
			}
		})
	}
}

func TestARefusedPinDoesNotSlideTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		bind(t, table, "s", worker("w"))
		time.Sleep(ttl - 1)
		if _, err := table.Acquire(t.Context(), pinned("s", worker("v"))); !errors.Is(err, ErrPin) {
			t.Fatal(err)
		}
		time.Sleep(time.Nanosecond)
		if got := where(t, table, "s"); got != (Target{}) {
			t.Errorf("still bound to %v", got)
		}
	})
}

func TestARankWithoutAWorkerIsRefusedInEveryState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{Capacity: 1})
		a := pinned("s", Target{Rank: RankOf(0)})
		refused := func(state string) {
			t.Helper()
			_, err := table.Acquire(t.Context(), a)
			_, _, qerr := table.Query(a)
			for _, err := range []error{err, qerr} {
				if !errors.Is(err, ErrRankAlone) || !strings.Contains(err.Error(), "rank 0") {
					t.Errorf("%s: %v, want ErrRankAlone", state, err)
				}
			}
		}
		refused("absent")
		wants(t, table, Stats{})
		l := acquire(t, table, ask("s"))
		refused("initializing")
		commit(t, l, ranked("w", 0))
		refused("bound")
		l.Release()
		a.Key.Session = "other"
		refused("at capacity")
	})
}

// What a dispatch may be under a binding or an initializer's pin: one rule.
func TestWhatMayBeCommitted(t *testing.T) {
	none := Target{}
	for name, c := range map[string]struct {
		wish, dispatched Target
		ok               bool
	}{
		"any where nothing is wished":      {none, worker("w"), true},
		"any rank where nothing is wished": {none, ranked("w", 0), true},
		"the worker":                       {worker("w"), worker("w"), true},
		"the worker and a rank more":       {worker("w"), ranked("w", 0), true},
		"the very rank":                    {ranked("w", 0), ranked("w", 0), true},
		"another worker":                   {worker("w"), worker("v"), false},
		"another rank":                     {ranked("w", 0), ranked("w", 1), false},
		"the rank lost":                    {ranked("w", 0), worker("w"), false},
		"nothing":                          {worker("w"), none, false},
		"nothing where nothing is wished":  {none, none, false},
		"a rank alone":                     {none, Target{Rank: RankOf(1)}, false},
	} {
		t.Run("initializer/"+name, func(t *testing.T) {
			table := newTable(t, Config{})
			l := acquire(t, table, pinned("s", c.wish))
			err := l.Commit(c.dispatched)
			if c.ok {
				if err != nil || home(l) != c.dispatched || where(t, table, "s") != c.dispatched {
					t.Errorf("Commit = %v, leased on %v, bound to %v", err, home(l), where(t, table, "s"))
				}
				l.Release()
				return
			}
			if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), `"s"`) || !strings.Contains(err.Error(), c.dispatched.String()) {
				t.Errorf("Commit = %v, want an ErrMismatch that names session and target", err)
			}
			wants(t, table, Stats{}) // abandoned
			if err := l.Commit(c.wish); !errors.Is(err, ErrStale) {
				t.Errorf("a second Commit = %v, want ErrStale", err)
			}
		})
		if c.wish == none {
			continue
		}
		t.Run("bound/"+name, func(t *testing.T) {
			table := newTable(t, Config{})
			bind(t, table, "s", c.wish)
			l := acquire(t, table, ask("s"))
			if err := l.Commit(c.dispatched); c.ok != (err == nil) || !c.ok && !errors.Is(err, ErrMismatch) {
				t.Errorf("Commit = %v, want accepted = %v", err, c.ok)
			}
			if home(l) != c.wish || where(t, table, "s") != c.wish {
				t.Errorf("leased on %v, bound to %v, want %v", home(l), where(t, table, "s"), c.wish)
			}
			wants(t, table, Stats{Sessions: 1, Leases: 1})
			l.Release()
		})
	}
}

func TestABrokenPinHandsInitializingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, pinned("s", ranked("w", 0)))
		waiting := waitBehind(t.Context(), table, ask("s"))
		if err := first.Commit(worker("w")); !errors.Is(err, ErrMismatch) {
			t.Fatalf("Commit = %v, want ErrMismatch", err)
		}
		heir := <-waiting
		if heir.err != nil || home(heir.lease) != (Target{}) {
			t.Fatalf("the heir got %v", heir)
		}
		commit(t, heir.lease, worker("v"))
		first.Invalidate() // over: nothing happens
		heir.lease.Release()
		if got := where(t, table, "s"); got != worker("v") {
			t.Errorf("bound to %v", got)
		}
	})
}

func TestWaitersFollowTheBindingUnlessTheirOwnPinContradicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, pinned("s", worker("w")))
		asks := []Ask{ask("s"), pinned("s", worker("v")), pinned("s", worker("w")), pinned("s", ranked("w", 1)), pinned("s", ranked("w", 0)), pinned("s", worker("u"))}
		var waiting []<-chan result
		for _, a := range asks {
			waiting = append(waiting, waitBehind(t.Context(), table, a))
		}
		wants(t, table, Stats{Sessions: 1, Initializing: 1, Leases: 1, Waiting: 6})
		commit(t, first, ranked("w", 0))
		wants(t, table, Stats{Sessions: 1, Leases: 4})
		for i, ok := range []bool{true, false, true, false, true, false} {
			r := <-waiting[i]
			if ok && (r.err != nil || home(r.lease) != ranked("w", 0)) || !ok && (!errors.Is(r.err, ErrPin) || r.lease != Lease{}) {
				t.Errorf("the waiter with pin %v got %v on %v", asks[i].Pin, r.err, home(r.lease))
			}
			r.lease.Release()
		}
		first.Release()
		wants(t, table, Stats{Sessions: 1})
	})
}

func TestAnHeirsOwnPinCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, Config{})
		first := acquire(t, table, pinned("s", worker("w")))
		waiting := waitBehind(t.Context(), table, pinned("s", worker("v")))
		first.Release()
		heir := (<-waiting).lease
		if err := heir.Commit(worker("w")); !errors.Is(err, ErrMismatch) {
			t.Errorf("the heir committed its predecessor's pin: %v", err)
		}
		wants(t, table, Stats{})
	})
}
