package judge

import (
	"encoding/json"
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
)

// AskedAt requires each question of the phases to have been answered 200 with the
// worker, and the rank if there is one, that its own pin names, or else the pin of its
// session's last served pinned turn before. At least min questions must have been
// answered so. Whether the session is bound is Asked's matter.
func AskedAt(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		asked := map[*history.Request]bool{}
		for _, r := range In(h, phases...) {
			asked[r] = r.Asks
		}
		pins, answered := map[string]*script.Where{}, 0
		for i := range h.Requests {
			r := &h.Requests[i]
			if !r.Asks && r.OK() && r.Session != "" && r.Pin != nil {
				pins[r.Session] = r.Pin
			}
			want := pins[r.Session]
			if r.Pin != nil {
				want = r.Pin
			}
			if !asked[r] || want == nil {
				continue
			}
			if r.End != history.Complete || r.Status != 200 {
				g.add(fmt.Sprintf("a question answered 200 (%s, %s)", phaseName(r), how(r)), outcome(r), r.Key)
				continue
			}
			worker, _, ok := whereabouts(r.Body)
			if !ok || worker != want.Worker {
				g.add(fmt.Sprintf("an answer that names the pin's worker (%s)", phaseName(r)), fmt.Sprintf("%.80q", r.Body), r.Key)
				continue
			}
			if rank, ok := rankOf(r.Body); want.Rank != nil && (!ok || rank != *want.Rank) {
				g.add(fmt.Sprintf("an answer that names rank %d (%s)", *want.Rank, phaseName(r)), fmt.Sprintf("%.80q", r.Body), r.Key)
				continue
			}
			answered++
		}
		return g.orDoubt(answered >= min, "only %d of %d questions about a pin were answered", answered, min)
	}
}

// rankOf reads the rank out of the answer to a question.
func rankOf(body []byte) (rank int, ok bool) {
	var says map[string]json.RawMessage
	if json.Unmarshal(body, &says) != nil {
		return 0, false
	}
	var n *int
	if json.Unmarshal(says["rank"], &n) != nil || n == nil {
		return 0, false
	}
	return *n, true
}
