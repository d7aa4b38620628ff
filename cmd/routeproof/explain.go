package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/spec"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CLAUSE|CASE|AREA|CLAIM|PROFILE|MUTANT", Short: "Explain a clause (what it demands, why, how it is tested, what that catches), a claim, a profile or a mutant",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("explain needs one clause, case, area, claim, profile or mutant; write `routeproof explain AFF-001` (see `routeproof list`)")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cat, err := suites.Load()
			if err != nil {
				return harness(err)
			}
			id := canonical(cat, args[0])
			if a.area(cat, id) || a.claim(cat, id) || a.profile(cat, id) || a.mutant(cat, id) {
				return nil
			}
			clause, _, isCase := strings.Cut(id, "/")
			cl, ok := cat.Spec.Clause(clause)
			cases := cat.CaseIDs(clause)
			if _, known := cat.Case(id); isCase {
				cases, ok = []string{id}, ok && known
			}
			if !ok {
				return usagef("%q is no clause, no case, no area, no claim, no profile and no mutant; near: %s (see `routeproof list`)", id, near.List(names(cat), id))
			}
			a.clause(cl)
			for _, id := range cases {
				c, _ := cat.Case(id)
				a.caseOf(cat, c)
			}
			return nil
		},
	}
}

// area prints the clauses of an area, if id is one.
func (a *app) area(cat *suites.Catalogue, id string) (found bool) {
	for _, cl := range cat.Spec.Clauses {
		if cl.Area() != id {
			continue
		}
		if found {
			fmt.Fprintln(a.out)
		}
		found = true
		a.clause(cl)
		a.field("cases", strings.Join(cat.CaseIDs(cl.ID), ", "))
	}
	return found
}

func (a *app) clause(cl spec.Clause) {
	fmt.Fprintf(a.out, "%s %s: %s\n", cl.ID, cl.Level, cl.Title)
	a.field("text", cl.Text)
	a.field("why", cl.Why)
	a.field("profile", cl.Profile)
	if len(cl.Claims) > 0 {
		a.field("claims", strings.Join(cl.Claims, ", ")+" (declined if the manifest answers one with no)")
	} else {
		a.field("claims", "none: it holds for every router")
	}
	a.field("source", fmt.Sprintf("suites/spec/%s:%d", cl.File, cl.Line))
	if cl.Untestable != "" {
		a.field("untested", cl.Untestable)
	}
}

func (a *app) caseOf(cat *suites.Catalogue, c bench.Case) {
	fmt.Fprintf(a.out, "\ncase %s\n", c.ID)
	a.field("stimulus", c.Stimulus)
	a.field("required", c.Requirement)
	variant, alone := "as the manifest is written", "shares a target with other cases"
	if c.Variant != "" {
		variant = "manifest variant " + c.Variant
	}
	if c.Alone {
		alone = "has a target of its own"
	}
	if len(c.Claims) > 0 {
		a.field("claims", strings.Join(c.Claims, ", ")+" beside its clause's")
	}
	switch t := c.Talk.(type) {
	case nil:
		a.field("setting", fmt.Sprintf("%s; %s; %s; at most %v", c.Setting(), variant, alone, c.Limit))
	case bench.Crowd:
		a.field("setting", fmt.Sprintf("the component, with about %d operations at once and after each other; at most %v", t.Ops(), c.Limit))
	case bench.RandomIndex:
		a.field("setting", fmt.Sprintf("the component, in %d conversations of up to %d steps, each on an instance of its own; at most %v", t.Conversations, t.Steps, c.Limit))
	case bench.Random:
		a.field("setting", fmt.Sprintf("the component, in %d conversations of up to %d steps, each on an instance of its own; at most %v", t.Conversations, t.Steps, c.Limit))
	default:
		a.field("setting", fmt.Sprintf("the component, asked one thing after another on its own clock; at most %v", c.Limit))
		for i, sentence := range c.Sentences() {
			label := ""
			if i == 0 {
				label = "steps"
			}
			a.field(label, sentence)
		}
	}
	for i, id := range cat.Killers(c.ID) {
		m, _ := cat.Mutant(id)
		label := "kills"
		if i > 0 {
			label = ""
		}
		a.field(label, id+": "+m.Fault)
	}
	a.field("run", "routeproof run "+c.ID)
}

const explainWidth = 100

// field prints text behind a label, wrapped.
func (a *app) field(label, text string) {
	line := fmt.Sprintf("  %-9s", label)
	n := len(line)
	for _, w := range strings.Fields(text) {
		if len(line)+1+len(w) > explainWidth && len(line) > n {
			fmt.Fprintln(a.out, line)
			line = strings.Repeat(" ", n)
		}
		line += " " + w
	}
	fmt.Fprintln(a.out, line)
}
