package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Exemption is a failure that the target's authors know of: the case may fail
// until the end of the day Expires, and must fail until then.
type Exemption struct {
	Case    string    // case ID, or ID/permutation for one permutation alone
	Reason  string    // one line, for people
	Issue   string    // URL
	Expires time.Time // last day on which it holds; only its date counts
}

// ApplyExemptions returns the results with exemptions applied, and the problems
// met on the way; it does not change its arguments. A covered fail becomes
// exempt, a covered pass unexpected-pass; other verdicts stay. An exemption for
// a case ID covers all its permutations; to exempt one, name it ID/permutation.
//
// It is a ProblemExemption, and the exemption does not apply, if it lacks a
// case, reason, issue or date, has expired before today, or repeats another.
// It is one too if it matches no result, or only declined ones: it then is
// stale. In a filtered run, pass only the exemptions of the selected cases.
func ApplyExemptions(results []CaseResult, exemptions []Exemption, today time.Time) ([]CaseResult, []Problem) {
	out := slices.Clone(results)
	var problems []Problem
	seen := map[string]bool{}
	for i, e := range exemptions {
		if text := e.fault(today); text != "" {
			problems = append(problems, exemptionProblem(i, e, text))
			continue
		}
		if seen[e.Case] {
			problems = append(problems, exemptionProblem(i, e, "is listed twice; keep one"))
			continue
		}
		seen[e.Case] = true
		matched, useful := 0, 0
		for j := range out {
			c := &out[j]
			if !covers(e.Case, &results[j]) {
				continue
			}
			matched++
			if results[j].Verdict != Declined {
				useful++
			}
			switch results[j].Verdict {
			case Fail:
				c.Verdict, c.Detail = Exempt, joinDetail(c.Detail, e.text())
			case Pass:
				c.Verdict, c.Detail = UnexpectedPass, joinDetail(c.Detail, "passes, yet is exempt; remove the exemption: "+e.text())
			}
		}
		switch {
		case matched == 0:
			problems = append(problems, exemptionProblem(i, e, "matches no case of this run; correct the case ID or remove it"))
		case useful == 0:
			problems = append(problems, exemptionProblem(i, e, "covers only declined cases, which need none; remove it"))
		}
	}
	return out, problems
}

// covers says whether name, an ID or ID/permutation, means c.
func covers(name string, c *CaseResult) bool { return name == c.ID || name == c.Name() }

func (e *Exemption) fault(today time.Time) string {
	switch {
	case strings.TrimSpace(e.Case) == "":
		return "names no case; give its ID"
	case strings.TrimSpace(e.Reason) == "":
		return "gives no reason; say why the case fails"
	case strings.TrimSpace(e.Issue) == "":
		return "gives no issue; give the URL where the failure is tracked"
	case e.Expires.IsZero():
		return "has no expiry date; give one"
	case day(today) > day(e.Expires):
		return fmt.Sprintf("has expired on %s; fix the target or renew it", day(e.Expires))
	}
	return ""
}

func (e *Exemption) text() string {
	return fmt.Sprintf("exempt until %s: %s (%s)", day(e.Expires), e.Reason, e.Issue)
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

func exemptionProblem(i int, e Exemption, text string) Problem {
	subject := e.Case
	if subject == "" {
		subject = fmt.Sprintf("number %d", i+1)
	}
	return Problem{Kind: ProblemExemption, Subject: subject, Text: text}
}

func joinDetail(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
