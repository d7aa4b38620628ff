package report

import "slices"

// Verdict is what became of a case.
type Verdict string

const (
	Pass           Verdict = "pass"            // the history keeps the clause
	Fail           Verdict = "fail"            // the history breaks the clause
	Error          Verdict = "error"           // the harness failed; nothing is known of the target
	Inconclusive   Verdict = "inconclusive"    // the history cannot decide
	Declined       Verdict = "declined"        // the target answers a needed claim with no, and declines cleanly
	Exempt         Verdict = "exempt"          // fails, and an exemption in force covers it
	UnexpectedPass Verdict = "unexpected-pass" // passes although an exemption covers it
	NotRun         Verdict = "not-run"         // selected but never finished
)

// Verdicts are all verdicts, in the order in which counts are shown.
var Verdicts = []Verdict{Pass, Fail, Error, Inconclusive, Declined, Exempt, UnexpectedPass, NotRun}

// Valid says whether v is one of Verdicts.
func (v Verdict) Valid() bool { return slices.Contains(Verdicts, v) }

// Blocks says whether v on a MUST keeps its profile from being certified.
func (v Verdict) Blocks() bool { return v != Pass && v != Declined }

// Level is the force of a clause.
type Level string

const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)

// Valid says whether l is Must, Should or May.
func (l Level) Valid() bool { return l == Must || l == Should || l == May }

// Mode is what a run was for.
type Mode string

const (
	Certify  Mode = "certify"  // frozen: no filter, no retry, complete; the only mode that certifies
	Run      Mode = "run"      // development: filters allowed
	SelfTest Mode = "selftest" // the suite against the reference and its mutants
)
