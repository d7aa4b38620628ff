package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Rested requires each turn of the phases that follows the one before by less than the
// idle time to reach the same worker, and at least min of them to follow a pause of four
// fifths of it or more. Each pause stands for itself: one that the machine stretched
// decides nothing, and the next one is judged by where the session went then.
//
// A pause is taken from where it looks shortest for what is asked of it: for the count,
// from the client's end of a turn to the sending of the next; for the idle time, from the
// sending of the one, for some routers count from there, to the arrival of the other,
// and a tenth is left for the router's own reading of its clock.
func Rested(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		ttl := h.Session.IdleTTL
		long := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			var was *ledger.Attempt
			var before *history.Request
			for _, r := range all[s] {
				a := last(at[r.Key])
				if was != nil && a != nil && a.Arrived-before.Sent <= ttl-ttl/10 {
					pause := r.Sent - before.Ended
					if pause >= ttl*4/5 {
						long++
					}
					if a.Worker != was.Worker {
						g.add(fmt.Sprintf("a turn within the idle time of %v on the session's worker", ttl),
							fmt.Sprintf("a turn on another worker after a pause of %v", pause.Round(10*time.Millisecond)), before.Key, r.Key)
					}
				}
				was, before = a, r
				if !r.OK() {
					was = nil // it may have ended the binding, or begun none
				}
			}
		}
		return g.orDoubt(long >= min, "only %d pauses, of at least %d, were four fifths of the idle time or more and clearly within it", long, min)
	}
}
