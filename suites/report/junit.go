package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// JUnitFile is the customary name of the JUnit report.
const JUnitFile = "junit.xml"

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitOutcome `xml:"skipped"`
	Error   *junitOutcome `xml:"error"`
	Failure *junitOutcome `xml:"failure"`
	Out     *junitText    `xml:"system-out"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

// WriteJUnit writes the report as JUnit XML to path, whole or not at all: a
// testsuite per area, a testcase per case. A fail or unexpected-pass is a
// <failure>, whatever its level (its type names level and verdict); error,
// inconclusive and not-run are an <error>; declined and exempt are <skipped>.
// Where verdicts were compared with expectations, what counts is the
// comparison: another verdict than expected is a <failure>, an expected one is
// never more than <skipped>, except that an error stays an <error>. Problems of the run
// stand in a testsuite of their own, so that a reader of this file alone sees
// them. What a router sent cannot break the XML: see Visible.
func (r *Report) WriteJUnit(path string) error {
	text, err := r.junit()
	if err != nil {
		return fmt.Errorf("JUnit report: %w", err)
	}
	return writeAtomic(path, text)
}

func (r *Report) junit() ([]byte, error) {
	byArea := map[string]*junitSuite{}
	spent := map[string]time.Duration{}
	for i := range r.Cases {
		c := &r.Cases[i]
		area, _, _ := strings.Cut(c.Clause, "-")
		if byArea[area] == nil {
			byArea[area] = &junitSuite{Name: oneLine(area)}
		}
		byArea[area].Cases = append(byArea[area].Cases, r.junitCase(area, c))
		spent[area] += time.Duration(c.Duration)
	}
	all := junitSuites{Name: "routeproof " + string(r.Mode), Time: junitTime(r.Duration)}
	for area, s := range byArea {
		s.Time = junitTime(Seconds(spent[area]))
		all.Suites = append(all.Suites, *s)
	}
	slices.SortFunc(all.Suites, func(a, b junitSuite) int { return cmp.Compare(a.Name, b.Name) })
	if len(r.Problems) > 0 {
		all.Suites = append(all.Suites, r.junitProblems())
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
		s.Properties = []junitProperty{
			{"target", oneLine(r.Target.Project + " " + r.Target.Version)},
			{"spec", oneLine(r.Spec.Version)},
			{"suite", oneLine(r.Suite.Version)},
			{"seed", strconv.FormatUint(r.Seed, 10)},
		}
		for _, c := range s.Cases {
			s.Tests++
			switch {
			case c.Failure != nil:
				s.Failures++
			case c.Error != nil:
				s.Errors++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
		all.Errors, all.Skipped = all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	body, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

func (r *Report) junitCase(area string, c *CaseResult) junitCase {
	j := junitCase{
		Class: "routeproof." + oneLine(area),
		Name:  oneLine(c.Name() + " " + c.Title),
		Time:  junitTime(c.Duration),
	}
	if c.LogTail != "" {
		j.Out = &junitText{Visible(c.LogTail)}
	}
	o := &junitOutcome{Message: oneLine(c.headline()), Type: string(c.Level) + " " + string(c.Verdict), Text: c.account()}
	if x := c.Expectation; x != nil && c.Verdict != Error {
		o.Type = "expected " + string(x.Verdict)
		switch {
		case !x.OK:
			o.Message = oneLine(fmt.Sprintf("expected %s, got %s: %s", x.Verdict, c.Verdict, c.headline()))
			j.Failure = o
		case c.Verdict != Pass:
			j.Skipped = &junitOutcome{Message: oneLine(fmt.Sprintf("%s, as expected: %s", c.Verdict, x.Why))}
		}
		return j
	}
	switch c.Verdict {
	case Pass:
	case Fail, UnexpectedPass:
		j.Failure = o
	case Declined, Exempt:
		j.Skipped = &junitOutcome{Message: o.Message}
	default: // error, inconclusive, not-run, and what is no verdict at all
		j.Error = o
	}
	return j
}

func (r *Report) junitProblems() junitSuite {
	s := junitSuite{Name: "run", Time: junitTime(0)}
	for _, p := range r.Problems {
		c := junitCase{Class: "routeproof.run", Name: oneLine(string(p.Kind) + " " + p.Subject), Time: junitTime(0)}
		o := &junitOutcome{Message: oneLine(p.Text), Type: string(p.Kind)}
		if p.Kind == ProblemExemption || p.Kind == ProblemExpectation || p.Kind == ProblemAdapter {
			c.Failure = o
		} else {
			c.Error = o
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func junitTime(s Seconds) string { return fmt.Sprintf("%.3f", time.Duration(s).Seconds()) }
