package judge

import (
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// AsPinned requires that the pinned requests of the phases reached their pin's
// worker and nobody else. At least min of them must have been answered with 2xx.
func AsPinned(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		served := 0
		for _, r := range In(h, phases...) {
			if r.Pin == nil || r.Pin.Worker == "" {
				continue
			}
			right := true
			for _, a := range at[r.Key] {
				if a.Worker != r.Pin.Worker {
					right = false
					g.add(fmt.Sprintf("a pinned request at its pin's worker only (%s)", how(r)), "at another worker", r.Key)
				}
			}
			if right && r.OK() && len(at[r.Key]) > 0 {
				served++
			}
		}
		return g.orDoubt(served >= min, "only %d of %d pinned requests were served by the worker that they named", served, min)
	}
}

// FollowsPin requires the unpinned turns of the phases to be at the
// worker that their session's last served pinned turn named.
func FollowsPin(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		home, n := map[string]string{}, 0
		for _, r := range In(h, phases...) {
			switch {
			case r.Session == "":
			case r.Pin != nil && r.OK():
				home[r.Session] = r.Pin.Worker
			case r.Pin == nil && home[r.Session] != "":
				for _, a := range at[r.Key] {
					n++
					if a.Worker != home[r.Session] {
						g.add(fmt.Sprintf("a turn at the worker to which a pin bound its session (%s)", how(r)), "at another worker", r.Key)
					}
				}
			}
		}
		return g.orDoubt(n >= min, "only %d of %d turns came after a pinned one", n, min)
	}
}
