package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func one(id string, l Level, v Verdict) CaseResult {
	return CaseResult{ID: id, Clause: id, Level: l, Profile: "p", Verdict: v}
}

func TestAProfileIsCertifiedOnlyIfNothingBlocks(t *testing.T) {
	ok := one("RTE-001", Must, Pass)
	type in struct {
		mode  Mode
		cases []CaseResult
		edit  func(*Report)
	}
	for name, c := range map[string]struct {
		in     in
		want   Result
		reason string
	}{
		"all pass":                               {in{Certify, []CaseResult{ok}, nil}, Certified, ""},
		"declined does not block":                {in{Certify, []CaseResult{ok, one("RTE-002", Must, Declined)}, nil}, Certified, ""},
		"a failed SHOULD does not block":         {in{Certify, []CaseResult{ok, one("RTE-002", Should, Fail)}, nil}, Certified, ""},
		"an inconclusive MAY does not block":     {in{Certify, []CaseResult{ok, one("RTE-002", May, Inconclusive)}, nil}, Certified, ""},
		"an error of a SHOULD spoils":            {in{Certify, []CaseResult{ok, one("RTE-002", Should, Error)}, nil}, NotCertified, "case RTE-002 has no verdict on the target (error)"},
		"a MAY that did not run spoils":          {in{Certify, []CaseResult{ok, one("RTE-002", May, NotRun)}, nil}, NotCertified, "case RTE-002 has no verdict on the target (not-run)"},
		"what is no verdict of a MAY spoils":     {in{Certify, []CaseResult{ok, one("RTE-002", May, "passed")}, nil}, NotCertified, "case RTE-002"},
		"another profile's error is not its":     {in{Certify, []CaseResult{ok, {ID: "x", Level: Should, Profile: "q", Verdict: Error}}, nil}, Certified, ""},
		"fail blocks":                            {in{Certify, []CaseResult{ok, one("RTE-002", Must, Fail)}, nil}, Partial, ""},
		"error blocks":                           {in{Certify, []CaseResult{ok, one("RTE-002", Must, Error)}, nil}, Partial, ""},
		"inconclusive blocks":                    {in{Certify, []CaseResult{ok, one("RTE-002", Must, Inconclusive)}, nil}, Partial, ""},
		"exempt blocks":                          {in{Certify, []CaseResult{ok, one("RTE-002", Must, Exempt)}, nil}, Partial, ""},
		"unexpected-pass blocks":                 {in{Certify, []CaseResult{ok, one("RTE-002", Must, UnexpectedPass)}, nil}, Partial, ""},
		"not-run blocks":                         {in{Certify, []CaseResult{ok, one("RTE-002", Must, NotRun)}, nil}, Partial, ""},
		"nothing was run":                        {in{Certify, []CaseResult{one("RTE-001", Must, NotRun), one("RTE-002", Must, Declined)}, nil}, NotCertified, "no case of this profile was run"},
		"nothing of a run was run":               {in{Run, []CaseResult{one("RTE-001", Must, NotRun)}, nil}, NotCertified, "no case of this profile was run; a run never certifies"},
		"what is no verdict blocks":              {in{Certify, []CaseResult{ok, one("RTE-002", Must, "passed")}, nil}, Partial, ""},
		"a run never certifies":                  {in{Run, []CaseResult{ok}, nil}, NotCertified, "a run never certifies"},
		"a selftest never certifies":             {in{SelfTest, []CaseResult{ok}, nil}, NotCertified, "a selftest never certifies"},
		"no case at all":                         {in{Certify, nil, nil}, NotCertified, "no MUST of this profile was run"},
		"only SHOULDs":                           {in{Certify, []CaseResult{one("RTE-002", Should, Pass)}, nil}, NotCertified, "no MUST of this profile was run"},
		"everything declined":                    {in{Certify, []CaseResult{one("RTE-002", Must, Declined)}, nil}, NotCertified, "declines every MUST"},
		"an interrupted run":                     {in{Certify, []CaseResult{ok}, func(r *Report) { r.Interrupted = true }}, NotCertified, "interrupted"},
		"a problem of the run":                   {in{Certify, []CaseResult{ok}, problem(ProblemHarness)}, NotCertified, "harness: s: t"},
		"a stale exemption":                      {in{Certify, []CaseResult{ok}, problem(ProblemExemption)}, NotCertified, "exemption: s: t"},
		"an expectation without a case":          {in{Certify, []CaseResult{ok}, problem(ProblemExpectation)}, Certified, ""},
		"the same case twice is a bad merge":     {in{Certify, []CaseResult{ok, ok}, nil}, NotCertified, "more than once"},
		"a blocked profile of a run is not it":   {in{Run, []CaseResult{one("RTE-002", Must, Fail)}, nil}, NotCertified, "a run never certifies"},
		"another profile's failure is not its":   {in{Certify, []CaseResult{ok, {ID: "x", Level: Must, Profile: "q", Verdict: Fail}}, nil}, Certified, ""},
		"two permutations of one case are valid": {in{Certify, []CaseResult{ok, {ID: "RTE-001", Permutation: "x", Level: Must, Profile: "p", Verdict: Pass}}, nil}, Certified, ""},
	} {
		r := &Report{Mode: c.in.mode, Cases: c.in.cases}
		if c.in.edit != nil {
			c.in.edit(r)
		}
		r.Conclude([]string{"p"})
		p := r.Profiles[0]
		if p.Result != c.want || !strings.Contains(p.Reason, c.reason) || (c.want == NotCertified) != (p.Reason != "") {
			t.Errorf("%s: %s (%q), want %s (%q)", name, p.Result, p.Reason, c.want, c.reason)
		}
		if p.Result == Partial && len(p.Blocking) == 0 || p.Result == Certified && len(p.Blocking) > 0 {
			t.Errorf("%s: %s with blockers %v", name, p.Result, p.Blocking)
		}
		if p.Result == Certified && r.ExitCode != ExitOK && !strings.Contains(name, "another profile") && !strings.Contains(name, "expectation") {
			t.Errorf("%s: certified, yet exit %d", name, r.ExitCode)
		}
	}
}

