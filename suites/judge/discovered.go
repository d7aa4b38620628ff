package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Bound is a time that a history's target may take.
type Bound func(h *history.History) time.Duration

// Converged is the target's convergence time.
func Converged(h *history.History) time.Duration { return h.Convergence }

// Used requires that each worker of a mark of the kind gets a request within bound of it.
// Where fewer than min requests were sent in that time, and none came, nothing can be told.
func Used(what string, bound Bound, min int) Judge {
	return UsedSince(what, func(*history.History) time.Duration { return 0 }, bound, min)
}

// UsedSince is Used for a time that begins a while after the mark.
func UsedSince(what string, since, bound Bound, min int) Judge {
	return func(h *history.History) Finding {
		var g group
		marked, doubt := 0, 0
		for _, m := range h.Marks {
			if m.What != what {
				continue
			}
			marked++
			begin, end := m.At+since(h), m.At+bound(h)
			var keys []string
			for _, r := range h.Requests {
				if r.Sent >= begin && r.Sent < end {
					keys = append(keys, r.Key)
				}
			}
			reached := slices.ContainsFunc(h.Attempts, func(a ledger.Attempt) bool {
				return a.Worker == m.Worker && a.Arrived >= begin && a.Arrived < end
			})
			switch {
			case reached:
			case len(keys) < min:
				doubt++
			default:
				g.add(fmt.Sprintf("a request for a worker from %v to %v after its %s", since(h), bound(h), what),
					fmt.Sprintf("none of %d", len(keys)), keys[len(keys)-1])
			}
		}
		return g.orDoubt(marked > 0 && doubt == 0, "of %d workers with a %s, %d got none of the fewer than %d requests that were sent from %v to %v after it", marked, what, doubt, min, since(h), bound(h))
	}
}

// Unnamed requires that nothing in the discovery store bears the name of a session: no
// key and no record, after at least min sessions.
func Unnamed(min int) Judge {
	return func(h *history.History) Finding {
		var g group
		named := map[string]string{}
		for _, r := range h.Requests {
			if r.Session != "" {
				named[r.Session] = r.Key
			}
		}
		for _, e := range h.Store.Left {
			for id, key := range named {
				if strings.Contains(e, id) {
					g.add("no session named in the discovery store", "one named there", key)
				}
			}
		}
		return g.orDoubt(len(named) >= min && len(h.Store.Left) > 0, "%d sessions, of at least %d, and %d entries in the store", len(named), min, len(h.Store.Left))
	}
}
