package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites"
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
		Use: "list", Short: "List the clauses, their cases and what these have been shown to catch", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cat, err := suites.Load()
			switch {
			case err != nil:
				return harness(err)
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