func problem(k ProblemKind) func(*Report) {
	return func(r *Report) { r.Problems = append(r.Problems, Problem{k, "s", "t"}) }
}

func TestAProfileListsWhatBlocksAndWhatOnlyAdvises(t *testing.T) {
	r := sample()
	if names := []string{r.Profiles[0].Name, r.Profiles[1].Name, r.Profiles[2].Name}; !cmp.Equal(names, []string{"routing", "affinity", "kv"}) {
		t.Errorf("profiles %v, want them in the order given", names)
	}
	want := ProfileResult{
		Name: "routing", Result: Partial,
		Counts:   map[Verdict]int{Pass: 1, Declined: 1, Fail: 1, Inconclusive: 1, UnexpectedPass: 1, NotRun: 1},
		Musts:    map[Verdict]int{Pass: 1, Declined: 1, Inconclusive: 1, UnexpectedPass: 1, NotRun: 1},
		Blocking: []Listed{{"STR-004", "STR-004", Inconclusive}, {"RES-002", "RES-002", UnexpectedPass}, {"RES-003", "RES-003", NotRun}},
		Advisory: []Listed{{"RES-009", "RES-009", Fail}},
	}
	if d := cmp.Diff(want, r.Profiles[0]); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := r.Profiles[1].Blocking[0]; got.Case != "AFF-012/chat,stream" || got.Clause != "AFF-012" {
		t.Errorf("a permutation is listed as %+v", got)
	}
	before := len(r.Problems)
	r.Conclude(nil)
	if len(r.Profiles) != 2 || len(r.Problems) != before {
		t.Errorf("concluding again leaves %d profiles and %d problems, want 2 named by cases and %d", len(r.Profiles), len(r.Problems), before)
	}
}
