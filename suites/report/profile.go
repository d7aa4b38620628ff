package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Result is what a profile came to.
type Result string

const (
	Certified    Result = "certified"     // every MUST of the profile passed or was declined, at least one passed, every case ended with a verdict, and the run has no problem of its own
	Partial      Result = "partial"       // some MUSTs block; they are listed
	NotCertified Result = "not-certified" // a mode that never certifies, nothing that was run, or, though no case blocks, a problem of the run
)

// ProfileResult is one profile's result. Only certify can make one certified, or
// partial: some of its cases block, and some were run.
type ProfileResult struct {
	Name     string          `json:"name"`
	Result   Result          `json:"result"`
	Reason   string          `json:"reason,omitempty"` // why not-certified
	Counts   map[Verdict]int `json:"counts"`           // over all levels
	Musts    map[Verdict]int `json:"musts"`            // over MUSTs alone
	Blocking []Listed        `json:"blocking"`         // MUSTs that keep it from being certified
	Advisory []Listed        `json:"advisory"`         // SHOULDs and MAYs that neither passed nor were declined; a router's failures among them never block
}

// Listed points at a case result.
type Listed struct {
	Clause  string  `json:"clause"`
	Case    string  `json:"case"` // CaseResult.Name
	Verdict Verdict `json:"verdict"`
}

// Conclude computes Profiles and ExitCode, in this order, from everything
// else; a case that is listed twice becomes a ProblemHarness first. Profiles are given by name, in the order to be shown; a profile that
// only cases name comes after them. Call it last, after ApplyExemptions and
// Compare.
func (r *Report) Conclude(profiles []string) {
	r.Format = FormatVersion
	if r.Clock == "" {
		r.Clock = "real"
	}
	r.noteDuplicates()
	seen := map[string]bool{}
	r.Profiles = nil
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			r.Profiles = append(r.Profiles, r.profile(name))
		}
	}
	for _, p := range profiles {
		add(p)
	}
	for i := range r.Cases {
		add(r.Cases[i].Profile)
	}
	r.ExitCode = ExitCode(r)
}

// noteDuplicates makes it a problem of the harness if a case stands in the
// report twice: after a merge it could hide one verdict behind another.
func (r *Report) noteDuplicates() {
	seen := map[string]bool{}
	for i := range r.Cases {
		name := r.Cases[i].Name()
		p := Problem{Kind: ProblemHarness, Subject: name, Text: "the report holds this case more than once; a merge went wrong"}
		if seen[name] && !slices.Contains(r.Problems, p) {
			r.Problems = append(r.Problems, p)
		}
		seen[name] = true
	}
}

func (r *Report) profile(name string) ProfileResult {
	p := ProfileResult{Name: name, Counts: map[Verdict]int{}, Musts: map[Verdict]int{}}
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Profile != name {
			continue
		}
		p.Counts[c.Verdict]++
		if c.Level == Must {
			p.Musts[c.Verdict]++
		}
		if !c.Verdict.Blocks() {
			continue
		}
		l := Listed{Clause: c.Clause, Case: c.Name(), Verdict: c.Verdict}
		if c.Level == Must {
			p.Blocking = append(p.Blocking, l)
		} else {
			p.Advisory = append(p.Advisory, l)
		}
	}
	switch {
	case r.Mode != Certify:
		p.Result, p.Reason = NotCertified, "a "+string(r.Mode)+" never certifies"
		if p.ranNothing() {
			p.Reason = "no case of this profile was run; " + p.Reason
		}
	case p.ranNothing():
		p.Result, p.Reason = NotCertified, "no case of this profile was run"
	case len(p.Blocking) > 0:
		p.Result = Partial
	case p.Musts[Pass] == 0 && p.Musts[Declined] == 0:
		p.Result, p.Reason = NotCertified, "no MUST of this profile was run"
	case p.Musts[Pass] == 0:
		p.Result, p.Reason = NotCertified, "the target declines every MUST of this profile"
	default:
		p.Result = Certified
	}
	if p.Result == Certified {
		if why := cmp.Or(r.spoiled(), p.unfinished()); why != "" {
			p.Result, p.Reason = NotCertified, why
		}
	}
	return p
}

// ranNothing says whether cases were to run and none did.
func (p *ProfileResult) ranNothing() bool {
	n := 0
	for _, c := range p.Counts {
		n += c
	}
	return n > 0 && p.Counts[NotRun]+p.Counts[Declined] == n && p.Counts[NotRun] > 0
}

// spoiled says why a run cannot certify anything although no case blocks.
func (r *Report) spoiled() string {
	if r.Interrupted {
		return "the run was interrupted"
	}
	for _, p := range r.Problems {
		if p.Kind != ProblemExpectation { // an expectation is about the comparison, not the target
			why, _ := splitLog(p.String()) // the log stands with the problem
			return why
		}
	}
	return ""
}

// unfinished names a SHOULD or MAY of which nothing is known because the harness
// failed or never came to it: the profile was not looked at as a whole.
func (p *ProfileResult) unfinished() string {
	for _, l := range p.Advisory {
		if l.Verdict == Error || l.Verdict == NotRun || !l.Verdict.Valid() {
			return fmt.Sprintf("case %s has no verdict on the target (%s)", l.Case, l.Verdict)
		}
	}
	return ""
}
