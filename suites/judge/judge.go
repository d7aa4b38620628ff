// Package judge holds pure functions from a history to violations, and the
// statistics they rest on. It imports no network, no clock and no test
// framework, so a verdict can be taken again from evidence on disk.
package judge

import (
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// Violation is one way in which a history breaks a clause.
type Violation struct {
	Expected string   `json:"expected"`       // what the clause allows
	Observed string   `json:"observed"`       // what was seen
	Keys     []string `json:"keys,omitempty"` // join keys of the requests that show it
}

func (v Violation) String() string {
	return fmt.Sprintf("expected %s; observed %s", v.Expected, v.Observed)
}

// Finding is a judge's answer. Without violations the case passes, unless
// Inconclusive says why the history cannot decide.
type Finding struct {
	Violations   []Violation
	Inconclusive string
}

// Judge turns a history into a finding.
type Judge func(h *history.History) Finding
