package lineage

import (
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

var (
	w1      = script.On("w1", 0)
	a, b, c = B(0xa), B(0xb), B(0xc)
)

func TestWhatIsAskedIsSaidInAFewWords(t *testing.T) {
	for want, add := range map[string]func(s *Script) *Step{
		`store "s" on w1 rank 0 [a b]`:                       func(s *Script) *Step { return s.Store("s", w1, a, b) },
		`store "" on w1 rank 0 as i under a [b]`:             func(s *Script) *Step { return s.Under("", w1, a, b).As("i") },
		`store "s" on w1 rank 0 []`:                          func(s *Script) *Step { return s.Store("s", w1) },
		`match "iiiiiiii"..."ii" (257 bytes) on w1 rank 0 a`: func(s *Script) *Step { return s.Match(strings.Repeat("i", 257), w1, a) },
		`remove on w1 rank 0 [b a]`:                          func(s *Script) *Step { return s.Remove(w1, b, a) },
		`clear on w1 rank 0`:                                 func(s *Script) *Step { return s.Clear(w1) },
		`frontiers "s"`:                                      func(s *Script) *Step { return s.Frontiers("s") },
		`lineages "s" on w1 rank 0`:                          func(s *Script) *Step { return s.Lineages("s", w1) },
		`lineages "s" on w1 rank 0 0`:                        func(s *Script) *Step { return s.LineagesFrom("s", w1, B(0)) },
		`batch on w1 rank 0 a for 3 sessions from 5`:         func(s *Script) *Step { return s.Fill(5, 3, w1, a) },
		`size`:                                         func(s *Script) *Step { return s.Size() },
		`dump`:                                         func(s *Script) *Step { return s.Dump("x") },
		`clock.advance by 1s`:                          func(s *Script) *Step { return s.Advance(time.Second) },
		`new with 2 sessions, retention 1s`:            func(s *Script) *Step { return s.Create(Holding(2).Keeping(time.Second)) },
		`new with the index's own settings`:            func(s *Script) *Step { return s.Create(Config{}) },
		`register on w1 as i`:                          func(s *Script) *Step { return s.Register(script.At("w1"), "i") },
		`worker.remove on w1 rank 0`:                   func(s *Script) *Step { return s.RemoveWorker(w1) },
		`store.admit "s" on w1 rank 0 [a] (x)`:         func(s *Script) *Step { return s.AdmitStore("x", "s", w1, "", a) },
		`match.admit "s" on w1 rank 0 a (x)`:           func(s *Script) *Step { return s.AdmitMatch("x", "s", w1, a) },
		`match.apply x`:                                func(s *Script) *Step { s.AdmitMatch("x", "s", w1, a); return s.Apply("x") },
		`store.apply y`:                                func(s *Script) *Step { return s.Apply("y") },
		`remove.begin on w1 (r)`:                       func(s *Script) *Step { return s.BeginRemoval("r", script.At("w1")) },
		`remove.await r`:                               func(s *Script) *Step { return s.AwaitRemoval("r") },
		`physical.set on w1 rank 0 []`:                 func(s *Script) *Step { return s.Holds(w1) },
		`physical.fail barrier true, lower tier false`: func(s *Script) *Step { return s.Fail(true, false) },
		`flush`: func(s *Script) *Step { return s.Flush() },
	} {
		if got := add(&Script{}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNeedsFollowFromWhatIsAsked(t *testing.T) {
	s := &Script{Demands: []string{"physical"}}
	s.Store("s", w1, a)
	s.Dump("")
	if got := strings.Join(s.Needs(), " "); got != "physical" {
		t.Errorf("needs %s", got)
	}
	s.Store("s", w1, a).As("i")
	s.Advance(time.Second)
	s.Flush()
	s.Apply("x")
	s.Fill(0, 1, w1, a)
	if got := strings.Join(s.Needs(), " "); got != "admission barrier batch clock lifecycle physical" {
		t.Errorf("needs %s", got)
	}
}

func TestAnAnswerMeetsWhatItMay(t *testing.T) {
	at := func(b string) Frontier { return F(w1, b) }
	for name, x := range map[string]struct {
		want, answer Answer
		meets        bool
	}{
		"the same":                    {Changed, Changed, true},
		"another":                     {Changed, Unchanged, false},
		"discarded is not unchanged":  {Unchanged, Discarded, false},
		"the same error":              {FailsAt(CyclicParent, a), FailsAt(CyclicParent, a), true},
		"at another block":            {FailsAt(CyclicParent, a), FailsAt(CyclicParent, b), false},
		"of another kind":             {FailsAt(CyclicParent, a), FailsAt(ConflictingParent, a), false},
		"at whatever block":           {Fails(CyclicParent), FailsAt(CyclicParent, b), true},
		"whatever refusal":            {Refused, FailsAt(UnknownParent, b), true},
		"an error that is no refusal": {Refused, Fails("internal"), false},
		"an unknown anchor is none":   {Refused, FailsAt(UnknownAnchor, a), false},
		"a count":                     {Counts(2), Counts(2), true},
		"another count":               {Counts(2), Counts(1), false},
		"any count":                   {AnyCount, Counts(7), true},
		"frontiers in another order":  {Reaches(at(a), at(b)), Reaches(at(b), at(a)), true},
		"a frontier twice":            {Reaches(at(a)), Reaches(at(a), at(a)), false},
		"a frontier on another rank":  {Reaches(at(a)), Reaches(F(script.On("w1", 1), a)), false},
		"no frontier":                 {Reaches(), Answer{State: StateFrontiers}, true},
		"chains in another order":     {Chains([]string{a, b}, []string{c}), Chains([]string{c}, []string{a, b}), true},
		"a chain upside down":         {Chains([]string{a, b}), Chains([]string{b, a}), false},
		"a size":                      {Sized(2, 1), Sized(2, 1).Discarding(5), true},
		"another size":                {Sized(2, 1), Sized(2, 2), false},
		"a size with discarded":       {Sized(2, 1).Discarding(5), Sized(2, 1).Discarding(5), true},
		"another number of discarded": {Sized(2, 1).Discarding(5), Sized(2, 1).Discarding(4), false},
		"no number of discarded":      {Sized(2, 1).Discarding(0), Sized(2, 1), false},
	} {
		if x.want.Meets(x.answer) != x.meets {
			t.Errorf("%s: %s and %s", name, x.want, x.answer)
		}
	}
}

func TestAuditFindsContradictions(t *testing.T) {
	held := func(id string, blocks ...string) HeldSession {
		h := HeldSession{Session: id}
		for _, b := range blocks {
			h.Frontiers = append(h.Frontiers, F(w1, b))
		}
		return h
	}
	chain := []Known{{Block: a}, {Block: b, Parent: a}, {Block: c, Parent: a}}
	for want, s := range map[string]*State{
		"":                           {Blocks: append([]Known{{Block: B(1), Phantom: true}}, chain...), Sessions: []HeldSession{held("s", b, c), held("", a)}},
		"block a is there twice":     {Blocks: append([]Known{{Block: a}}, chain...)},
		"block b is under a, which":  {Blocks: []Known{{Block: b, Parent: a}}},
		"phantom b has a parent":     {Blocks: []Known{{Block: a}, {Block: b, Parent: a, Phantom: true}}},
		"is its own ancestor":        {Blocks: []Known{{Block: a, Parent: b}, {Block: b, Parent: a}}},
		"3 sessions are held, and 2": {Blocks: chain, Sessions: []HeldSession{held("s", a), held("t", a), held("u", a)}},
		`session "s" is there twice`: {Blocks: chain, Sessions: []HeldSession{held("s", a), held("s", b)}},
		"without a frontier":         {Blocks: chain, Sessions: []HeldSession{held("s")}},
		"(257 bytes) is there":       {Blocks: chain, Sessions: []HeldSession{held(strings.Repeat("i", 257), a)}},
		"a block that is not there":  {Blocks: chain, Sessions: []HeldSession{held("s", B(9))}},
		", a phantom":                {Blocks: []Known{{Block: a, Phantom: true}}, Sessions: []HeldSession{held("s", a)}},
		"rank 0 a twice":             {Blocks: chain, Sessions: []HeldSession{held("s", a, a)}},
		"frontiers a and b on w1":    {Blocks: chain, Sessions: []HeldSession{held("s", b, a)}},
	} {
		if got := Audit(s, 2); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
