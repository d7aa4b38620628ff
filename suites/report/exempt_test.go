package report

import (
	"strings"
	"testing"
	"time"
)

func TestExemptions(t *testing.T) {
	good := Exemption{Case: "AFF-031", Reason: "known", Issue: "https://example.org/1", Expires: noon}
	but := func(f func(*Exemption)) Exemption { e := good; f(&e); return e }
	for name, c := range map[string]struct {
		verdict   Verdict
		exemption Exemption
		want      Verdict
		problem   string // empty: none
	}{
		"a covered failure is exempt":            {Fail, good, Exempt, ""},
		"a covered pass is unexpected":           {Pass, good, UnexpectedPass, ""},
		"a covered error stays an error":         {Error, good, Error, ""},
		"a covered inconclusive stays":           {Inconclusive, good, Inconclusive, ""},
		"a covered case that did not run stays":  {NotRun, good, NotRun, ""},
		"a declined case needs no exemption":     {Declined, good, Declined, "declined"},
		"an unknown case":                        {Fail, but(func(e *Exemption) { e.Case = "AFF-099" }), Fail, "matches no case"},
		"a permutation by name":                  {Fail, but(func(e *Exemption) { e.Case = "AFF-031/stream" }), Exempt, ""},
		"another permutation":                    {Fail, but(func(e *Exemption) { e.Case = "AFF-031/plain" }), Fail, "matches no case"},
		"half an ID covers nothing":              {Fail, but(func(e *Exemption) { e.Case = "AFF-03" }), Fail, "matches no case"},
		"valid through its last day":             {Fail, but(func(e *Exemption) { e.Expires = noon.Truncate(24 * time.Hour) }), Exempt, ""},
		"expired the day after":                  {Fail, but(func(e *Exemption) { e.Expires = noon.AddDate(0, 0, -1) }), Fail, "expired on 2026-03-13"},
		"expired, though the case passes":        {Pass, but(func(e *Exemption) { e.Expires = noon.AddDate(-1, 0, 0) }), Pass, "expired on 2025-03-14"},
		"without a case":                         {Fail, but(func(e *Exemption) { e.Case = " " }), Fail, "names no case"},
		"without a reason":                       {Fail, but(func(e *Exemption) { e.Reason = "" }), Fail, "no reason"},
		"without an issue":                       {Fail, but(func(e *Exemption) { e.Issue = "" }), Fail, "no issue"},
		"without an expiry date it never starts": {Fail, but(func(e *Exemption) { e.Expires = time.Time{} }), Fail, "no expiry date"},
	} {
		in := []CaseResult{{ID: "AFF-031", Permutation: "stream", Verdict: c.verdict, Detail: "d"}, {ID: "AFF-032", Verdict: Fail}}
		out, problems := ApplyExemptions(in, []Exemption{c.exemption}, noon)
		if out[0].Verdict != c.want || out[1].Verdict != Fail {
			t.Errorf("%s: verdicts %s and %s, want %s and fail", name, out[0].Verdict, out[1].Verdict, c.want)
		}
		if in[0].Verdict != c.verdict || in[0].Detail != "d" {
			t.Errorf("%s: the argument was changed to %+v", name, in[0])
		}
		if (out[0].Verdict == Exempt || out[0].Verdict == UnexpectedPass) && !strings.Contains(out[0].Detail, "known (https://example.org/1)") {
			t.Errorf("%s: detail %q does not give the reason", name, out[0].Detail)
		}
		switch {
		case c.problem == "" && len(problems) > 0:
			t.Errorf("%s: problems %v, want none", name, problems)
		case c.problem != "" && (len(problems) != 1 || problems[0].Kind != ProblemExemption || !strings.Contains(problems[0].Text, c.problem)):
			t.Errorf("%s: problems %v, want one that says %q", name, problems, c.problem)
		}
	}
}

func TestAnExemptionGivenTwiceIsAProblem(t *testing.T) {
	e := Exemption{Case: "AFF-031", Reason: "known", Issue: "u", Expires: noon}
	out, problems := ApplyExemptions([]CaseResult{{ID: "AFF-031", Verdict: Fail}}, []Exemption{e, e}, noon)
	if out[0].Verdict != Exempt || len(problems) != 1 || !strings.Contains(problems[0].Text, "twice") {
		t.Errorf("verdict %s, problems %v", out[0].Verdict, problems)
	}
}

func TestACaseExemptionCoversAllPermutations(t *testing.T) {
	in := []CaseResult{{ID: "AFF-031", Permutation: "a", Verdict: Fail}, {ID: "AFF-031", Permutation: "b", Verdict: Pass}}
	out, problems := ApplyExemptions(in, []Exemption{{Case: "AFF-031", Reason: "known", Issue: "u", Expires: noon}}, noon)
	if out[0].Verdict != Exempt || out[1].Verdict != UnexpectedPass || len(problems) != 0 {
		t.Errorf("%s, %s, %v", out[0].Verdict, out[1].Verdict, problems)
	}
}
