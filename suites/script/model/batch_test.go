package model

import (
	"math/rand/v2"
	"testing"

	"github.com/routeproof/routeproof/suites/script"
)

func TestFollowTellsWhatABatchMayBeAnswered(t *testing.T) {
	waits := func(t conversation) {
		t.Acquire("a", s).Is(initial)
		t.Acquire("b", s).Waits()
	}
	for name, c := range map[string]struct {
		went func(t conversation)
		good bool // else its last step goes wrong
	}{
		"one after another": {func(t conversation) {
			t.InBatch(func() { t.bind("a", s, w1); t.Query(s).Is(script.Bound(w1)) })
		}, true},
		"out of order": {func(t conversation) {
			t.InBatch(func() { t.Acquire("a", s).Is(initial); t.Query(s).Is(script.Bound(w1)) })
		}, false},
		"who would wait leaves": {func(t conversation) {
			t.InBatch(func() { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Is(left) })
			t.Commit("a", w1).Is(done)
		}, true},
		"who would wait waits": {func(t conversation) {
			t.InBatch(func() { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Waits() })
		}, false},
		"who would wait initializes": {func(t conversation) {
			t.InBatch(func() { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Is(initial) })
		}, false},
		"a lease that is none": {func(t conversation) {
			t.InBatch(func() { t.Query(s).Is(unbound); t.Release("no lease").Is(invalid) })
		}, true},
		"a lease that is none, ended": {func(t conversation) {
			t.InBatch(func() { t.Query(s).Is(unbound); t.Release("no lease").Is(done) })
		}, false},
		"one that waits outside is woken": {func(t conversation) {
			waits(t)
			t.InBatch(func() { t.Query(s).Is(unbound); t.Commit("a", w1).Is(done).And("b", script.Bound(w1)) })
		}, true},
		"and is said so with a later step": {func(t conversation) {
			waits(t)
			t.InBatch(func() { t.Commit("a", w1).Is(done); t.Query(other).Is(unbound).And("b", script.Bound(w1)) })
		}, true},
		"and goes elsewhere": {func(t conversation) {
			waits(t)
			t.InBatch(func() { t.Query(s).Is(unbound); t.Commit("a", w1).Is(done).And("b", script.Bound(w2)) })
		}, false},
		"and is forgotten": {func(t conversation) {
			waits(t)
			t.InBatch(func() { t.Query(s).Is(unbound); t.Commit("a", w1).Is(done) })
		}, false},
		"and was not to be": {func(t conversation) {
			waits(t)
			t.InBatch(func() { t.Query(s).Is(unbound); t.Query(other).Is(unbound).And("b", script.Bound(w1)) })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			went := begin(plainly)
			c.went(went)
			switch d, at := went.follow(); {
			case c.good && d != nil:
				t.Errorf("step %d (%s): expected %s; observed %s", at+1, went.Steps[at], d.Expected, d.Observed)
			case !c.good && d == nil:
				t.Error("nothing is different")
			case !c.good && (at != len(went.Steps)-1 || d.Expected == "" || d.Observed == ""):
				t.Errorf("step %d: %+v", at+1, d)
			}
		})
	}
}

func TestBatchesAreMadeOfWhatMayBeInThem(t *testing.T) {
	sizes, none := map[int]int{}, 0
	for seed := range uint64(60) {
		g := NewGenerator(rand.New(rand.NewPCG(seed, 1)), append(claims, "batch"))
		m := New(g.Config())
		for range 30 {
			steps := g.Batch(m, g.Next(m))
			sizes[len(steps)]++
			var turns []script.Turn
			s := m.states[0]
			for i, st := range steps {
				if len(steps) > 1 && (!batchable(st) || st.Batch == 0 || st.Batch != steps[0].Batch) {
					t.Fatalf("seed %d: %s is in a batch of %d", seed, st, len(steps))
				}
				if st.Batch != 0 && s.lease(st.Ref) < 0 && st.Ref != "" {
					none++
				}
				way := s.step(st)[0].named()
				if i < len(steps)-1 && way.wakes(st.Name) {
					t.Fatalf("seed %d: %s wakes somebody in the middle of a batch", seed, st)
				}
				turn := script.Turn{Step: st.Name, Waiting: way.Waiting}
				for _, w := range way.Wants {
					turn.Answers = append(turn.Answers, script.Answer{Name: w.Name, Outcome: w.AnyOf[0]})
				}
				turns, s = append(turns, turn), way.next
			}
			if d := m.Follow(steps, turns); d != nil {
				t.Fatalf("seed %d: %+v", seed, d) // it was one of the ways
			}
		}
	}
	if sizes[1] == 0 || sizes[2] == 0 || sizes[largest] == 0 || none == 0 {
		t.Errorf("sizes %v, %d leases that are none", sizes, none)
	}
}
