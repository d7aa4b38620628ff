package sessionindex

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// The races of decision 27, each as one order of operations that are split where a
// router may be interrupted.
func TestRaces(t *testing.T) {
	for name, run := range map[string]func(*indexRig){
		"a store that meets the removal of its worker on its way is discarded": func(r *indexRig) {
			r.register(whole("w"), "first")
			late := r.admit("s", w0, "first", 1, 2)
			r.remove(whole("w"), 0)
			r.apply("the store", late, tooLate)
			r.has("s")
			equal(r.t, "discarded", r.Discarded(), 1)
			equal(r.t, "known blocks", r.Counts().Blocks, 0)
		},
		"a store that meets the removal of its rank is discarded, and a sibling's is not": func(r *indexRig) {
			r.register(whole("w"), "first")
			late, sibling := r.admit("s", w0, "first", 1), r.admit("s", w1, "first", 1)
			r.remove(part(w0), 0)
			r.apply("the store", late, tooLate)
			r.apply("the sibling's", sibling, counts)
			r.apply("a new one", r.admit("s", w0, "first", 1), tooLate)
			r.has("s", Frontier{w1, 1})
		},
		"a store that meets a clear of its rank is discarded, and a sibling's is not": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("before", r.admit("s", w1, "first", 1), counts)
			late := r.admit("s", w0, "first", 1)
			r.clear(w0, 0)
			r.apply("the store", late, tooLate)
			r.has("s", Frontier{w1, 1})
		},
		"a store of the former incarnation does not count for the next": func(r *indexRig) {
			r.register(whole("w"), "first")
			late := r.admit("s", w0, "first", 1, 2)
			r.remove(whole("w"), 0)
			r.register(whole("w"), "second")
			r.apply("the old store", late, tooLate)
			r.apply("a late old store", r.admit("s", w0, "first", 7), tooLate)
			r.apply("the new store", r.admit("s", w0, "second", 3), counts)
			r.has("s", Frontier{w0, 3})
		},
		"what the next incarnation stores outlives the end of the former's removal": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("the old store", r.admit("s", w0, "first", 1), counts)
			removal := r.BeginRemoval(whole("w"))
			r.register(whole("w"), "second")
			r.apply("the new store", r.admit("s", w0, "second", 3), counts)
			r.await(removal, 1)
			r.has("s", Frontier{w0, 3})
		},
		"a registration removes the former incarnation": func(r *indexRig) {
			r.register(whole("w"), "first")
			late := r.admit("s", w0, "first", 1)
			r.apply("the old store", r.admit("t", w1, "first", 1), counts)
			r.register(whole("w"), "second")
			r.apply("the late store", late, tooLate)
			r.has("t")
			equal(r.t, "barriers", r.physical.barriers, 1)
		},
		"a registration of one rank leaves the others as they are": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("rank 0", r.admit("s", w0, "first", 1), counts)
			r.apply("rank 1", r.admit("s", w1, "first", 1), counts)
			r.register(part(w1), "second")
			r.has("s", Frontier{w0, 1})
			r.apply("rank 1 under the first", r.admit("s", w1, "first", 1), tooLate)
			r.apply("rank 1 under the second", r.admit("s", w1, "second", 2), counts)
			r.apply("rank 0 under the second", r.admit("s", w0, "second", 2), tooLate)
			r.remove(whole("w"), 2)
			r.apply("rank 1 afterwards", r.admit("s", w1, "second", 2), tooLate)
			r.register(part(w1), "third")
			r.apply("the only rank", r.admit("s", w1, "third", 2), counts)
			r.apply("its sibling", r.admit("s", w0, "third", 2), tooLate)
			r.remove(part(w1), 1)
			equal(r.t, "workers known", len(r.life.workers), 0)
		},
		"a store that was admitted after a clear survives": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("before", r.admit("s", w0, "first", 1), counts)
			r.clear(w0, 1)
			r.apply("after", r.admit("s", w0, "first", 2), counts)
			r.has("s", Frontier{w0, 2})
		},
		"a store survives an eviction, before it or on its way": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("before", r.admit("s", w0, "first", 1, 2), counts)
			r.evict(w0, 1, 2)
			again := r.admit("s", w0, "first", 1, 2)
			r.evict(w0, 0, 2)
			r.apply("again", again, counts)
			r.has("s", Frontier{w0, 2})
			equal(r.t, "questions to the physical index", r.physical.askedFor, 0)
		},
		"a match that nothing overtakes is not confirmed": func(r *indexRig) {
			r.register(whole("w"), "first")
			m := r.admitMatch("s", w0, "first", 1)
			r.evict(w1, 0, 1)
			r.remove(whole("v"), 0)
			r.apply("the match", m, counts)
			equal(r.t, "questions to the physical index", r.physical.askedFor, 0)
		},
		"a match that an eviction overtakes counts if the rank holds the block": func(r *indexRig) {
			r.register(whole("w"), "first")
			gone, there := r.admitMatch("s", w0, "first", 1), r.admitMatch("s", w0, "first", 2)
			r.evict(w0, 0, 1)
			r.physical.holds(w0, 2)
			r.apply("the block that is gone", gone, tooLate)
			r.apply("the block that is there", there, counts)
			r.has("s", Frontier{w0, 2})
		},
		"a match that a clear overtakes counts if the rank holds the block again": func(r *indexRig) {
			r.register(whole("w"), "first")
			gone, there := r.admitMatch("s", w0, "first", 1), r.admitMatch("s", w0, "first", 2)
			r.clear(w0, 0)
			r.physical.holds(w0, 2)
			r.apply("the block that is gone", gone, tooLate)
			r.apply("the block that is there", there, counts)
		},
		"a match of a removed incarnation is dropped, whatever the next one holds": func(r *indexRig) {
			r.register(whole("w"), "first")
			late := r.admitMatch("s", w0, "first", 1)
			later := r.admitMatch("t", w0, "first", 1)
			r.remove(whole("w"), 0)
			r.physical.holds(w0, 1)
			r.apply("the match", late, tooLate)
			r.register(whole("w"), "second")
			r.apply("the new store", r.admit("u", w0, "second", 1), counts)
			r.apply("the later match", later, tooLate)
			r.has("t")
			equal(r.t, "questions to the physical index", r.physical.askedFor, 0)
		},
		"a match that is removed while it is confirmed is dropped": func(r *indexRig) {
			r.register(whole("w"), "first")
			m := r.admitMatch("s", w0, "first", 1)
			r.evict(w0, 0, 9)
			r.physical.holds(w0, 1)
			r.physical.asked = func() { r.BeginRemoval(whole("w")) }
			r.apply("the match", m, tooLate)
			equal(r.t, "questions to the physical index", r.physical.askedFor, 1)
		},
		"a match that cannot be confirmed is dropped": func(r *indexRig) {
			r.register(whole("w"), "first")
			silent, restless := r.admitMatch("s", w0, "first", 1), r.admitMatch("s", w0, "first", 1)
			r.evict(w0, 0, 9)
			r.physical.holds(w0, 1)
			r.physical.silent = true
			r.apply("nobody answers", silent, tooLate)
			r.physical.silent = false
			r.physical.asked = func() { r.evict(w0, 0, 9) }
			r.apply("each answer comes too late", restless, tooLate)
			equal(r.t, "questions to the physical index", r.physical.askedFor, 1+confirmations)
		},
		"who is not registered has nothing": func(r *indexRig) {
			r.register(whole("w"), "first")
			r.apply("another incarnation", r.admit("s", w0, "second", 1), tooLate)
			r.apply("no incarnation", r.admit("s", w0, "", 1), tooLate)
			r.apply("another worker", r.admit("s", v0, "first", 1), tooLate)
			early := r.admit("s", v0, "third", 1)
			r.register(whole("v"), "third")
			r.apply("a store that came before its registration", early, tooLate)
			r.apply("a match of nobody", r.admitMatch("s", w0, "second", 1), tooLate)
			equal(r.t, "counts", r.Counts(), Counts{})
			equal(r.t, "discarded", r.Discarded(), 5)
		},
		"without registrations there is no lifecycle, but what ends claims bars what came before": func(r *indexRig) {
			late, cleared := r.admit("s", w0, "", 1), r.admit("s", w1, "", 1)
			r.remove(part(w0), 0)
			r.clear(w1, 0)
			r.apply("removed", late, tooLate)
			r.apply("cleared", cleared, tooLate)
			r.apply("afterwards", r.admit("s", w0, "", 2), counts)
			r.apply("with an incarnation", r.admit("s", w0, "first", 2), tooLate)
			r.remove(whole("w"), 1)
			r.apply("after the worker's removal", r.admit("s", w0, "", 2), counts)
			r.register(whole("w"), "first")
			r.has("s")
			r.apply("after a registration", r.admit("s", v0, "", 2), tooLate)
		},
	} {
		t.Run(name, func(t *testing.T) { run(newRig(t, Config{})) })
	}
}

