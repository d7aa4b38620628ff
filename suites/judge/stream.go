package judge

import (
	"fmt"
	"strings"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Prompt requires every event that a worker sent, of streams in the phases, to
// reach the client within max of being sent. A stream whose client saw fewer
// events than were sent is late by definition once max has passed.
func Prompt(max time.Duration, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			a := last(at[r.Key])
			if a == nil {
				g.add("the stream at a worker ("+how(r)+")", "no dispatch; the client saw "+outcome(r), r.Key)
				continue
			}
			for i, sent := range a.Events {
				if i >= len(r.Events) {
					if r.Ended-sent >= max || r.End == history.Complete {
						seen := fmt.Sprintf("event %d never arrived; the client saw %s", i, outcome(r))
						// What the worker wrote once the client had left tells nothing about the router.
						if r.End == history.Cancelled && (i == len(a.Events)-1 || a.Events[i+1] >= r.Ended) {
							seen = fmt.Sprintf("event %d never arrived: the worker sent it and held the next one for %v, until the client was made to leave", i, max)
						}
						g.add(fmt.Sprintf("each event at the client within %v (%s)", max, how(r)), seen, r.Key)
					}
					break
				}
				judged++
				if late := r.Events[i].At - sent; late > max {
					g.add(fmt.Sprintf("each event at the client within %v (%s)", max, how(r)), "an event that came later", r.Key)
					break
				}
			}
		}
		return g.orDoubt(judged >= min, "only %d of %d events could be judged", judged, min)
	}
}

// Spaced requires, per stream of the phase routed, at least three quarters of the
// events to reach the client before the worker sends the next one. An event that
// the worker itself followed up in less than half of apart decides nothing: the
// machine had stalled it. Where streams of the phase direct, which pass no router,
// lag in one event of ten, the machine is too busy to tell.
func Spaced(apart time.Duration, min int, direct, routed string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged, busy := 0, ""
		for _, r := range In(h, direct, routed) {
			late, n := lag(r, last(at[r.Key]), apart)
			if r.Phase == direct {
				if 10*late >= n {
					busy = fmt.Sprintf("%d of %d events came late straight from the worker: this machine is too busy to judge spacing", late, n)
				}
				continue
			}
			judged += n
			if 4*late > n {
				g.add(fmt.Sprintf("at least three quarters of a stream's events at the client before the next is sent (%s)", how(r)),
					fmt.Sprintf("%d of %d came after it", late, n), r.Key)
			}
		}
		if busy != "" {
			return Finding{Inconclusive: busy}
		}
		return g.orDoubt(judged >= min, "only %d of %d events could be judged", judged, min)
	}
}

// lag counts a stream's events that can be judged, and of these the ones that came late.
func lag(r *history.Request, a *ledger.Attempt, apart time.Duration) (late, n int) {
	if a == nil {
		return 0, 0
	}
	for i := range len(a.Events) - 1 {
		if a.Events[i+1]-a.Events[i] < apart/2 {
			continue
		}
		n++
		if i >= len(r.Events) || r.Events[i].At >= a.Events[i+1] {
			late++
		}
	}
	return late, n
}

// Broken requires that no client of the phases saw a whole answer although its
// worker's connection broke in the middle of it.
func Broken(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			a := last(at[r.Key])
			if a == nil || !brokeOff(a) || a.Status == 0 || endless(a) {
				continue
			}
			judged++
			if failureSeen(r) {
				continue
			}
			g.add(fmt.Sprintf("a failure that the client can see after its worker broke off (%s)", how(r)), outcome(r), r.Key)
		}
		return g.orDoubt(judged >= min, "only %d of %d answers were broken off", judged, min)
	}
}

// brokeOff says whether a worker's answer ended before its end.
func brokeOff(a *ledger.Attempt) bool {
	return a.End == ledger.Reset || a.End == ledger.Closed || a.End == ledger.Crashed
}

// endless says whether the answer had no end that could be told from a closed
// connection: over HTTP/1.0 a stream lasts until the worker closes.
func endless(a *ledger.Attempt) bool {
	return a.End == ledger.Closed && a.Proto == "HTTP/1.0" && a.Stream
}

