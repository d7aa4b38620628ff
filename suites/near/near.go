// Package near finds the names that a wrong one may have meant, for errors. It
// touches nothing else.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// most is how many names an error gives, and typed how much of a wrong one counts.
const (
	most  = 5
	typed = 64 // bytes
)

// Names are the five names that differ least from a wrong one, whatever its case, the
// nearest first; of equally near ones the first.
func Names(names []string, wrong string) []string {
	names = slices.Clone(names)
	wrong = strings.ToLower(wrong[:min(len(wrong), typed)])
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(distance(strings.ToLower(a), wrong), distance(strings.ToLower(b), wrong))
	})
	return names[:min(len(names), most)]
}

// List is Names as an error gives them, behind "near: ".
func List(names []string, wrong string) string { return strings.Join(Names(names, wrong), ", ") }

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
