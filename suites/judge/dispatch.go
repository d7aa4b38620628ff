package judge

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// noneSent is the doubt of a judge that found nothing to judge.
const noneSent = "no request of %v was sent"

// Within requires every request of the phases to have ended within max.
func Within(max time.Duration, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		rs := In(h, phases...)
		for _, r := range rs {
			want := fmt.Sprintf("an answer within %v (%s)", max, phaseName(r))
			switch took := r.Ended - r.Sent; {
			case r.Ended == history.Unset:
				g.add(want, "a request without an end", r.Key)
			case took > max:
				g.add(want, "a request that took longer", r.Key)
			}
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}

// Dispatches requires each request of the phases to have reached between min
// and max workers' ledgers.
func Dispatches(min, max int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			if n := len(at[r.Key]); n < min || n > max*sends(r) {
				want := fmt.Sprintf("%d to %d dispatches", min, max)
				if min == max {
					want = fmt.Sprintf("%d dispatches", min)
				}
				g.add(fmt.Sprintf("%s of one request (%s, %s)", want, phaseName(r), how(r)), fmt.Sprintf("%d", n), r.Key)
			}
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}

// Once requires that each key of the phases was dispatched as often as it was
// sent (requests may share one), and that no more than a quarter as many requests
// came to the workers without any known key: shadows of what was sent.
func Once(phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		sent, most := map[string]int{}, map[string]int{}
		rs := In(h, phases...)
		for _, r := range rs {
			sent[r.Key]++
			most[r.Key] += sends(r)
		}
		for _, r := range rs {
			if n := len(at[r.Key]); sent[r.Key] > 0 && (n < sent[r.Key] || n > most[r.Key]) {
				g.add(fmt.Sprintf("%d dispatches of what was sent %d times (%s, %s)", sent[r.Key], sent[r.Key], phaseName(r), how(r)), fmt.Sprint(n), r.Key)
				sent[r.Key] = 0 // once is enough
			}
		}
		if 4*h.Foreign > len(h.Requests) {
			g.add("only what clients sent at the workers", fmt.Sprintf("%d requests without a client's key, beside %d that clients sent", h.Foreign, len(h.Requests)))
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}

// Reached finds no violation: it says that a case has not seen what it is about
// unless at least min requests of the phases reached a worker.
func Reached(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		at := attempts(h)
		n := 0
		for _, r := range In(h, phases...) {
			if len(at[r.Key]) > 0 {
				n++
			}
		}
		if n < min {
			return Finding{Inconclusive: fmt.Sprintf("only %d of at least %d requests of %v reached a worker", n, min, phases)}
		}
		return Finding{}
	}
}

// NotAgain requires that no request of the phases was dispatched once a byte of
// the body had reached its client. Dispatches before that are retries, which are
// another clause's matter. At least min requests must show their client a byte
// and then break off at the worker.
func NotAgain(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			first := firstByte(r)
			if first == history.Unset {
				continue
			}
			broke := false
			for _, a := range at[r.Key] {
				broke = broke || brokeOff(a)
				if a.Arrived > first {
					g.add("no dispatch after the first byte ("+how(r)+")", "another dispatch", r.Key)
				}
			}
			if broke {
				judged++
			}
		}
		return g.orDoubt(judged >= min, "only %d of %d answers broke off after their client had seen some of them", judged, min)
	}
}

// firstByte is when the first byte of a body was at the client, at the earliest
// where that is not known: with the headers.
func firstByte(r *history.Request) time.Duration {
	switch {
	case len(r.Events) > 0:
		return r.Events[0].At
	case r.BodyBytes > 0 && !r.Stream:
		return r.HeadersAt
	}
	return history.Unset
}

// Refused requires every request of the phases to be answered with a 4xx and to
// have reached no worker.
func Refused(phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			if r.End != history.Complete || r.Status/100 != 4 {
				g.add(fmt.Sprintf("a 4xx answer (%s, %s)", phaseName(r), how(r)), outcome(r), r.Key)
			}
			if n := len(at[r.Key]); n > 0 {
				g.add(fmt.Sprintf("no dispatch (%s, %s)", phaseName(r), how(r)), fmt.Sprintf("%d dispatches to %s", n, servedBy(at[r.Key])), r.Key)
			}
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}

// PassedOn requires every request of the phases to have been answered with its
// worker's status, from exactly one dispatch. It is about answers that a worker
// was made to refuse: where one succeeded, the case has not seen what it is about.
func PassedOn(phases ...string) Judge {
	return answeredAlike(func(client, worker int) bool { return client == worker },
		func(worker int) string { return fmt.Sprintf("the worker's status %d", worker) }, phases...)
}

// SameClass is PassedOn for a status of the class that the worker answered with: 4xx
// or 5xx.
func SameClass(phases ...string) Judge {
	return answeredAlike(func(client, worker int) bool { return client/100 == worker/100 },
		func(worker int) string { return fmt.Sprintf("a status of the worker's class, %dxx", worker/100) }, phases...)
}

// answeredAlike requires one dispatch of each request, which a worker refused, and at
// the client a status that is like the worker's; want names that.
func answeredAlike(like func(client, worker int) bool, want func(worker int) string, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		refused := 0
		for _, r := range rs {
			as := at[r.Key]
			if len(as) == 0 || len(as) > sends(r) {
				g.add(fmt.Sprintf("one dispatch (%s)", phaseName(r)), fmt.Sprintf("%d dispatches", len(as)), r.Key)
				continue
			}
			status := last(as).Status
			if status >= 300 {
				refused++
			}
			if r.End != history.Complete || !like(r.Status, status) {
				g.add(fmt.Sprintf("%s (%s)", want(status), phaseName(r)), outcome(r), r.Key)
			}
		}
		return g.orDoubt(len(rs) > 0 && refused == len(rs), "of %d requests of %v only %d were refused by a worker", len(rs), phases, refused)
	}
}

// Exhausted requires at least min requests of the phases to have been sent, and
// each to be answered with a 5xx and Retry-After, by no worker.
func Exhausted(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			if r.End != history.Complete || r.Status/100 != 5 || len(values(r.Header, "Retry-After")) == 0 {
				g.add(fmt.Sprintf("a 5xx with Retry-After (%s, %s)", phaseName(r), how(r)), outcome(r), r.Key)
			}
			if n := len(at[r.Key]); n > 0 {
				g.add(fmt.Sprintf("no dispatch (%s, %s)", phaseName(r), how(r)), fmt.Sprintf("%d", n), r.Key)
			}
		}
		return g.orDoubt(len(rs) >= min, "only %d of at least %d requests of %v were sent", len(rs), min, phases)
	}
}

// sends is how often a client sent a request: twice where a kept-alive connection
// was closed under it.
func sends(r *history.Request) int {
	if r.Resent {
		return 2
	}
	return 1
}