func TestATicketIsUsedOnce(t *testing.T) {
	r := newRig(t, Config{})
	first := r.admit("s", w0, "", 1)
	ended, end := context.WithCancel(t.Context())
	end()
	if got, err := first.Apply(ended); got != (Result{}) || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %+v, %v", got, err)
	}
	r.apply("again, with one that goes on", first, counts)
	second := r.admit("s", w0, "", 2) // which may be held by the same grip
	if got, err := first.Apply(t.Context()); got != (Result{}) || !errors.Is(err, ErrApplied) {
		t.Errorf("once more: %+v, %v", got, err)
	}
	r.apply("the next ticket", second, counts)
	refused := r.admit("s", w0, "", 3, 3)
	if got, err := refused.Apply(t.Context()); got != (Result{}) || !errors.Is(err, ErrCyclicParent) {
		t.Errorf("a store that cannot be: %+v, %v", got, err)
	}
	if _, err := r.Remove(ended, w0, []Hash{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("an eviction with an ended context: %v", err)
	}
	r.has("s", Frontier{w0, 1}, Frontier{w0, 2})
}

func TestABarrierThatFailsIsNeverTakenForSuccess(t *testing.T) {
	r := newRig(t, Config{})
	failed := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, errPhysical) {
			t.Errorf("%s: %v, want it to fail", what, err)
		}
	}
	r.register(whole("w"), "first")
	r.apply("rank 0", r.admit("s", w0, "first", 1), counts)
	r.apply("rank 1", r.admit("s", w1, "first", 1), counts)
	r.physical.fail(true, false)
	failed("flush", r.Flush(t.Context()))
	removal := r.BeginRemoval(whole("w"))
	for range 2 {
		n, err := removal.Await(t.Context())
		failed("await", err)
		equal(t, "dropped", n, 0)
	}
	_, err := r.BeginRemoval(whole("w")).Await(t.Context())
	failed("another removal", err)
	failed("registration over a removal that is not finished", r.Register(t.Context(), whole("w"), "second"))
	r.apply("a store for the registration that failed", r.admit("s", w0, "second", 1), tooLate)
	r.physical.fail(false, false)
	if err := r.Flush(t.Context()); err != nil {
		t.Errorf("flush: %v", err)
	}
	r.remove(whole("w"), 2) // asked again, it is the same removal
	r.await(removal, 2)
	r.remove(whole("w"), 0)
	equal(t, "unfinished removals", len(r.unfinished), 0)

	r.register(part(w0), "third")
	r.apply("rank 0", r.admit("s", w0, "third", 1), counts)
	r.physical.fail(true, false)
	_, err = r.BeginRemoval(part(w0)).Await(t.Context())
	failed("a rank's removal", err)
	failed("its registration", r.Register(t.Context(), part(w0), "fourth"))
	r.physical.fail(false, false)
	r.remove(part(w1), 0) // another one
	r.remove(whole("w"), 0)
	if _, err := r.BeginRemoval(whole("w")).Await(t.Context()); err != nil {
		t.Error(err)
	}
	equal(t, "unfinished removals", len(r.unfinished), 0)
}

