package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/spec"
)

// listed is a clause as `list --json` prints it. Arrays are never null.
type listed struct {
	ID         string   `json:"id"`
	Level      string   `json:"level"`
	Profile    string   `json:"profile"`
	Claims     []string `json:"claims"`
	Text       string   `json:"text"`
	Cases      []string `json:"cases"`
	Mutants    []string `json:"mutants"`    // killed by any of its cases
	Untestable string   `json:"untestable"` // why no case can check it; empty for nearly all
}

func (a *app) list() *cobra.Command {
	var asJSON, matrix bool
	c := &cobra.Command{
		Use: "list [AREA|CLAUSE|CASE ...]", Short: "List the clauses, their cases and what these have been shown to catch",
		RunE: func(_ *cobra.Command, args []string) error {
			cat, err := suites.Load()
			if err != nil {
				return harness(err)
			}
			if err := only(cat, args); err != nil {
				return err
			}
			switch {
			case asJSON && matrix:
				return usagef("--json and --matrix are two different lists; give one")
			case asJSON:
				return harness(a.listJSON(cat))
			case matrix:
				return harness(a.matrix(cat))
			}
			return harness(a.table(cat))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the clauses as JSON")
	c.Flags().BoolVar(&matrix, "matrix", false, "print which mutants each case kills")
	return c
}

// only leaves in the catalogue what begins with one of the prefixes, such as an area,
// a clause or the beginning of one, whatever their case: whole clauses, or one's cases.
func only(cat *suites.Catalogue, prefixes []string) error {
	if len(prefixes) == 0 {
		return nil
	}
	begins := func(id, prefix string) bool {
		return len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix)
	}
	for _, p := range prefixes {
		if p == "" || !slices.ContainsFunc(cat.Spec.Clauses, func(cl spec.Clause) bool { return begins(cl.ID, p) }) &&
			!slices.ContainsFunc(cat.Cases, func(c bench.Case) bool { return begins(c.ID, p) }) {
			return usagef("no clause and no case begins with %q; near: %s (`routeproof list` without it lists all)", p, cat.Near(p))
		}
	}
	chosen := func(id string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return begins(id, p) })
	}
	cat.Cases = slices.DeleteFunc(cat.Cases, func(c bench.Case) bool { return !chosen(c.ID) })
	s := *cat.Spec
	s.Clauses = slices.DeleteFunc(slices.Clone(s.Clauses), func(cl spec.Clause) bool { return !chosen(cl.ID) && len(cat.CaseIDs(cl.ID)) == 0 })
	cat.Spec = &s
	cat.Mutants = slices.DeleteFunc(cat.Mutants, func(m mutants.Mutant) bool {
		return !slices.ContainsFunc(m.KilledBy, chosen)
	})
	return nil
}

func clauses(cat *suites.Catalogue) []listed {
	out := []listed{}
	for _, cl := range cat.Spec.Clauses {
		l := listed{ID: cl.ID, Level: cl.Level, Profile: cl.Profile, Claims: append([]string{}, cl.Claims...), Text: cl.Text,
			Cases: cat.CaseIDs(cl.ID), Mutants: []string{}, Untestable: cl.Untestable}
		seen := map[string]bool{}
		for _, id := range l.Cases {
			for _, m := range cat.Killers(id) {
				if !seen[m] {
					seen[m] = true
					l.Mutants = append(l.Mutants, m)
				}
			}
		}
		sort.Strings(l.Mutants)
		out = append(out, l)
	}
	return out
}

func (a *app) listJSON(cat *suites.Catalogue) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"clauses": clauses(cat)})
}

func (a *app) table(cat *suites.Catalogue) error {
	for _, cl := range cat.Spec.Clauses {
		if _, err := fmt.Fprintf(a.out, "%s %-6s %-9s %s\n", cl.ID, cl.Level, cl.Profile, cl.Title); err != nil {
			return err
		}
		for _, id := range cat.CaseIDs(cl.ID) {
			c, _ := cat.Case(id)
			fmt.Fprintf(a.out, "    %-28s %s\n", id, c.Requirement)
		}
		if cl.Untestable != "" {
			fmt.Fprintf(a.out, "    untestable: %s\n", cl.Untestable)
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%d clauses, %d cases, %d mutants; specification %s\nprofiles: %s\n", len(cat.Spec.Clauses), len(cat.Cases),
		len(cat.Mutants), spec.Version, strings.Join(cat.Spec.ProfileNames(), ", "))
	return err
}

// matrixWidth is the width that the kill matrix is wrapped to, in columns.
const matrixWidth = 120

// matrix prints a line for each case with the mutants that it must kill, and
// the counts.
func (a *app) matrix(cat *suites.Catalogue) error {
	width, pairs := 0, 0
	for _, c := range cat.Cases {
		width = max(width, len(c.ID))
	}
	for _, c := range cat.Cases {
		killed := cat.Killers(c.ID)
		pairs += len(killed)
		line := fmt.Sprintf("%-*s %2d ", width, c.ID, len(killed))
		indent := strings.Repeat(" ", len(line))
		for i, m := range killed {
			if i > 0 && len(line)+len(m)+1 > matrixWidth {
				fmt.Fprintln(a.out, strings.TrimRight(line, " "))
				line = indent
			}
			line += m + " "
		}
		fmt.Fprintln(a.out, strings.TrimRight(line, " "))
	}
	_, err := fmt.Fprintf(a.out, "\n%d cases, %d mutants, %d pairs; `routeproof selftest` shows that each holds\n", len(cat.Cases), len(cat.Mutants), pairs)
	return err
}
