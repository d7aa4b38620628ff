package script

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatIsAskedIsSaidInAFewWords(t *testing.T) {
	zero := 0
	say := func(add func(s *Script) *Step) string { return add(&Script{}).String() }
	for want, add := range map[string]func(s *Script) *Step{
		`acquire a of session "s"`:                      func(s *Script) *Step { return s.Acquire("a", S("s")) },
		`acquire a of session "s", pinned to w1`:        func(s *Script) *Step { return s.Acquire("a", S("s").Pinned(At("w1"))) },
		`acquire a of session "s", pinned to w1 rank 0`: func(s *Script) *Step { return s.Acquire("a", S("s").Pinned(On("w1", 0))) },
		`acquire a of session "s", pinned to rank 0 of no worker`: func(s *Script) *Step {
			return s.Acquire("a", S("s").Pinned(Where{Rank: &zero}))
		},
		`acquire a of session ""`: func(s *Script) *Step { return s.Acquire("a", S("")) },
		`query session "s", model m, tenant t, phase prefill`: func(s *Script) *Step {
			return s.Query(S("s").Of("m").By("t").In("prefill"))
		},
		`query session "aaaaaaaaaaaaaaaa...aa (257 bytes)"`: func(s *Script) *Step { return s.Query(S(strings.Repeat("a", 257))) },
		`commit a at w1 rank 3`:                             func(s *Script) *Step { return s.Commit("a", On("w1", 3)) },
		`release a`:                                         func(s *Script) *Step { return s.Release("a") },
		`invalidate a`:                                      func(s *Script) *Step { return s.Invalidate("a") },
		`cancel a`:                                          func(s *Script) *Step { return s.Cancel("a") },
		`clock.advance by 1.5s`:                             func(s *Script) *Step { return s.Advance(1500 * time.Millisecond) },
		`workers.set w1, w2 (2 ranks)`:                      func(s *Script) *Step { return s.Live(Worker{ID: "w1"}, Worker{ID: "w2", Ranks: 2}) },
		`workers.set to nobody`:                             func(s *Script) *Step { return s.Live() },
		`count`:                                             func(s *Script) *Step { return s.Count() },
		`new other with idleTTL 1s`:                         func(s *Script) *Step { s.Another("other", Config{IdleTTL: time.Second}); return s.Steps[0] },
		`release a in instance other`:                       func(s *Script) *Step { return s.Another("other", Config{}).Release("a") },
		`close other`:                                       func(s *Script) *Step { return s.Another("other", Config{}).Close() },
		`release a (batch 1)`:                               func(s *Script) (st *Step) { s.InBatch(func() { st = s.Release("a") }); return st },
		`release a, if heir is b`:                           func(s *Script) (st *Step) { s.If("heir", "b", func() { st = s.Release("a") }); return st },
		`new with idleTTL 1s`:                               func(s *Script) *Step { return s.Create(Config{IdleTTL: time.Second}) },
		`new with idleTTL 0s, initWait 2s, capacity 7, evict`: func(s *Script) *Step {
			return s.Create(Config{Capacity: 7, AtCapacity: "evict", InitWait: 2 * time.Second})
		},
	} {
		if got := say(add); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOutcomesAreSaidInAFewWords(t *testing.T) {
	for want, o := range map[string]Outcome{
		"to initialize":                    Initializes,
		"bound":                            BoundAny,
		"bound to w1":                      Bound(At("w1")),
		"bound to w1 rank 0":               Bound(On("w1", 0)),
		"not bound":                        Unbound,
		"served without a binding":         Unpinned,
		"done":                             Done,
		"an error of kind stale":           Fails(Stale),
		"2 sessions and 0 leases":          Holds(2, 0),
		"2 sessions":                       HoldsSessions(2),
		"counted":                          {State: StateCounted},
		"an error of kind of another kind": Fails("of another kind"),
	} {
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnAnswerMeetsWhatItMay(t *testing.T) {
	for name, c := range map[string]struct {
		allowed, answer Outcome
		meets           bool
	}{
		"the same":                         {Initializes, Initializes, true},
		"another state":                    {Initializes, Unpinned, false},
		"the same target":                  {Bound(On("w1", 0)), Bound(On("w1", 0)), true},
		"another worker":                   {Bound(At("w1")), Bound(At("w2")), false},
		"another rank":                     {Bound(On("w1", 0)), Bound(On("w1", 1)), false},
		"no rank for rank 0":               {Bound(On("w1", 0)), Bound(At("w1")), false},
		"rank 0 for no rank":               {Bound(At("w1")), Bound(On("w1", 0)), false},
		"a target where any is right":      {BoundAny, Bound(At("w2")), true},
		"no target where one is meant":     {Bound(At("w1")), BoundAny, false},
		"no worker where one is meant":     {Bound(At("w1")), Bound(Where{}), false},
		"an error of the kind":             {Fails(Stale), Fails(Stale), true},
		"an error of another kind":         {Fails(Stale), Fails(Cancelled), false},
		"done where an error is meant":     {Fails(Stale), Done, false},
		"an error where done is meant":     {Done, Fails(Stale), false},
		"the count":                        {Holds(1, 2), Holds(1, 2), true},
		"other leases":                     {Holds(1, 2), Holds(1, 3), false},
		"other sessions":                   {Holds(1, 2), Holds(2, 2), false},
		"any leases":                       {HoldsSessions(1), Holds(1, 3), true},
		"other sessions, any leases":       {HoldsSessions(1), Holds(2, 3), false},
		"negative leases are not any":      {Holds(1, 0), Holds(1, -1), false},
		"no count":                         {Holds(1, 0), Outcome{State: StateCounted}, false},
		"a state that nobody has heard of": {Done, Outcome{State: "other"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.allowed.Meets(c.answer) != c.meets {
				t.Errorf("%v meets %v: %t", c.answer, c.allowed, !c.meets)
			}
		})
	}
}

func TestAScriptNeedsTheClaimsThatItsOperationsHangOn(t *testing.T) {
	zero := 0
	for name, c := range map[string]struct {
		add  func(s *Script)
		want []string
	}{
		"turns":               {func(s *Script) { s.Acquire("a", S("s")); s.Commit("a", At("w1")); s.Release("a") }, nil},
		"a model":             {func(s *Script) { s.Acquire("a", S("s").Of("m")) }, nil},
		"the phase decode":    {func(s *Script) { s.Query(S("s").In("decode")) }, nil},
		"a batch":             {func(s *Script) { s.InBatch(func() { s.Release("a") }) }, []string{"batch"}},
		"a count is left out": {func(s *Script) { s.Count() }, nil},
		"time":                {func(s *Script) { s.Advance(time.Second) }, []string{"clock"}},
		"the phase prefill":   {func(s *Script) { s.Query(S("s").In("prefill")) }, []string{"phases"}},
		"a tenant":            {func(s *Script) { s.Acquire("a", S("s").By("t")) }, []string{"tenant"}},
		"a pin to rank 0":     {func(s *Script) { s.Acquire("a", S("s").Pinned(On("w1", 0))) }, []string{"ranks"}},
		"a rank alone":        {func(s *Script) { s.Query(S("s").Pinned(Where{Rank: &zero})) }, []string{"ranks"}},
		"a commit to a rank":  {func(s *Script) { s.Commit("a", On("w1", 1)) }, []string{"ranks"}},
		"all, once and in order": {func(s *Script) {
			for range 2 {
				s.Acquire("a", S("s").By("t").In("prefill").Pinned(On("w1", 0)))
				s.Advance(time.Second)
			}
		}, []string{"clock", "phases", "ranks", "tenant"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{}, Worker{ID: "w1", Ranks: 2})
			c.add(s)
			if got := s.Needs(); !slices.Equal(got, c.want) {
				t.Errorf("needs %v, want %v", got, c.want)
			}
		})
	}
}

func TestAStepSaysWhatBecomesOfEachOperationOnce(t *testing.T) {
	s := New(Config{})
	if len(s.Steps) != 0 {
		t.Fatalf("%d steps without workers", len(s.Steps))
	}
	s.Acquire("a", S("s")).Is(Initializes)
	st := s.Commit("a", At("w1")).Is(Done).And("b", Bound(At("w1"))).Is(Fails(Stale)).HandsTo("heir", "c", "d")
	if len(st.Wants) != 2 || st.Wants[0].Name != st.Name || len(st.Wants[0].AnyOf) != 1 || st.Wants[0].AnyOf[0] != Fails(Stale) || st.Wants[1].Name != "b" {
		t.Errorf("wants %+v", st.Wants)
	}
	if p := st.Passes; p == nil || p.As != "heir" || !slices.Equal(p.Among, []string{"c", "d"}) || p.Outcome != Initializes {
		t.Errorf("passes %+v", st.Passes)
	}
	if w := s.Acquire("e", S("s")).Waits().Wants; len(w) != 1 || w[0].Name != "e" || len(w[0].AnyOf) != 0 {
		t.Errorf("waits %+v", w)
	}
	names := map[string]bool{}
	for range 3 {
		names[s.Release("a").Name] = true
	}
	if len(names) != 3 {
		t.Errorf("steps share names: %v", names)
	}
	if !Bound(At("w")).Meets(Bound(At("w"))) || s.Count().Needs != "count" {
		t.Error("a count does not say what it needs")
	}
}

func TestWhatIsSentTogetherIsAGroup(t *testing.T) {
	s := New(Config{})
	s.Release("alone")
	s.InBatch(func() { s.Release("a"); s.Release("b") })
	s.InBatch(func() { s.Release("c") })
	s.Release("alone")
	s.Release("alone too")
	var sizes []int
	for _, g := range Groups(s.Steps) {
		sizes = append(sizes, len(g))
	}
	if !slices.Equal(sizes, []int{1, 2, 1, 1, 1}) {
		t.Errorf("groups of %v", sizes)
	}
}

func TestAStepIsMeantIfAllIsSoThatItDependsOn(t *testing.T) {
	s := New(Config{})
	s.If("heir", "a", func() {
		s.Release("a")
		s.If("second", "b", func() { s.Release("b") })
	})
	s.Release("c")
	for _, c := range []struct {
		passed map[string]string
		want   []bool
	}{
		{nil, []bool{false, false, true}},
		{map[string]string{"heir": "a"}, []bool{true, false, true}},
		{map[string]string{"heir": "a", "second": "b"}, []bool{true, true, true}},
		{map[string]string{"heir": "b", "second": "b"}, []bool{false, false, true}},
	} {
		for i, st := range s.Steps {
			if st.Meant(c.passed) != c.want[i] {
				t.Errorf("%v: step %d is meant: %t", c.passed, i, !c.want[i])
			}
		}
	}
}
