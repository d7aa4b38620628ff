package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// In selects the requests of the named phases; without names, of all.
func In(h *history.History, phases ...string) []*history.Request {
	var out []*history.Request
	for i := range h.Requests {
		if len(phases) == 0 || slices.Contains(phases, h.Requests[i].Phase) {
			out = append(out, &h.Requests[i])
		}
	}
	return out
}

// attempts joins the ledger to the requests by key.
func attempts(h *history.History) map[string][]*ledger.Attempt {
	out := make(map[string][]*ledger.Attempt, len(h.Requests))
	for i := range h.Attempts {
		a := &h.Attempts[i]
		out[a.Key] = append(out[a.Key], a)
	}
	return out
}

// last is the final attempt of a request: the one whose answer its client got.
func last(as []*ledger.Attempt) *ledger.Attempt {
	if len(as) == 0 {
		return nil
	}
	return as[len(as)-1]
}

// servedBy names the worker of a request's last attempt, or "no worker".
func servedBy(as []*ledger.Attempt) string {
	if a := last(as); a != nil {
		return a.Worker
	}
	return "no worker"
}

// outcome tells a client's view of a request in a few words.
func outcome(r *history.Request) string {
	switch {
	case r.End == history.Complete && r.Stream && r.Status/100 == 2 && !r.Done:
		return "a stream that ended without [DONE]"
	case r.End == history.Complete:
		return fmt.Sprintf("status %d", r.Status)
	case r.End == history.Cancelled: // the client's own error would only say so again
		return fmt.Sprintf("%d events and no end until the client was made to leave", len(r.Events))
	case r.Err != "":
		return fmt.Sprintf("%s (%s)", r.End, cut(r.Err, 160))
	default:
		return string(r.End)
	}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}

// how names a request's way in: the violation's reader wants to know which path fails.
func how(r *history.Request) string {
	words := []string{r.Endpoint}
	if r.Stream {
		words = append(words, "streamed")
	}
	if r.Kept {
		words = append(words, "over a kept-alive connection")
	}
	if r.Chunked {
		words = append(words, "with a chunked body")
	}
	if r.Session != "" {
		words = append(words, "with a session")
	}
	return strings.Join(words, " ")
}

// group is a violation that many requests share: one sentence, all keys.
type group struct {
	order []string
	by    map[string]*Violation
	count map[string]int
}

func (g *group) add(expected, observed string, keys ...string) {
	if g.by == nil {
		g.by, g.count = map[string]*Violation{}, map[string]int{}
	}
	id := expected + "\x00" + observed
	v := g.by[id]
	if v == nil {
		v = &Violation{Expected: expected, Observed: observed}
		g.by[id] = v
		g.order = append(g.order, id)
	}
	v.Keys = append(v.Keys, keys...)
	g.count[id]++
}

func (g *group) finding() Finding {
	var f Finding
	for _, id := range g.order {
		v := *g.by[id]
		if n := g.count[id]; n > 1 {
			v.Observed = fmt.Sprintf("%s (%d times)", v.Observed, n)
		}
		f.Violations = append(f.Violations, v)
	}
	return f
}

// orDoubt is the finding of a judge that saw enough, or, without violations,
// why the history cannot decide. A violation needs no minimum: it was seen.
func (g *group) orDoubt(enough bool, format string, args ...any) Finding {
	f := g.finding()
	if len(f.Violations) == 0 && !enough {
		f.Inconclusive = fmt.Sprintf(format, args...)
	}
	return f
}

// All joins judges: every violation counts, and the first doubt.
func All(js ...Judge) Judge {
	return func(h *history.History) Finding {
		var f Finding
		for _, j := range js {
			g := j(h)
			f.Violations = append(f.Violations, g.Violations...)
			if f.Inconclusive == "" {
				f.Inconclusive = g.Inconclusive
			}
		}
		return f
	}
}

// Then joins two judges like All, but the second judges only the requests that the
// first does not blame: what follows from a violation is no second one.
func Then(first, second Judge) Judge {
	return func(h *history.History) Finding {
		f := first(h)
		blamed := map[string]bool{}
		for _, v := range f.Violations {
			for _, k := range v.Keys {
				blamed[k] = true
			}
		}
		rest := *h
		rest.Requests = slices.DeleteFunc(slices.Clone(h.Requests), func(r history.Request) bool { return blamed[r.Key] })
		return All(func(*history.History) Finding { return f }, func(*history.History) Finding { return second(&rest) })(h)
	}
}

// Served requires that at least min requests were sent in the phases and that
// every client of them got a whole 2xx answer. The minimum keeps a case that
// sent nothing from passing.
func Served(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		rs := In(h, phases...)
		for _, r := range rs {
			if !r.OK() {
				g.add(fmt.Sprintf("a whole 2xx answer (%s, %s)", phaseName(r), how(r)), outcome(r), r.Key)
			}
		}
		return g.orDoubt(len(rs) >= min, "only %d of at least %d requests of %v were sent", len(rs), min, phases)
	}
}

// Unserved is Served's opposite, for the preparation of a case: at least min
// requests of the phases were sent, and none got a 2xx answer. Where one did, the
// case has not seen what it is about.
func Unserved(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		rs := In(h, phases...)
		if len(rs) < min {
			return Finding{Inconclusive: fmt.Sprintf("only %d of at least %d requests of %v were sent", len(rs), min, phases)}
		}
		for _, r := range rs {
			if r.OK() {
				return Finding{Inconclusive: fmt.Sprintf("request %s of %v was to fail and was answered", r.Key, phases)}
			}
		}
		return Finding{}
	}
}

func phaseName(r *history.Request) string {
	if r.Phase == "" {
		return "phase main"
	}
	return "phase " + r.Phase
}
