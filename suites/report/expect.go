package report

import (
	"maps"
	"slices"
	"strings"
)

// Wanted is what is expected of one case.
type Wanted struct {
	Verdict Verdict
	Why     string // the router's behaviour, on one line; empty only for pass
	Line    int    // in the file, from 1; 0 for the default
}

// Expected is a written expectation of all verdicts of one target.
type Expected struct {
	File    string
	Target  string            // what the expectation is about, for people
	Default Wanted            // for cases that are not listed; its Verdict is Pass unless the file says otherwise
	Cases   map[string]Wanted // by case ID or ID/permutation
	// Declines holds the claims that the target's manifest answers with no, or
	// surface.http or surface.component where it lacks that: every case that needs one,
	// and is not listed, is expected to be declined.
	Declines map[string]Wanted
}

// Expectation is what was wanted of one case, and whether it came.
type Expectation struct {
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
	OK      bool    `json:"ok"`
}

// Comparison sums up Compare in the report.
type Comparison struct {
	File        string `json:"file"`
	Target      string `json:"target"`
	Compared    int    `json:"compared"`    // case results
	Differences int    `json:"differences"` // results with another verdict, and expectations without a result
}

// For is what is expected of c: the entry of its ID/permutation, else of its
// ID, else that of a claim which it needs, else the default.
func (e *Expected) For(c *CaseResult) Wanted {
	if w, ok := e.Cases[c.Name()]; ok {
		return w
	}
	if w, ok := e.Cases[c.ID]; ok {
		return w
	}
	for _, claim := range c.needs() {
		if w, ok := e.Declines[claim]; ok {
			return w
		}
	}
	return e.Default
}

// needs are the claims by which an expectation may say that c is declined.
func (c *CaseResult) needs() []string { return append([]string{c.Surface.claim()}, c.Claims...) }

// Of is what e expects of these cases alone: without the entries, and without the
// declined claims, that concern none of them.
func (e *Expected) Of(cases []CaseResult) *Expected {
	some := *e
	some.Cases, some.Declines = map[string]Wanted{}, map[string]Wanted{}
	for i := range cases {
		c := &cases[i]
		for _, name := range []string{c.ID, c.Name()} {
			if w, ok := e.Cases[name]; ok {
				some.Cases[name] = w
			}
		}
		for _, claim := range c.needs() {
			if w, ok := e.Declines[claim]; ok {
				some.Declines[claim] = w
			}
		}
	}
	return &some
}

// Compare sets Expectation on every case and Expected on the report. In certify
// and selftest, where every case is present, an entry that meets no result is
// a ProblemExpectation; in a run it was filtered out and does not matter, unless
// it names a permutation that its present case does not have.
func Compare(r *Report, e *Expected) {
	c := &Comparison{File: e.File, Target: e.Target, Compared: len(r.Cases)}
	present, met, needed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range r.Cases {
		res := &r.Cases[i]
		present[res.ID] = true
		for _, claim := range res.needs() {
			needed[claim] = true
		}
		met[res.ID], met[res.Name()] = true, true
		w := e.For(res)
		res.Expectation = &Expectation{Verdict: w.Verdict, Why: w.Why, OK: w.Verdict == res.Verdict}
		if !res.Expectation.OK {
			c.Differences++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Cases)) {
		id, _, _ := strings.Cut(name, "/")
		if met[name] || (r.Mode == Run && !present[id]) {
			continue
		}
		c.Differences++
		r.Problems = append(r.Problems, Problem{Kind: ProblemExpectation, Subject: name,
			Text: "expected " + string(e.Cases[name].Verdict) + ", but no such case ran; remove the entry or run the case"})
	}
	for _, claim := range slices.Sorted(maps.Keys(e.Declines)) {
		if needed[claim] || r.Mode == Run {
			continue
		}
		c.Differences++
		r.Problems = append(r.Problems, Problem{Kind: ProblemExpectation, Subject: claim,
			Text: "expected to be declined, but no case that ran needs this claim; remove the entry"})
	}
	r.Expected = c
}
