package judge

import (
	"encoding/json"
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// Asked requires each question of the phases to have been answered 200 with a JSON
// object that says whether its session is bound, as it must be, and to have reached
// no worker. Where it is bound the object names the worker of the session's last
// turn before. At least min questions must have been answered.
func Asked(bound bool, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		answered := 0
		homes := map[string]string{}
		asked := map[*history.Request]bool{}
		for _, r := range In(h, phases...) {
			asked[r] = r.Asks
		}
		for i := range h.Requests {
			r := &h.Requests[i]
			if a := last(at[r.Key]); a != nil && !r.Asks && r.OK() {
				homes[r.Session] = a.Worker
			}
			if !asked[r] {
				continue
			}
			if len(at[r.Key]) > 0 {
				g.add(fmt.Sprintf("a question that reaches no worker (%s)", how(r)), "a dispatch to "+servedBy(at[r.Key]), r.Key)
			}
			var says struct {
				Worker *string `json:"worker"`
				Bound  *bool   `json:"bound"`
			}
			switch {
			case r.End != history.Complete || r.Status != 200:
				g.add(fmt.Sprintf("a question answered 200 (%s)", how(r)), outcome(r), r.Key)
			case json.Unmarshal(r.Body, &says) != nil || says.Worker == nil || says.Bound == nil:
				g.add(`an answer {"worker": ID, "bound": yes or no}`, fmt.Sprintf("%.80q", r.Body), r.Key)
			case *says.Bound != bound:
				g.add(fmt.Sprintf("an answer that says bound: %t (%s)", bound, phaseName(r)), fmt.Sprintf("bound: %t", *says.Bound), r.Key)
			case bound && homes[r.Session] != "" && *says.Worker != homes[r.Session]:
				g.add("an answer that names the session's worker", "another worker", r.Key)
			default:
				answered++
			}
		}
		return g.orDoubt(answered >= min, "only %d of %d questions were answered", answered, min)
	}
}

// Competed says that a case about names that compete has not seen what it is about
// unless, for at least min sessions, some request of the phase bound another one to
// another worker: it finds no violation.
func Competed(min int, phase string) Judge {
	return func(h *history.History) Finding {
		n := map[string]bool{}
		for _, w := range homes(h, phase) {
			n[w] = true
		}
		if len(n) < 2 {
			return Finding{Inconclusive: fmt.Sprintf("all sessions of %q are at one worker, so that none of %d rules can be seen", phase, min)}
		}
		return Finding{}
	}
}
