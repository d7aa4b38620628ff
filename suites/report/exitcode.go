package report

// Exit codes of the program. Usage and performance never come from ExitCode.
const (
	ExitOK          = 0
	ExitFailure     = 1   // conformance failure, or verdicts other than expected
	ExitUsage       = 2   // usage or manifest error
	ExitTarget      = 3   // target unreachable or died
	ExitHarness     = 4   // harness error, inconclusive, or a mutant not killed
	ExitPerformance = 5   // performance regression
	ExitRefused     = 6   // refused to certify: filtered or incomplete
	ExitInterrupted = 130 // interrupted
)

// ExitCode is the exit code that a report deserves. The first rule that holds
// decides:
//
//	130  interrupted. What is missing is missing because somebody stopped it,
//	     so nothing below can be told from an effect of that.
//	  3  a ProblemTarget. After a target is gone its cases fail for that
//	     reason; to call them conformance failures would send the reader to
//	     the wrong place.
//	  4  a ProblemHarness, an error of any level, or a verdict that is none. A
//	     harness that broke is not believed when it accuses.
//	  1  a MUST with fail; any unexpected-pass; a ProblemExemption or
//	     ProblemAdapter. A failure that was seen stands, whatever other cases could not decide.
//	  4  a MUST that is inconclusive; in a self-test, a mutant that survived or
//	     no counts at all. The passes of such a run are not worth much, but its
//	     failures are, hence after 1.
//	  6  a ProblemRefused; no case at all; a case of any level not run; in
//	     certify, no MUST that was judged (all declined). Nothing is wrong with
//	     what ran, there is too little of it; hence last.
//	  0  none of these. Exempt alone leaves 0, and so do SHOULDs and MAYs that
//	     fail or are inconclusive.
//
// When verdicts were compared with expectations (Expected is set), the verdicts
// themselves no longer decide: an error is still 4, any difference
// or ProblemExpectation is 1 in place of the rules on fail, unexpected-pass,
// inconclusive and not-run, and the rest is as above.
//
// In a run, cases that a filter left out must be left out of the report; one
// listed as not-run was selected and is missing.
func ExitCode(r *Report) int {
	has := func(k ProblemKind) bool {
		for _, p := range r.Problems {
			if p.Kind == k {
				return true
			}
		}
		return false
	}
	musts, all := map[Verdict]int{}, map[Verdict]int{}
	invalid, differ, judged := 0, 0, 0
	for i := range r.Cases {
		c := &r.Cases[i]
		all[c.Verdict]++
		if !c.Verdict.Valid() {
			invalid++
		}
		if c.Expectation == nil || !c.Expectation.OK {
			differ++
		}
		if c.Level == Must {
			musts[c.Verdict]++
			if c.Verdict != Declined && c.Verdict != NotRun {
				judged++
			}
		}
	}
	failed := musts[Fail] > 0 || all[UnexpectedPass] > 0
	undecided, missing := musts[Inconclusive] > 0, all[NotRun] > 0
	nothing := r.Mode == Certify && judged == 0
	if r.Expected != nil {
		failed = differ > 0 || has(ProblemExpectation)
		undecided, missing, nothing = false, false, false
	}
	survived := r.Mode == SelfTest &&
		(r.SelfTest == nil || len(r.SelfTest.Survived) > 0 || r.SelfTest.Killed < r.SelfTest.Mutants)
	switch {
	case r.Interrupted:
		return ExitInterrupted
	case has(ProblemTarget):
		return ExitTarget
	case has(ProblemHarness) || all[Error] > 0 || invalid > 0:
		return ExitHarness
	case failed || has(ProblemExemption) || has(ProblemAdapter):
		return ExitFailure
	case undecided || survived:
		return ExitHarness
	case has(ProblemRefused) || len(r.Cases) == 0 || missing || nothing:
		return ExitRefused
	}
	return ExitOK
}
