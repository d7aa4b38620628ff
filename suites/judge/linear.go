package judge

import (
	"fmt"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/linear"
)

// linearLimit bounds the check of one session's history. What it does not suffice for
// is inconclusive, never right.
const linearLimit = 20 * time.Second

// Linear requires what concurrent callers saw to be explained by some order of their
// operations, session by session. At least min operations must have been checked.
func Linear(live []string, min int) Judge {
	return func(h *history.History) Finding {
		if t := h.Talk; t != nil && t.Fault != "" {
			return Finding{Violations: []Violation{{Expected: "an adapter that keeps to the protocol (suites/target/component.md)", Observed: t.Fault}}}
		}
		v := linear.Check(h.Ops, live, linearLimit)
		if v.Bad != "" {
			return Finding{Violations: []Violation{{
				Expected: fmt.Sprintf("an order of the operations on session %s that explains all answers", v.Bad),
				Observed: fmt.Sprintf("after %d of its %d operations, the latest of them %s, none explains %s", len(v.Until), len(v.Around), tellAll(v.Until[max(0, len(v.Until)-6):]), tellAll(v.Then))}}}
		}
		if v.Unknown > 0 {
			return Finding{Inconclusive: fmt.Sprintf("the check of %d sessions took longer than %v", v.Unknown, linearLimit)}
		}
		if v.Checked < min {
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d operations were checked", v.Checked, min)}
		}
		return Finding{}
	}
}

func tellAll(ops []linear.Op) string {
	all := make([]string, len(ops))
	for i, o := range ops {
		all[i] = o.String()
	}
	return "[" + strings.Join(all, "; ") + "]"
}
