package report

import (
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/suites/judge"
)

// maxKeys is how many request keys a case's account names.
const maxKeys = 5

// headline is the one line that says what became of a case and of what clause.
func (c *CaseResult) headline() string {
	switch c.Verdict {
	case Fail:
		return c.Clause + ": " + c.firstViolation()
	case NotRun:
		return joinDetail("not run", c.Detail)
	case Pass:
		return "passes: " + c.Why
	}
	if c.Detail == "" {
		return string(c.Verdict) + ": " + c.Why
	}
	if strings.HasPrefix(c.Detail, string(c.Verdict)) {
		return c.Detail
	}
	return string(c.Verdict) + ": " + c.Detail
}

// firstViolation is the case's first violation as one sentence: many failures of a
// clause share its text, and a list of failures must tell them apart.
func (c *CaseResult) firstViolation() string {
	v := judge.Violation{Expected: c.Expected, Observed: c.Observed}
	if len(c.Violations) > 0 {
		v = c.Violations[0]
	}
	v.Observed, _ = splitLog(v.Observed)
	return v.String()
}

// account is all that a reader needs of a case, as labelled lines.
func (c *CaseResult) account() string {
	var b strings.Builder
	for _, l := range c.lines() {
		fmt.Fprintf(&b, "%s: %s\n", l.label, Visible(l.text))
	}
	return b.String()
}

type labelled struct{ label, text string }

// lines are the parts of an account that have something to say.
func (c *CaseResult) lines() []labelled {
	evidence, replay := make([]string, len(c.Evidence)), ""
	for i, e := range c.Evidence {
		evidence[i] = e.File
		if strings.HasSuffix(e.File, replayed) {
			replay = replayCommand(e.File)
		}
	}
	expectation := ""
	if x := c.Expectation; x != nil && !x.OK {
		expectation = joinDetail(string(x.Verdict), x.Why)
	}
	all := []labelled{
		{"clause", strings.TrimSpace(fmt.Sprintf("%s (%s) %s", c.Clause, c.Level, c.Why))},
		{"wanted", expectation},
		{"expected", c.Expected},
		{"observed", c.Observed},
		{"detail", c.Detail},
		{"requests", keyList(c.Keys)},
		{"example", strings.Join(c.Example, "\n")},
		{"evidence", strings.Join(evidence, " ")},
		{"replay", replay},
		{"explain", "routeproof explain " + c.Clause},
		{"again", c.Reproduce},
	}
	out := all[:0]
	for _, l := range all {
		if l.text != "" {
			out = append(out, l)
		}
	}
	return out
}

// replayed ends the name of a conversation that an adapter can be asked to hold again.
const replayed = ".jsonl"

// replayCommand plays a conversation again; the adapter's own command follows it.
func replayCommand(file string) string {
	return "routeproof adapter check --conversation " + file + " ADAPTER"
}

func keyList(keys []string) string {
	if len(keys) <= maxKeys {
		return strings.Join(keys, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:maxKeys], " "), len(keys)-maxKeys)
}
