package report

import (
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/suites/judge"
)

// Judged takes a judge's finding over into the case: fail with the first
// violation as expected and observed, else inconclusive with its reason, else
// pass. Keys are those of all violations, each once, in order.
func (c *CaseResult) Judged(f judge.Finding) {
	c.Violations = f.Violations
	switch {
	case len(f.Violations) > 0:
		v := f.Violations[0]
		c.Verdict, c.Expected, c.Observed = Fail, v.Expected, v.Observed
		if n := len(f.Violations) - 1; n > 0 {
			c.Observed += fmt.Sprintf(" (and %d more in "+JSONFile+")", n)
		}
		for _, v := range f.Violations {
			for _, k := range v.Keys {
				if !slices.Contains(c.Keys, k) {
					c.Keys = append(c.Keys, k)
				}
			}
		}
	case f.Inconclusive != "":
		c.Verdict, c.Detail = Inconclusive, f.Inconclusive
	default:
		c.Verdict = Pass
	}
}
