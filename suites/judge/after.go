package judge

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// QuietAfter requires that no request of the phases reached a worker after the mark
// with this text. At least min must have been sent before it.
func QuietAfter(text string, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		at, marked := marked(h, text)
		if !marked {
			return Finding{Inconclusive: fmt.Sprintf("the history has no mark %q", text)}
		}
		var g group
		tried, before := attempts(h), 0
		for _, r := range In(h, phases...) {
			if r.Sent < at {
				before++
			}
			for _, a := range tried[r.Key] {
				if a.Arrived > at {
					g.add(fmt.Sprintf("no dispatch once %s (%s, %s)", text, phaseName(r), how(r)), "one to "+a.Worker, r.Key)
				}
			}
		}
		return g.orDoubt(before >= min, "only %d of %d requests of %v were sent before %s", before, min, phases, text)
	}
}

// marked is when the mark with this text was made.
func marked(h *history.History, text string) (at time.Duration, found bool) {
	for _, m := range h.Marks {
		if m.Text == text {
			return m.At, true
		}
	}
	return 0, false
}

// Elsewhere lets j judge the sessions alone that were served at one worker in the
// phase before and at another in the phase after, of which there must be min. What
// came back to where it had been may follow either binding.
func Elsewhere(before, after string, min int, j Judge) Judge {
	return func(h *history.History) Finding {
		was, is := homes(h, before), homes(h, after)
		moved := *h
		moved.Requests = nil
		n := 0
		for s, w := range is {
			if was[s] != "" && was[s] != w {
				n++
			}
		}
		for _, r := range h.Requests {
			if is[r.Session] != "" && was[r.Session] != "" && is[r.Session] != was[r.Session] {
				moved.Requests = append(moved.Requests, r)
			}
		}
		f := j(&moved)
		if len(f.Violations) == 0 && n < min {
			f.Inconclusive = fmt.Sprintf("only %d of %d sessions were at one worker in %s and at another in %s", n, min, before, after)
		}
		return f
	}
}
