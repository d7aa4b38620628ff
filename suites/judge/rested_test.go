package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/judge"
)

// rested tells of one session with pauses between its turns, in hundredths of the idle time
// from the end of one turn to the sending of the next.
func rested(pauses []int, workers ...string) func(*story) {
	return func(h *story) {
		for i, w := range workers {
			if i > 0 {
				h.now = h.Requests[i-1].Ended + h.Session.IdleTTL*time.Duration(pauses[i-1])/100
			}
			h.turn("s1", w, in("pausing"))
		}
	}
}

func TestRestedWantsATurnAfterALongPauseOnTheSameWorker(t *testing.T) {
	try(t, judge.Rested(2, "pausing"),
		trial{"kept", rested([]int{81, 87}, "w0", "w0", "w0"), ""},
		trial{"moved after a long pause", rested([]int{81, 87}, "w0", "w0", "w1"), violated + "after a pause of 870ms"},
		trial{"moved after a short pause", rested([]int{20}, "w0", "w1"), violated + "idle time of 1s"},
		trial{"moved after a pause that the machine stretched", rested([]int{120, 81, 85}, "w0", "w1", "w1", "w1"), ""},
		trial{"too near the idle time to say", rested([]int{90, 81, 85}, "w0", "w1", "w1", "w1"), ""},
		trial{"moved again after a stretched pause", rested([]int{120, 81, 85}, "w0", "w1", "w1", "w2"), violated + "another worker"},
		trial{"stretched pauses show nothing", rested([]int{120, 95, 85}, "w0", "w0", "w0", "w0"), doubt + "only 1 pauses, of at least 2"},
		trial{"short pauses show nothing", rested([]int{79, 50, 85}, "w0", "w0", "w0", "w0"), doubt + "only 1 pauses, of at least 2"},
		trial{"the turn before took long, and some count from its beginning", func(h *story) {
			h.turn("s1", "w0", in("pausing"), took(200*ms))
			h.now += 990 * ms
			h.turn("s1", "w1", in("pausing"))
		}, doubt + "only 0"},
		trial{"the turn arrived late", func(h *story) {
			h.turn("s1", "w0", in("pausing"))
			h.now += 860 * ms
			h.turn("s1", "w1", in("pausing"), func(q *told) { q.last().Arrived += 100 * ms })
		}, doubt + "only 0"},
		trial{"after a failed turn nothing is bound for sure", func(h *story) {
			h.turn("s1", "w0", in("pausing"), status(500))
			h.now += 840 * ms
			h.turn("s1", "w1", in("pausing"))
		}, doubt + "only 0"},
		trial{"a turn that reached no worker", rested([]int{81, 81}, "w0", "", "w1"), doubt + "only 0"},
		trial{"other phases do not count", func(h *story) {
			h.turn("s1", "w0", in("pausing"))
			h.turn("s1", "w1", in("steady"))
		}, doubt + "only 0"},
		trial{"a manifest without an idle time", func(h *story) {
			h.Session.IdleTTL = 0
			rested([]int{81, 81}, "w0", "w0", "w1")(h)
		}, doubt + "only 0"},
		trial{"nothing was sent", nil, doubt + "only 0"},
	)
}
