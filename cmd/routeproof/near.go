package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites"
)

// nearMutants lists the mutants whose names are nearest to a wrong one.
func nearMutants(cat *suites.Catalogue, name string) string {
	ids := make([]string, len(cat.Mutants))
	for i, m := range cat.Mutants {
		ids[i] = m.ID
	}
	return strings.Join(nearest(ids, name), ", ")
}

// canonical spells a clause, a case or an area as the catalogue does, whatever its
// case; anything else stays as it is.
func canonical(cat *suites.Catalogue, name string) string {
	ids := cat.CaseIDs("")
	for _, cl := range cat.Spec.Clauses {
		ids = append(ids, cl.ID, cl.Area())
	}
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, name) }); i >= 0 {
		return ids[i]
	}
	return name
}

// nearest are the five names that differ least from a wrong one.
func nearest(names []string, wrong string) []string {
	names = slices.Clone(names)
	wrong = strings.ToLower(wrong[:min(len(wrong), 64)])
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(distance(strings.ToLower(a), wrong), distance(strings.ToLower(b), wrong))
	})
	return names[:min(len(names), 5)]
}

// distance counts the bytes to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
