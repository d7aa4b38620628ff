package judge_test

import (
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

var (
	rank0  = script.On("w1", 0)
	blockA = lineage.B(0xa)
	blockB = lineage.B(0xb)
)

// twoBlocks is a conversation whose last two steps leave to the rules what they must bring.
func twoBlocks() *lineage.Script {
	s := &lineage.Script{}
	s.Store("s", rank0, blockA, blockB).Is(lineage.Changed)
	s.Dump("first")
	s.Store("s", rank0, blockB).Is(lineage.Refused)
	s.Dump("").SameAs("first")
	s.Frontiers("s")
	s.Size()
	return s
}

func dumped(frontiers ...lineage.Frontier) lineage.Answer {
	return lineage.Answer{State: lineage.StateDump, Dump: &lineage.State{
		Blocks:   []lineage.Known{{Block: blockB, Parent: blockA}, {Block: blockA}},
		Sessions: []lineage.HeldSession{{Session: "s", Frontiers: frontiers}},
	}}
}

// asItGoes is how it goes.
func asItGoes() []lineage.Turn {
	at := func(b string) lineage.Frontier { return lineage.F(rank0, b) }
	var turns []lineage.Turn
	for _, a := range []lineage.Answer{
		lineage.Changed, dumped(at(blockB)), lineage.FailsAt(lineage.ConflictingParent, blockB), dumped(at(blockB)), lineage.Reaches(at(blockB)), lineage.Sized(2, 1),
	} {
		turns = append(turns, lineage.Turn{Answer: a})
	}
	return turns
}

func TestIndexesFollowsTheScriptAndTheRules(t *testing.T) {
	at := func(b string) lineage.Frontier { return lineage.F(rank0, b) }
	for name, c := range map[string]struct {
		change              func(h *history.History)
		violated, undecided string
	}{
		"as it should": {func(*history.History) {}, "", ""},
		"another answer than the script's": {func(h *history.History) { h.Lineages[0].Turns[0].Answer = lineage.Unchanged },
			`step 1 (store "s" on w1 rank 0 [a b]): changed; observed it was answered: no change`, ""},
		"accepted what must be refused": {func(h *history.History) { h.Lineages[0].Turns[2].Answer = lineage.Unchanged }, "step 3", ""},
		"an error of another kind": {func(h *history.History) { h.Lineages[0].Turns[2].Answer = lineage.Fails("internal") },
			"a refusal; observed it was answered: an error of kind internal", ""},
		"a state that contradicts itself": {func(h *history.History) { h.Lineages[0].Turns[1].Answer = dumped(at(blockA), at(blockB)) }, "one above the other", ""},
		"a state that has changed":        {func(h *history.History) { h.Lineages[0].Turns[3].Answer = dumped(at(blockA)) }, "step 4 (dump): as before", ""},
		"another answer than the rules'": {func(h *history.History) { h.Lineages[0].Turns[4].Answer = lineage.Reaches(at(blockA)) },
			"frontiers {w1 rank 0 b}; observed it was answered: frontiers {w1 rank 0 a}", ""},
		"another size": {func(h *history.History) { h.Lineages[0].Turns[5].Answer = lineage.Sized(3, 1) }, "2 blocks and 1 sessions", ""},
		"an error's words": {func(h *history.History) {
			h.Lineages[0].Turns[0].Answer = lineage.Answer{State: "error", Kind: "internal", Text: "oh no"}
		}, "(oh no)", ""},
		"only what comes first is shown": {func(h *history.History) {
			h.Lineages[0].Turns[0].Answer, h.Lineages[0].Turns[5].Answer = lineage.Unchanged, lineage.Sized(9, 9)
		}, "step 1", ""},
		"dumps that could not be had": {func(h *history.History) {
			h.Lineages[0].Turns[1], h.Lineages[0].Turns[3] = lineage.Turn{Left: "no claim", Unable: true}, lineage.Turn{Left: "no claim", Unable: true}
		}, "", ""},
		"a step that was not asked":  {func(h *history.History) { h.Lineages[0].Turns[2] = lineage.Turn{Left: "x was not taken in"} }, "", "step 3 (store \"s\" on w1 rank 0 [b]) was not asked"},
		"a fault":                    {func(h *history.History) { h.Lineages[0].Turns, h.Talk.Fault = h.Lineages[0].Turns[:2], "no answer" }, "keeps to the protocol", ""},
		"a fault after a difference": {func(h *history.History) { h.Lineages[0].Turns[0].Answer, h.Talk.Fault = lineage.Unchanged, "no answer" }, "step 1", ""},
		"cut off":                    {func(h *history.History) { h.Lineages[0].Turns = h.Lineages[0].Turns[:3] }, "", "after 3 of 6"},
		"too many turns":             {func(h *history.History) { h.Lineages[0].Turns = append(h.Lineages[0].Turns, lineage.Turn{}) }, "", "7 turns"},
		"nothing":                    {func(h *history.History) { h.Lineages = nil }, "", "no conversation"},
		"no talk":                    {func(h *history.History) { h.Talk = nil }, "", "no conversation"},
		"nothing could be asked": {func(h *history.History) {
			for i := range h.Lineages[0].Turns {
				h.Lineages[0].Turns[i] = lineage.Turn{Left: "no claim", Unable: true}
			}
		}, "", "no step could be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history.History{Talk: &script.Talk{}, Lineages: []lineage.Held{{Turns: asItGoes()}}}
			c.change(h)
			decided(t, judge.Indexes(twoBlocks())(h), c.violated, c.undecided)
		})
	}
}