func TestLowerTiersThatFailKeepNoClaims(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	r.apply("a store", r.admit("s", w0, "first", 1), counts)
	r.physical.fail(false, true)
	n, err := r.Clear(t.Context(), w0)
	if n != 1 || !errors.Is(err, errPhysical) || !strings.Contains(err.Error(), `"w" rank 0`) {
		t.Errorf("Clear = %d, %v", n, err)
	}
	r.has("s")
	r.apply("another store", r.admit("s", w0, "first", 1), counts)
	removal := r.BeginRemoval(whole("w"))
	if _, err := removal.Await(t.Context()); !errors.Is(err, errPhysical) {
		t.Errorf("Await: %v", err)
	}
	r.has("s")
	r.physical.fail(true, true)
	if _, err := removal.Await(t.Context()); !errors.Is(err, errPhysical) {
		t.Errorf("Await: %v", err)
	}
	equal(t, "lower tiers cleared, or tried to", r.physical.cleared, 3)
	r.physical.fail(false, false)
	r.await(removal, 1)
}

func TestAnIndexWithoutAPhysicalOneConfirmsNothing(t *testing.T) {
	x, err := NewIndex(Config{}, &stopped{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &indexRig{Index: x, t: t}
	m := r.admitMatch("s", w0, "", 1)
	r.apply("a fresh match", r.admitMatch("s", w0, "", 2), counts)
	r.evict(w0, 0, 9)
	r.apply("a match that an eviction overtook", m, tooLate)
	r.clear(w0, 1)
	r.remove(whole("w"), 0)
	if err := r.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheIndexReclaimsByItsClock(t *testing.T) {
	r := newRig(t, Config{Retention: DefaultRetention})
	r.apply("a store", r.admit("s", w0, "", 1, 2), counts)
	r.clear(w0, 1)
	r.clock.move(DefaultRetention - 1)
	r.Tick()
	equal(t, "blocks, a moment before", r.Counts().Blocks, 2)
	r.clock.move(1)
	r.Tick()
	equal(t, "blocks", r.Counts().Blocks, 0)
	if _, err := NewIndex(Config{Sessions: -1}, r.clock, nil); err == nil {
		t.Error("a bad setting is taken")
	}
	if err := r.Register(t.Context(), whole("w"), ""); err == nil {
		t.Error("an incarnation without a name is taken")
	}
}
