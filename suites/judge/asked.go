package judge

import (
	"encoding/json"
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// Asked requires each question of the phases to have been answered 200 with a JSON
// object that says whether its session is bound, as it must be, and to have reached
// no worker. Where the session is bound the object names the worker of its last
// served turn before; where it is not, no worker that had left before the question.
// At least min questions must have been answered; one about a bound session of which
// no turn was seen at a worker says nothing.
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
			if a := last(at[r.Key]); a != nil && !r.Asks && r.OK() && r.Session != "" {
				homes[r.Session] = a.Worker
			}
			if !asked[r] {
				continue
			}
			if len(at[r.Key]) > 0 {
				g.add(fmt.Sprintf("a question that reaches no worker (%s)", how(r)), "a dispatch to "+servedBy(at[r.Key]), r.Key)
			}
			if r.End != history.Complete || r.Status != 200 {
				g.add(fmt.Sprintf("a question answered 200 (%s)", how(r)), outcome(r), r.Key)
				continue
			}
			home, known := homes[r.Session]
			worker, is, ok := whereabouts(r.Body)
			switch {
			case !ok:
				g.add(`an answer {"worker": ID, "bound": true or false}`, fmt.Sprintf("%.80q", r.Body), r.Key)
			case is != bound:
				g.add(fmt.Sprintf("an answer that says bound: %t (%s)", bound, phaseName(r)), fmt.Sprintf("bound: %t", is), r.Key)
			case bound && known && worker != home:
				g.add("an answer that names the session's worker", "another worker", r.Key)
			case !bound && hadLeft(h, worker, r):
				g.add("an answer that names no worker that has left", "worker "+worker, r.Key)
			case known || !bound:
				answered++
			}
		}
		return g.orDoubt(answered >= min, "only %d of %d questions were answered in a way that shows anything", answered, min)
	}
}

// whereabouts reads the answer to a question. Names of members are compared to the
// letter, which encoding/json does for maps alone.
func whereabouts(body []byte) (worker string, bound, ok bool) {
	var says map[string]json.RawMessage
	if json.Unmarshal(body, &says) != nil {
		return "", false, false
	}
	var w *string
	var b *bool
	if json.Unmarshal(says["worker"], &w) != nil || json.Unmarshal(says["bound"], &b) != nil || w == nil || b == nil {
		return "", false, false
	}
	return *w, *b, true
}

// hadLeft says whether the target had verifiably taken a worker's leave before the
// request was sent, and none of its return since.
func hadLeft(h *history.History, worker string, r *history.Request) bool {
	left := false
	for _, m := range h.Marks {
		if m.Worker != worker || m.At > r.Sent {
			continue
		}
		switch m.What {
		case "leave":
			left = m.Text == "verified"
		case "join":
			left = false
		}
	}
	return left
}

// Competed says that a case about names that compete has not seen what it is about
// unless requests of at least min sessions name in their headers, beside their own,
// a session that was at another worker in the phase: it finds no violation.
func Competed(min int, phase string) Judge {
	return func(h *history.History) Finding {
		at := homes(h, phase)
		seen := map[string]bool{}
		for _, r := range In(h) {
			for _, ids := range r.SentHeader {
				for _, id := range ids {
					if at[id] != "" && at[r.Session] != "" && at[id] != at[r.Session] {
						seen[r.Session] = true
					}
				}
			}
		}
		if len(seen) < min {
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d sessions were named beside one at another worker", len(seen), min)}
		}
		return Finding{}
	}
}
