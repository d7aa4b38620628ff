package certify

import (
	"context"
	"fmt"

	"github.com/routeproof/routeproof/suites/report"
)

// SelfTest runs every case on the reference, which must pass, and every mutant
// under the cases that must kill it. A case that fails on the reference and a
// mutant that survives are problems of the harness: exit status 4.
func SelfTest(ctx context.Context, o Options) (*report.Report, error) {
	o.Mode, o.Manifest, o.ManifestPath, o.Expected, o.Profile = report.SelfTest, nil, "", nil, ""
	return Run(ctx, o)
}

// count sums up the self-test and adds a problem for each thing it shows.
func count(r *report.Report) *report.SelfTestCounts {
	n := &report.SelfTestCounts{Survived: []string{}}
	cases, killed := map[string]bool{}, map[string]bool{}
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Permutation == "" {
			if c.Verdict != report.Pass && c.Verdict != report.NotRun {
				r.Problems = append(r.Problems, report.Problem{Kind: report.ProblemHarness, Subject: c.Name(),
					Text: fmt.Sprintf("the reference must pass this case and got %s: the reference is wrong, or the case is; see `%s`", c.Verdict, c.Reproduce)})
			}
			continue
		}
		cases[c.ID] = true
		if _, ok := killed[c.Permutation]; !ok {
			killed[c.Permutation] = true
		}
		killed[c.Permutation] = killed[c.Permutation] && c.Verdict == report.Pass
		if c.Verdict == report.Fail || c.Verdict == report.Inconclusive {
			n.Survived = append(n.Survived, c.Permutation+": "+c.ID)
			r.Problems = append(r.Problems, report.Problem{Kind: report.ProblemHarness, Subject: c.Name(),
				Text: fmt.Sprintf("mutant %s survives case %s, which is to kill it: the case cannot see the fault; see `%s`", c.Permutation, c.ID, c.Reproduce)})
		}
	}
	n.Cases, n.Mutants = len(cases), len(killed)
	for _, dead := range killed {
		if dead {
			n.Killed++
		}
	}
	return n
}