// failureSeen says whether a client could tell that its answer is not whole.
func failureSeen(r *history.Request) bool {
	if r.End == history.Truncated || r.End == history.Failed || r.End == history.Malformed {
		return true
	}
	if r.End != history.Complete {
		return false // a time-out is not a sign but the lack of one
	}
	if r.Status >= 500 {
		return true
	}
	if !r.Stream || r.Done || len(r.Events) == 0 {
		return false
	}
	return strings.Contains(r.Events[len(r.Events)-1].Data, `"error"`)
}

// AbortSeen requires the worker of every request whose client left to have seen
// that within max.
func AbortSeen(max time.Duration, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			if r.End != history.Cancelled {
				continue
			}
			for _, a := range at[r.Key] {
				if a.Ended != ledger.Unset && a.Ended <= r.Ended && a.AbortSeen == ledger.Unset {
					continue // it was over before the client left
				}
				judged++
				want := fmt.Sprintf("the worker to see its client leave within %v (%s, %s)", max, phaseName(r), how(r))
				switch {
				case a.AbortSeen == ledger.Unset:
					g.add(want, fmt.Sprintf("no abort; the attempt is %s", a.End), r.Key)
				case a.AbortSeen-r.Ended > max:
					g.add(want, "an abort that came later", r.Key)
				}
			}
		}
		return g.orDoubt(judged >= min, "only %d of %d clients left while a worker served them", judged, min)
	}
}

// BeforeMark requires every stream of the phases to have shown its first event
// before the mark with this text.
func BeforeMark(text string, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		for _, m := range h.Marks {
			if m.Text != text {
				continue
			}
			rs := In(h, phases...)
			for _, r := range rs {
				if len(r.Events) == 0 || r.Events[0].At > m.At {
					g.add("a first event while all streams are open ("+how(r)+")", "none before "+text, r.Key)
				}
			}
			return g.orDoubt(len(rs) >= min, "only %d of %d streams were started", len(rs), min)
		}
		return Finding{Inconclusive: fmt.Sprintf("the history has no mark %q", text)}
	}
}

// ErrorSeen requires every request of the phases to have ended with an error
// that its client saw in time: a 5xx, or a connection that broke.
func ErrorSeen(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		rs := In(h, phases...)
		for _, r := range rs {
			broke := r.End == history.Failed || r.End == history.Truncated
			if !broke && (r.End != history.Complete || r.Status < 500) {
				g.add("a 5xx or a broken connection ("+how(r)+")", outcome(r), r.Key)
			}
		}
		return g.orDoubt(len(rs) >= min, "only %d of %d requests were sent", len(rs), min)
	}
}

// Healthy requires requests of the phases that a worker other than the faulty
// one answered to have been answered within max of reaching it, and at least
// min of them within max of being sent. A history without a faulty worker, or
// with fewer requests, decides nothing. A request without a trace may have been
// held by the faulty worker; the minimum says how few those can be.
func Healthy(max time.Duration, min int, faulty func(*history.History) string, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		bad := faulty(h)
		rs := In(h, phases...)
		if bad == "" || len(rs) < min {
			return Finding{Inconclusive: fmt.Sprintf("faulty worker %q and %d requests of %v, of which at least %d are needed", bad, len(rs), phases, min)}
		}
		n := 0
		for _, r := range rs {
			as := at[r.Key]
			if len(as) != 1 || as[0].Worker == bad {
				continue
			}
			if r.OK() && r.Ended-r.Sent <= max {
				n++
			}
			if r.Ended-as[0].Arrived > max {
				g.add(fmt.Sprintf("an answer within %v of reaching a healthy worker (%s)", max, how(r)), outcome(r)+", late", r.Key)
			}
		}
		f := g.finding()
		if len(f.Violations) == 0 && n < min {
			f.Violations = append(f.Violations, Violation{
				Expected: fmt.Sprintf("at least %d requests of %v answered by healthy workers within %v of being sent", min, phases, max),
				Observed: fmt.Sprintf("%d", n)})
		}
		return f
	}
}
