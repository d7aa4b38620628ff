package report

import "testing"

func TestExitCodes(t *testing.T) {
	ok := one("RTE-001", Must, Pass)
	with := func(cs ...CaseResult) *Report { return &Report{Mode: Certify, Cases: append([]CaseResult{ok}, cs...)} }
	edit := func(r *Report, fs ...func(*Report)) *Report {
		for _, f := range fs {
			f(r)
		}
		return r
	}
	mode := func(m Mode) func(*Report) { return func(r *Report) { r.Mode = m } }
	interrupted := func(r *Report) { r.Interrupted = true }
	counts := func(c SelfTestCounts) func(*Report) { return func(r *Report) { r.SelfTest = &c } }
	must := func(v Verdict) CaseResult { return one("RTE-002", Must, v) }
	for name, c := range map[string]struct {
		r    *Report
		want int
	}{
		"all pass":                              {with(), 0},
		"pass and declined":                     {with(must(Declined)), 0},
		"exempt alone":                          {with(must(Exempt)), 0},
		"a failed SHOULD":                       {with(one("RTE-002", Should, Fail)), 0},
		"an inconclusive SHOULD":                {with(one("RTE-002", Should, Inconclusive)), 0},
		"an error in a SHOULD":                  {with(one("RTE-002", Should, Error)), 4},
		"an error in a MAY":                     {with(one("RTE-002", May, Error)), 4},
		"an error in a MAY beats a failed MUST": {with(must(Fail), one("RTE-003", May, Error)), 4},
		"a SHOULD not run":                      {with(one("RTE-002", Should, NotRun)), 6},
		"a failed MUST":                         {with(must(Fail)), 1},
		"an unexpected pass":                    {with(must(UnexpectedPass)), 1},
		"an unexpected pass of a SHOULD":        {with(one("RTE-002", Should, UnexpectedPass)), 1},
		"an exemption problem":                  {edit(with(), problem(ProblemExemption)), 1},
		"an adapter that does not end well":     {edit(with(), problem(ProblemAdapter)), 1},
		"a dead target":                         {edit(with(), problem(ProblemTarget)), 3},
		"an error in a MUST":                    {with(must(Error)), 4},
		"a harness problem":                     {edit(with(), problem(ProblemHarness)), 4},
		"what is no verdict":                    {with(one("RTE-002", May, "passed")), 4},
		"an empty verdict":                      {with(must("")), 4},
		"an inconclusive MUST":                  {with(must(Inconclusive)), 4},
		"a refused certification":               {edit(with(), problem(ProblemRefused)), 6},
		"a MUST not run":                        {with(must(NotRun)), 6},
		"no case":                               {&Report{Mode: Certify}, 6},
		"no case in a run":                      {&Report{Mode: Run}, 6},
		"everything declined":                   {&Report{Mode: Certify, Cases: []CaseResult{must(Declined)}}, 6},
		"everything declined in a run":          {&Report{Mode: Run, Cases: []CaseResult{must(Declined)}}, 0},
		"interrupted":                           {edit(with(), interrupted), 130},
		"a run that passes":                     {edit(with(), mode(Run)), 0},
		"a run that fails":                      {edit(with(must(Fail)), mode(Run)), 1},
		"a self-test that kills all":            {edit(with(), mode(SelfTest), counts(SelfTestCounts{2, 3, 3, nil})), 0},
		"a mutant that survived":                {edit(with(), mode(SelfTest), counts(SelfTestCounts{2, 3, 3, []string{"m: c"}})), 4},
		"a mutant that was not killed":          {edit(with(), mode(SelfTest), counts(SelfTestCounts{2, 3, 2, nil})), 4},
		"a self-test without counts":            {edit(with(), mode(SelfTest)), 4},
		"a survivor beside a failure":           {edit(with(must(Fail)), mode(SelfTest), counts(SelfTestCounts{2, 3, 2, nil})), 1},
		"interrupted beats a dead target":       {edit(with(), interrupted, problem(ProblemTarget)), 130},
		"a dead target beats an error":          {edit(with(must(Error)), problem(ProblemTarget)), 3},
		"a dead target beats a failure":         {edit(with(must(Fail)), problem(ProblemTarget)), 3},
		"an error beats a failure":              {with(must(Fail), one("RTE-003", Must, Error)), 4},
		"a failure beats inconclusive":          {with(must(Fail), one("RTE-003", Must, Inconclusive)), 1},
		"a failure beats not-run":               {with(must(Fail), one("RTE-003", Must, NotRun)), 1},
		"inconclusive beats not-run":            {with(must(Inconclusive), one("RTE-003", Must, NotRun)), 4},
		"an exemption problem beats incomplete": {edit(with(must(NotRun)), problem(ProblemExemption)), 1},
	} {
		if got := ExitCode(c.r); got != c.want {
			t.Errorf("%s: exit %d, want %d", name, got, c.want)
		}
	}
}

func TestExitCodesWithExpectations(t *testing.T) {
	expect := func(v Verdict, want Verdict, level Level) CaseResult {
		c := one("RTE-001", level, v)
		c.Expectation = &Expectation{Verdict: want, OK: v == want}
		return c
	}
	for name, c := range map[string]struct {
		cases []CaseResult
		edit  func(*Report)
		want  int
	}{
		"all equal":                             {[]CaseResult{expect(Pass, Pass, Must)}, nil, 0},
		"a failure that was expected":           {[]CaseResult{expect(Fail, Fail, Must)}, nil, 0},
		"an inconclusive that was expected":     {[]CaseResult{expect(Inconclusive, Inconclusive, Must)}, nil, 0},
		"only declined, as expected":            {[]CaseResult{expect(Declined, Declined, Must)}, nil, 0},
		"a pass where a failure was expected":   {[]CaseResult{expect(Pass, Fail, Must)}, nil, 1},
		"a failure where a pass was expected":   {[]CaseResult{expect(Fail, Pass, Must)}, nil, 1},
		"a SHOULD that differs":                 {[]CaseResult{expect(Fail, Pass, Should)}, nil, 1},
		"inconclusive where a pass was wanted":  {[]CaseResult{expect(Inconclusive, Pass, Must)}, nil, 1},
		"a case that did not run":               {[]CaseResult{expect(NotRun, Pass, Must)}, nil, 1},
		"a case that was not compared":          {[]CaseResult{one("RTE-001", Must, Pass)}, nil, 1},
		"an expectation without a case":         {[]CaseResult{expect(Pass, Pass, Must)}, problem(ProblemExpectation), 1},
		"an exemption problem":                  {[]CaseResult{expect(Pass, Pass, Must)}, problem(ProblemExemption), 1},
		"an error, of any level":                {[]CaseResult{expect(Error, Pass, May)}, nil, 4},
		"a dead target":                         {[]CaseResult{expect(Fail, Pass, Must)}, problem(ProblemTarget), 3},
		"interrupted":                           {[]CaseResult{expect(NotRun, Pass, Must)}, func(r *Report) { r.Interrupted = true }, 130},
		"no case to compare":                    {nil, nil, 6},
		"a filter in certify, though all equal": {[]CaseResult{expect(Pass, Pass, Must)}, problem(ProblemRefused), 6},
	} {
		r := &Report{Mode: Certify, Cases: c.cases, Expected: &Comparison{}}
		if c.edit != nil {
			c.edit(r)
		}
		if got := ExitCode(r); got != c.want {
			t.Errorf("%s: exit %d, want %d", name, got, c.want)
		}
	}
}
