package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// heldAs is a conversation of one first turn, answered so.
func heldAs(o script.Outcome) script.Held {
	s := script.New(script.Config{IdleTTL: time.Second})
	s.Acquire("a", script.S("s"))
	return script.Held{Script: s, Turns: []script.Turn{{Step: "a", Answers: []script.Answer{{Name: "a", Outcome: o}}}}}
}

func TestModelledWantsEveryConversationAsTheRulesSay(t *testing.T) {
	good, bad := heldAs(script.Initializes), heldAs(script.Bound(script.At("w1")))
	cut := heldAs(script.Initializes)
	cut.Turns = nil
	long := heldAs(script.Initializes)
	long.Turns = append(long.Turns, long.Turns...)
	for name, c := range map[string]struct {
		held                []script.Held
		fault               string
		violated, undecided string
	}{
		"two good ones":             {[]script.Held{good, good}, "", "", ""},
		"too few":                   {[]script.Held{good}, "", "", "only 1 of 2"},
		"none":                      {nil, "", "", "only 0 of 2"},
		"a bad one":                 {[]script.Held{good, bad}, "", `step 1 (acquire a of session "s"): a to initialize; observed a was answered: bound to w1; it was asked, with idleTTL 1s, (1) acquire a of session "s"`, ""},
		"a bad one among good ones": {[]script.Held{bad, good}, "", "a to initialize", ""},
		"a fault":                   {[]script.Held{good, cut}, "no answer", `no answer; it was asked, with idleTTL 1s, (1) acquire a of session "s"`, ""},
		"one that was cut off":      {[]script.Held{good, cut}, "", "", "conversation 2 was not held to its end"},
		"more turns than steps":     {[]script.Held{good, long}, "", "", "conversation 2 was not held to its end"},
		"one without a script":      {[]script.Held{good, {Turns: good.Turns}}, "", "", "conversation 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := judge.Modelled(2)(&history.History{Held: c.held, Talk: &script.Talk{Fault: c.fault}})
			switch {
			case c.violated == "" && len(f.Violations) > 0, c.violated != "" && (len(f.Violations) != 1 || !strings.Contains(f.Violations[0].String(), c.violated)):
				t.Errorf("violations %v, want %q", f.Violations, c.violated)
			case c.undecided == "" && f.Inconclusive != "", !strings.Contains(f.Inconclusive, c.undecided):
				t.Errorf("inconclusive %q, want %q", f.Inconclusive, c.undecided)
			}
		})
	}
}
