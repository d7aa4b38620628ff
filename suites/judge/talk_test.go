package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// conversation is a script in which b waits for a, c waits, and c or d inherits.
func conversation() *script.Script {
	s := script.New(script.Config{IdleTTL: time.Second})
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Commit("a", script.On("w1", 0)).Is(script.Done).And("b", script.Bound(script.On("w1", 0)))
	s.Count().Is(script.HoldsSessions(1))
	s.Acquire("c", script.S("t")).Waits()
	s.Acquire("d", script.S("t")).Waits()
	s.Release("a").Is(script.Done, script.Fails(script.Stale)).HandsTo("heir", "c", "d")
	return s
}

// good is how it should go.
func good() *script.Talk {
	bound := script.Bound(script.On("w1", 0))
	answer := func(name string, o script.Outcome) script.Answer { return script.Answer{Name: name, Outcome: o} }
	names := []string{}
	for _, st := range conversation().Steps {
		names = append(names, st.Name)
	}
	return &script.Talk{Turns: []script.Turn{
		{Step: names[0], Answers: []script.Answer{answer("a", script.Initializes)}},
		{Step: names[1], Waiting: []string{"b"}},
		{Step: names[2], Answers: []script.Answer{answer(names[2], script.Done), answer("b", bound)}},
		{Step: names[3], Answers: []script.Answer{answer(names[3], script.Holds(1, 7))}},
		{Step: names[4], Waiting: []string{"c"}},
		{Step: names[5], Waiting: []string{"c", "d"}},
		{Step: names[6], Answers: []script.Answer{answer(names[6], script.Fails(script.Stale)), answer("d", script.Initializes)}, Waiting: []string{"c"}},
	}}
}

func TestFollowsWantsTheConversationAsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		spoil               func(t *script.Talk)
		violated, undecided string
	}{
		"as written":     {func(*script.Talk) {}, "", ""},
		"the other heir": {func(t *script.Talk) { t.Turns[6].Answers[1].Name, t.Turns[6].Waiting[0] = "c", "d" }, "", ""},
		"another state":  {func(t *script.Talk) { t.Turns[0].Answers[0].Outcome = script.Bound(script.At("w1")) }, "step 1 (acquire a of session \"s\"): a to initialize; observed a was answered: bound to w1", ""},
		"an error":       {func(t *script.Talk) { t.Turns[0].Answers[0].Outcome = script.Fails(script.Unavailable) }, "an error of kind unavailable", ""},
		"no answer":      {func(t *script.Talk) { t.Turns[0].Answers, t.Turns[0].Waiting = nil, []string{"a"} }, "a was not answered", ""},
		"no waiting": {func(t *script.Talk) {
			t.Turns[1] = script.Turn{Answers: []script.Answer{{Name: "b", Outcome: script.Initializes}}}
		}, "b to wait; observed b was answered: to initialize", ""},
		"neither waits nor answers": {func(t *script.Talk) { t.Turns[1].Waiting = nil }, "neither waits nor was answered", ""},
		"another rank":              {func(t *script.Talk) { t.Turns[2].Answers[1].Outcome = script.Bound(script.On("w1", 1)) }, "b bound to w1 rank 0", ""},
		"no rank":                   {func(t *script.Talk) { t.Turns[2].Answers[1].Outcome = script.Bound(script.At("w1")) }, "b was answered: bound to w1", ""},
		"a waiter forgotten":        {func(t *script.Talk) { t.Turns[2].Answers = t.Turns[2].Answers[:1]; t.Turns[2].Waiting = []string{"b"} }, "b was not answered", ""},
		"another count":             {func(t *script.Talk) { t.Turns[3].Answers[0].Outcome = script.Holds(2, 7) }, "1 sessions; observed it was answered: 2 sessions and 7 leases", ""},
		"two heirs": {func(t *script.Talk) {
			t.Turns[6].Answers = append(t.Turns[6].Answers, script.Answer{Name: "c", Outcome: script.Initializes})
		}, "2 of them", ""},
		"no heir":                 {func(t *script.Talk) { t.Turns[6].Answers = t.Turns[6].Answers[:1] }, "exactly one of c, d to initialize; observed 0 of them", ""},
		"an heir of another kind": {func(t *script.Talk) { t.Turns[6].Answers[1].Outcome = script.Fails(script.Cancelled) }, "d was answered: an error of kind cancelled", ""},
		"an answer that nothing brought": {func(t *script.Talk) {
			t.Turns[5].Answers = append(t.Turns[5].Answers, script.Answer{Name: "c", Outcome: script.Initializes})
		}, "nothing else to be answered; observed c", ""},
		"a step that needs a missing claim":  {func(t *script.Talk) { t.Turns[3] = script.Turn{Left: "no claim", Unable: true} }, "", ""},
		"a step that was not asked":          {func(t *script.Talk) { t.Turns[2] = script.Turn{Left: "no lease"} }, "", "was not asked: no lease"},
		"cut off":                            {func(t *script.Talk) { t.Turns = t.Turns[:4] }, "", "after 4 of 7 steps"},
		"a fault of the adapter":             {func(t *script.Talk) { t.Turns, t.Fault = t.Turns[:4], "not JSON: xyz" }, "not JSON: xyz", ""},
		"more turns than steps":              {func(t *script.Talk) { t.Turns = append(t.Turns, script.Turn{}) }, "", "8 turns"},
		"nothing asked":                      {func(t *script.Talk) { t.Turns = nil }, "", "after 0 of 7"},
		"what comes first decides, not last": {func(t *script.Talk) { t.Turns[0].Answers = nil; t.Fault = "later" }, "a was not answered", ""},
	} {
		t.Run(name, func(t *testing.T) {
			talk := good()
			c.spoil(talk)
			f := judge.Follows(conversation())(&history.History{Talk: talk})
			got := ""
			if len(f.Violations) > 0 {
				got = f.Violations[0].String()
			}
			if (c.violated == "") != (got == "") || !strings.Contains(got, c.violated) {
				t.Errorf("violations %q, want %q", got, c.violated)
			}
			if (c.undecided == "") != (f.Inconclusive == "") || !strings.Contains(f.Inconclusive, c.undecided) {
				t.Errorf("inconclusive %q, want %q", f.Inconclusive, c.undecided)
			}
		})
	}
	if f := judge.Follows(conversation())(&history.History{}); f.Inconclusive == "" {
		t.Error("a case without a conversation passed")
	}
	empty := &script.Script{Steps: []*script.Step{{Name: "x", Op: script.Count}}}
	if f := judge.Follows(empty)(&history.History{Talk: &script.Talk{Turns: []script.Turn{{Unable: true}}}}); f.Inconclusive == "" {
		t.Error("a conversation in which nothing could be asked passed")
	}
}

