package report

import (
	"fmt"
	"strings"
)

// maxKeys is how many request keys a case's account names.
const maxKeys = 5

// headline is the one line that says what became of a case and of what clause.
func (c *CaseResult) headline() string {
	switch c.Verdict {
	case Fail:
		return c.Clause + ": " + c.Why
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

// account is all that a reader needs of a case, as labelled lines.
func (c *CaseResult) account() string {
	var b strings.Builder
	for _, l := range c.lines() {
		fmt.Fprintf(&b, "%s: %s\n", l.label, visible(l.text))
	}
	return b.String()
}

type labelled struct{ label, text string }

// lines are the parts of an account that have something to say.
func (c *CaseResult) lines() []labelled {
	evidence := make([]string, len(c.Evidence))
	for i, e := range c.Evidence {
		evidence[i] = e.File
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
		{"evidence", strings.Join(evidence, " ")},
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

func keyList(keys []string) string {
	if len(keys) <= maxKeys {
		return strings.Join(keys, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:maxKeys], " "), len(keys)-maxKeys)
}
