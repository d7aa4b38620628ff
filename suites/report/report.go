// Package report holds the result of a run, the rules that turn verdicts into
// a result and an exit code, and the writers: report.json, JUnit XML and the
// terminal. It runs nothing and judges nothing; report.json is the one source,
// everything else is rendered from the same value. It imports no test
// framework.
package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/judge"
)

// FormatVersion names the layout of report.json.
const FormatVersion = "routeproof.report/v1"

// Report is one run. Fill it, call Conclude once the last case is in, then
// write it. Nil slices and maps are written as empty ones.
type Report struct {
	Format      string             `json:"format"` // FormatVersion; Conclude sets it
	Tool        Tool               `json:"tool"`
	Suite       Source             `json:"suite"` // the catalogue of cases
	Spec        Source             `json:"spec"`  // the specification
	Target      Target             `json:"target"`
	Environment Environment        `json:"environment"`
	Mode        Mode               `json:"mode"`
	Clock       string             `json:"clock"`       // "real"; Conclude sets it when empty
	Seed        uint64             `json:"seed,string"` // base seed; a string in JSON, which has no 64-bit integers
	Shards      int                `json:"shards"`
	Started     time.Time          `json:"started"` // RFC 3339
	Duration    Seconds            `json:"durationSeconds"`
	Interrupted bool               `json:"interrupted"`
	Timeouts    map[string]Seconds `json:"timeouts"` // by name, as in force
	SelfTest    *SelfTestCounts    `json:"selftest,omitempty"`
	Expected    *Comparison        `json:"expected,omitempty"` // set by Compare
	Problems    []Problem          `json:"problems"`
	Cases       []CaseResult       `json:"cases"`
	Profiles    []ProfileResult    `json:"profiles"` // set by Conclude
	ExitCode    int                `json:"exitCode"` // set by Conclude
}

// Tool is the program that ran.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Source is a versioned text and its digest.
type Source struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // 64 lower-case hex digits
}

// Target is the implementation under test.
type Target struct {
	Organization   string `json:"organization"`
	Project        string `json:"project"`
	Version        string `json:"version"`
	URL            string `json:"url"`
	Manifest       string `json:"manifest"` // path, or a name for a built-in target
	ManifestSHA256 string `json:"manifestSHA256"`
	Binary         string `json:"binary,omitempty"` // path, for a target started from a file
	BinarySHA256   string `json:"binarySHA256,omitempty"`
}

// Environment is where the run took place. It holds no host name on purpose.
type Environment struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// SelfTestCounts say how the suite fared against the mutants.
type SelfTestCounts struct {
	Cases    int      `json:"cases"`    // cases that ran against mutants
	Mutants  int      `json:"mutants"`  // mutants that ran
	Killed   int      `json:"killed"`   // mutants that failed the cases that claim to kill them
	Survived []string `json:"survived"` // "mutant: case" pairs that passed but had to fail
}

// CaseResult is one case, or one permutation of it.
type CaseResult struct {
	ID          string            `json:"id"`
	Permutation string            `json:"permutation,omitempty"`
	Clause      string            `json:"clause"` // AREA-NNN
	Level       Level             `json:"level"`
	Profile     string            `json:"profile"`
	Claims      []string          `json:"claims"`
	Surface     Surface           `json:"surface"` // where the target is touched; empty means HTTP
	Verdict     Verdict           `json:"verdict"`
	Title       string            `json:"title"`
	Why         string            `json:"why"` // the clause's sentence, on one line
	Expected    string            `json:"expected,omitempty"`
	Observed    string            `json:"observed,omitempty"`
	Keys        []string          `json:"keys,omitempty"` // join keys of the requests that show it
	Violations  []judge.Violation `json:"violations"`
	Example     []string          `json:"example,omitempty"` // the first violation's session, or its requests, in lines
	Evidence    []Evidence        `json:"evidence"`
	Seed        uint64            `json:"seed,string"`
	Started     time.Time         `json:"started,omitzero"`
	Duration    Seconds           `json:"durationSeconds"`
	Reproduce   string            `json:"reproduce"`        // one command line
	Detail      string            `json:"detail,omitempty"` // why error, inconclusive, declined, exempt
	LogTail     string            `json:"logTail,omitempty"`
	Expectation *Expectation      `json:"expectation,omitempty"` // set by Compare
}

// Surface is where a case touches its target.
type Surface string

// Surfaces.
const (
	HTTP      Surface = "http"      // requests in, workers behind
	Component Surface = "component" // a library, through its adapter
)

// claim is the name by which a file expects all cases on a surface to be declined.
func (s Surface) claim() string { return "surface." + string(s) }

// Name is the case's ID, with its permutation after a slash if it has one. It
// is unique in a report.
func (c *CaseResult) Name() string {
	if c.Permutation == "" {
		return c.ID
	}
	return c.ID + "/" + c.Permutation
}

// Evidence is one file kept for a case, relative to the report's folder.
type Evidence struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// ProblemKind says whose problem a Problem is; it decides the exit code.
type ProblemKind string

const (
	ProblemExemption   ProblemKind = "exemption"   // an exemption is stale, expired or incomplete: exit 1
	ProblemExpectation ProblemKind = "expectation" // an expectation met no case: exit 1
	ProblemAdapter     ProblemKind = "adapter"     // the component's adapter did not end well, after its cases: exit 1
	ProblemTarget      ProblemKind = "target"      // the target could not be reached, or died: exit 3
	ProblemHarness     ProblemKind = "harness"     // a shard crashed, clean-up failed, ...: exit 4
	ProblemRefused     ProblemKind = "refused"     // certify was asked for less than everything: exit 6
)

// Problem is a finding about the run as a whole, beside the cases.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Subject string      `json:"subject"` // what it is about: a case, a shard, the target
	Text    string      `json:"text"`    // what is wrong and what to do
}

// String says it in one sentence, and no word twice: "target: target: target
// unreachable" is "target unreachable".
func (p Problem) String() string {
	s := p.Text
	for _, before := range []string{p.Subject, string(p.Kind)} {
		if before != "" && !strings.HasPrefix(s+" ", before+" ") && !strings.HasPrefix(s, before+":") {
			s = before + ": " + s
		}
	}
	return s
}

// Seconds is a duration written to JSON as decimal seconds, to the microsecond.
type Seconds time.Duration

// MarshalJSON writes seconds, such as 1.25.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Microsecond).Seconds())
}

// UnmarshalJSON reads decimal seconds.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("duration %s: want decimal seconds: %w", b, err)
	}
	*s = Seconds(time.Duration(f * float64(time.Second)).Round(time.Microsecond))
	return nil
}

func (s Seconds) String() string { return time.Duration(s).Round(time.Millisecond).String() }