// early is a conversation in which b or c inherits when a's commit is refused, or when a
// ends; then the heir commits, and the other follows if its pin allows it.
func early() *script.Script {
	s := script.New(script.Config{IdleTTL: time.Second})
	s.Acquire("a", script.S("s").Pinned(script.At("w1"))).Is(script.Initializes)
	s.Acquire("b", script.S("s").Pinned(script.At("w1"))).Waits()
	s.Acquire("c", script.S("s").Pinned(script.At("w2"))).Waits()
	s.Commit("a", script.At("w2")).Is(script.Fails(script.InvalidArgument)).MayHandTo("heir", "b", "c")
	s.Release("a").Is(script.Done).HandsTo("heir", "b", "c")
	s.If("heir", "b", func() {
		s.Commit("heir", script.At("w1")).Is(script.Done).And("c", script.Fails(script.InvalidArgument))
	})
	s.If("heir", "c", func() {
		s.Commit("heir", script.At("w2")).Is(script.Done).And("b", script.Fails(script.InvalidArgument))
	})
	return s
}

// went is how it goes if b inherits, with the refusal or after it.
func went(early bool) *script.Talk {
	answer := func(name string, o script.Outcome) script.Answer { return script.Answer{Name: name, Outcome: o} }
	refused := script.Fails(script.InvalidArgument)
	t := &script.Talk{Turns: []script.Turn{
		{Answers: []script.Answer{answer("a", script.Initializes)}},
		{Waiting: []string{"b"}},
		{Waiting: []string{"b", "c"}},
		{Answers: []script.Answer{answer("commit #4", refused)}, Waiting: []string{"b", "c"}},
		{Answers: []script.Answer{answer("release #5", script.Done)}, Waiting: []string{"c"}},
		{Answers: []script.Answer{answer("commit #6", script.Done), answer("c", refused)}},
		{Left: "what it depends on is not so", Unable: true},
	}}
	at := 4
	if early {
		at, t.Turns[3].Waiting = 3, []string{"c"}
	}
	t.Turns[at].Answers = append(t.Turns[at].Answers, answer("b", script.Initializes))
	return t
}

func TestWhatMayComeLaterComesOnceAndDecidesWhatFollows(t *testing.T) {
	heir := script.Answer{Name: "c", Outcome: script.Initializes}
	for name, c := range map[string]struct {
		early               bool
		spoil               func(t *script.Talk)
		violated, undecided string
	}{
		"with the refusal":         {true, func(*script.Talk) {}, "", ""},
		"after it":                 {false, func(*script.Talk) {}, "", ""},
		"never":                    {false, func(t *script.Talk) { t.Turns[4].Answers = t.Turns[4].Answers[:1] }, "step 5 (release a): exactly one of b, c to initialize; observed 0 of them", ""},
		"one with each":            {true, func(t *script.Talk) { t.Turns[4].Answers = append(t.Turns[4].Answers, heir) }, "nobody beside b to initialize; observed 2 of them were answered so: b, c", ""},
		"both at once, early":      {true, func(t *script.Talk) { t.Turns[3].Answers = append(t.Turns[3].Answers, heir) }, "step 4 (commit a at w2): exactly one of b, c to initialize; observed 2 of them", ""},
		"early, and otherwise":     {true, func(t *script.Talk) { t.Turns[3].Answers[1].Outcome = script.Fails(script.Cancelled) }, "b was answered: an error of kind cancelled", ""},
		"the other pin is dropped": {false, func(t *script.Talk) { t.Turns[5].Answers[1].Outcome = script.Bound(script.At("w1")) }, "if heir is b): c an error of kind invalid_argument; observed c was answered: bound to w1", ""},
		"the wrong part was taken": {false, func(t *script.Talk) { t.Turns[5], t.Turns[6] = t.Turns[6], t.Turns[5] }, "", "step 6 (commit heir at w1, if heir is b) was not asked"},
		"both parts were taken":    {false, func(t *script.Talk) { t.Turns[6] = t.Turns[5] }, "", "step 7 (commit heir at w2, if heir is c) was asked though it is not meant"},
	} {
		t.Run(name, func(t *testing.T) {
			talk := went(c.early)
			c.spoil(talk)
			f := judge.Follows(early())(&history.History{Talk: talk})
			got := ""
			if len(f.Violations) > 0 {
				got = f.Violations[0].String()
			}
			if (c.violated == "") != (got == "") || !strings.Contains(got, c.violated) {
				t.Errorf("violations %q, want %q", got, c.violated)
			}
			if (c.undecided == "") != (f.Inconclusive == "") || !strings.Contains(f.Inconclusive, c.undecided) {
				t.Errorf("inconclusive %q, want %q", f.Inconclusive, c.undecided)
			}
		})
	}
}