func decided(t *testing.T, f judge.Finding, violated, undecided string) {
	t.Helper()
	switch {
	case violated == "" && len(f.Violations) > 0, violated != "" && (len(f.Violations) != 1 || !strings.Contains(f.Violations[0].String(), violated)):
		t.Errorf("violations %v, want %q", f.Violations, violated)
	case undecided == "" && f.Inconclusive != "", !strings.Contains(f.Inconclusive, undecided):
		t.Errorf("inconclusive %q, want %q", f.Inconclusive, undecided)
	}
}

func TestIndexModelledWantsEveryConversationAsTheRulesSay(t *testing.T) {
	held := func(a lineage.Answer) lineage.Held {
		s := &lineage.Script{}
		s.Store("s", rank0, blockA)
		return lineage.Held{Script: s, Turns: []lineage.Turn{{Answer: a}}}
	}
	good, bad, cut := held(lineage.Changed), held(lineage.Unchanged), held(lineage.Changed)
	cut.Turns = nil
	stray := held(lineage.Changed)
	stray.Script.Steps[0] = &lineage.Step{Op: lineage.StoreApply, Ref: "nothing"}
	for name, c := range map[string]struct {
		held                []lineage.Held
		fault               string
		violated, undecided string
	}{
		"two good ones": {[]lineage.Held{good, good}, "", "", ""},
		"too few":       {[]lineage.Held{good}, "", "", "only 1 of 2"},
		"none":          {nil, "", "", "only 0 of 2"},
		"a bad one": {[]lineage.Held{good, bad}, "",
			`step 1 (store "s" on w1 rank 0 [a]): changed; observed it was answered: no change; it was asked, with the index's own settings, (1) store "s" on w1 rank 0 [a]`, ""},
		"a bad one among good ones":  {[]lineage.Held{bad, good}, "", "changed; observed", ""},
		"a fault":                    {[]lineage.Held{good, cut}, "no answer", `no answer; it was asked, with the index's own settings, (1) store`, ""},
		"one that was cut off":       {[]lineage.Held{good, cut}, "", "", "conversation 2 was not held to its end"},
		"one without a script":       {[]lineage.Held{good, {Turns: good.Turns}}, "", "", "conversation 2"},
		"one that refers to nothing": {[]lineage.Held{good, stray}, "", "refers to nothing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			decided(t, judge.IndexModelled(2)(&history.History{Lineages: c.held, Talk: &script.Talk{Fault: c.fault}}), c.violated, c.undecided)
		})
	}
	decided(t, judge.IndexModelled(0)(&history.History{}), "", "no conversation")
}
