package judge_test

import (
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
)

func TestLinearWantsAnOrderThatExplainsAllAnswers(t *testing.T) {
	first := linear.Op{Kind: linear.Acquire, Session: "s", Lease: "a", Result: linear.Initializer, Call: 1, Return: 2}
	second := linear.Op{Kind: linear.Query, Session: "s", Result: linear.Unbound, Call: 3, Return: 4}
	twice := linear.Op{Kind: linear.Acquire, Session: "s", Lease: "b", Result: linear.Initializer, Call: 3, Return: 4}
	for name, c := range map[string]struct {
		ops                 []linear.Op
		fault               string
		violated, undecided string
	}{
		"an order":         {[]linear.Op{first, second}, "", "", ""},
		"none":             {[]linear.Op{first, twice}, "", "an order of the operations on session s", ""},
		"too few to tell":  {[]linear.Op{first}, "", "", "only 1 of 2"},
		"no operation":     {nil, "", "", "only 0 of 2"},
		"a broken adapter": {[]linear.Op{first, second}, "no answer", "no answer", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := judge.Linear([]string{"w1"}, 2)(&history.History{Ops: c.ops, Talk: &script.Talk{Fault: c.fault}})
			if (c.violated == "") != (len(f.Violations) == 0) || c.violated != "" && !strings.Contains(f.Violations[0].String(), c.violated) {
				t.Errorf("violations %v, want %q", f.Violations, c.violated)
			}
			if (c.undecided == "") != (f.Inconclusive == "") || !strings.Contains(f.Inconclusive, c.undecided) {
				t.Errorf("inconclusive %q, want %q", f.Inconclusive, c.undecided)
			}
		})
	}
}
