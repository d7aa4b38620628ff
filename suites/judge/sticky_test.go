package judge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestSticksWantsEveryAttemptOfASessionOnOneWorker(t *testing.T) {
	try(t, judge.Sticks(2),
		trial{"two sessions, each on its worker", func(h *story) {
			for range 3 {
				h.turn("s1", "w0")
				h.turn("s2", "w1")
				h.ask("w2") // keyless requests go anywhere
			}
		}, ""},
		trial{"a turn elsewhere", func(h *story) { h.turn("s1", "w0"); h.turn("s1", "w0"); h.turn("s1", "w1", completions) }, violated + "completions with a session"},
		trial{"a turn tried elsewhere first", func(h *story) { h.turn("s1", "w0"); h.turn("s1", "w1 w0") }, violated + "two workers or more"},
		trial{"a failed turn elsewhere counts too", func(h *story) { h.turn("s1", "w0"); h.turn("s1", "w1", status(429)) }, violated + "two workers or more"},
		trial{"one session moves among many that stay", func(h *story) {
			for s := range 20 {
				h.turn(fmt.Sprint("s", s), "w0")
				h.turn(fmt.Sprint("s", s), map[bool]string{true: "w3", false: "w0"}[s == 17])
			}
		}, violated + "two workers or more"},
		trial{"too few sessions", func(h *story) { h.turn("s1", "w0"); h.turn("s1", "w0") }, doubt + "1 of 2"},
		trial{"one turn of each shows nothing", func(h *story) { h.turn("s1", "w0"); h.turn("s2", "w0") }, doubt + "0 of 2"},
		trial{"turns that reached no worker show nothing", func(h *story) {
			for _, s := range []string{"s1", "s2"} {
				h.turn(s, "w0")
				h.turn(s, "", answered(502))
			}
		}, doubt + "0 of 2"},
		trial{"nothing was sent", nil, doubt + "0 of 2"},
	)
}

func TestSticksLooksAtItsPhasesOnly(t *testing.T) {
	try(t, judge.Sticks(1, "before"),
		trial{"a move afterwards", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s1", "w0", in("before"))
			h.turn("s1", "w1", in("after"))
		}, ""},
	)
}

func TestPlacedForbidsEverySessionOnOneWorker(t *testing.T) {
	place := func(workers ...string) func(*story) {
		return func(h *story) {
			for i, w := range workers {
				h.turn(fmt.Sprint("s", i), w)
				h.turn(fmt.Sprint("s", i), "w3") // later turns do not count
			}
		}
	}
	try(t, judge.Placed(3),
		trial{"over the fleet", place("w0", "w1", "w0", "w2"), ""},
		trial{"as many as allowed", place("w0", "w0", "w0", "w2"), ""},
		trial{"all on one", place("w0", "w0", "w0", "w0"), violated + "w0=4"},
		trial{"most on one", place("w0", "w0", "w0", "w0", "w1"), violated + "w0=4 w1=1"},
		trial{"all on one, too few to say", place("w0", "w0", "w0"), doubt + "too few sessions"},
		trial{"no session reached a worker", place("", ""), doubt + "no session"},
		trial{"keyless requests only", func(h *story) { h.ask("w0") }, doubt + "no session"},
		trial{"nothing was sent", nil, doubt + "no session"},
	)
}

// turns tells of one session with pauses between its turns, in tenths of the idle time.
func turns(session string, pauses []int, workers ...string) func(*story) {
	return func(h *story) {
		for i, w := range workers {
			if i > 0 {
				h.pause(h.Session.IdleTTL * time.Duration(pauses[i-1]) / 10)
			}
			h.turn(session, w)
		}
	}
}

func TestKeptCountsShortSessionsToo(t *testing.T) {
	try(t, judge.Kept(1),
		trial{"two turns on one worker", turns("s1", []int{5}, "w0", "w0"), ""},
		trial{"moved within the idle time", turns("s1", []int{5}, "w0", "w1"), violated + "another worker"},
		trial{"moved after a gap that the machine stretched", turns("s1", []int{12}, "w0", "w1"), doubt + "0 of 1"},
		trial{"moved after a pause that was short only for a client that stood still", func(h *story) {
			turns("s1", []int{11}, "w0", "w1")(h)
			h.Requests[0].Ended += h.Session.IdleTTL * 6 / 10
		}, doubt + "0 of 1"},
		trial{"one turn shows nothing", turns("s1", nil, "w0"), doubt + "0 of 1"},
		trial{"a turn that reached no worker", turns("s1", []int{5}, "w0", ""), doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestSlidesWantsATurnWithinTheIdleTimeOnTheSameWorker(t *testing.T) {
	half := []int{5, 5, 5, 5}
	try(t, judge.Slides(1),
		trial{"kept beyond the idle time", turns("s1", half, "w0", "w0", "w0", "w0"), ""},
		trial{"moved within the idle time", turns("s1", half, "w0", "w0", "w0", "w1"), violated + "idle time of 1s"},
		trial{"moved at once", turns("s1", half, "w0", "w1"), violated + "another worker"},
		trial{"moved after a gap that the machine stretched", turns("s1", []int{5, 12, 5}, "w0", "w0", "w1"), doubt + "0 of 1"},
		trial{"too near the idle time to say", turns("s1", []int{5, 9, 5}, "w0", "w0", "w1"), doubt + "0 of 1"},
		trial{"shorter than the idle time shows nothing", turns("s1", half, "w0", "w0"), doubt + "0 of 1"},
		trial{"one turn shows nothing", turns("s1", half, "w0"), doubt + "0 of 1"},
		trial{"a turn that reached no worker", turns("s1", half, "w0", "w0", "", "w0"), doubt + "0 of 1"},
		trial{"a manifest without an idle time", func(h *story) {
			h.Session.IdleTTL = 0
			h.turn("s1", "w0")
			h.turn("s1", "w0")
		}, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestSettledWantsAMovedSessionToStay(t *testing.T) {
	try(t, judge.Settled(1, "settled"),
		trial{"stays", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s1", "w1", in("settled"))
			h.turn("s1", "w1", in("settled"))
		}, ""},
		trial{"a first try at a dead worker is no move", func(h *story) {
			h.turn("s1", "w1", in("settled"))
			h.turn("s1", "w0 w1", in("settled"))
		}, ""},
		trial{"moves again", func(h *story) {
			h.turn("s1", "w1", in("settled"))
			h.turn("s1", "w2", in("settled"))
		}, violated + "moved again"},
		trial{"moves on every turn", func(h *story) {
			for _, w := range []string{"w1", "w2", "w1"} {
				h.turn("s1", w, in("settled"))
			}
		}, violated + "(2 times)"},
		trial{"served once shows nothing", func(h *story) {
			h.turn("s1", "w1", in("settled"))
			h.turn("s1", "w2", in("settled"), status(500))
		}, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestApartWantsSomePairOnTwoWorkersInEveryPhase(t *testing.T) {
	pair := func(h *story, phase string, n int, a, b string) {
		for _, w := range []string{a, b} {
			h.turn(fmt.Sprint(phase, n, w), w, in(phase), func(q *told) { q.Turn = n })
		}
	}
	try(t, judge.Apart(2, "case", "dots"),
		trial{"one pair apart in each", func(h *story) {
			pair(h, "case", 0, "w0", "w0")
			pair(h, "case", 1, "w0", "w1")
			pair(h, "dots", 0, "w2", "w0")
			pair(h, "dots", 1, "w2", "w2")
		}, ""},
		trial{"all pairs of one phase together", func(h *story) {
			pair(h, "case", 0, "w0", "w1")
			pair(h, "case", 1, "w0", "w1")
			pair(h, "dots", 0, "w2", "w2")
			pair(h, "dots", 1, "w1", "w1")
		}, violated + "(dots)"},
		trial{"too few pairs", func(h *story) {
			pair(h, "case", 0, "w0", "w1")
			pair(h, "case", 1, "w0", "w1")
			pair(h, "dots", 0, "w2", "w0")
			pair(h, "dots", 1, "w1", "")
		}, doubt + "dots: only 1 of 2"},
		trial{"nothing was sent", nil, doubt + "0 of 2"},
	)
}

func TestMovesComparesHomesBeforeAndAfter(t *testing.T) {
	living := func(h *history.History, home string) bool { return home != judge.Marked("crash")(h) }
	try(t, judge.Moves("before", "after", 2, living),
		trial{"only the dead worker's session moved", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s2", "w1", in("before"))
			h.mark("crash", "w1", "")
			h.turn("s1", "w0", in("after"))
			h.turn("s2", "w1 w2", in("after"))
		}, ""},
		trial{"another session moved too", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s2", "w1", in("before"))
			h.mark("crash", "w1", "")
			h.turn("s1", "w3", in("after"))
			h.turn("s2", "w2", in("after"))
		}, violated + "one moved from w0 to w3"},
		trial{"the last turn before is home", func(h *story) {
			h.turn("s1", "w2", in("before"))
			h.turn("s1", "w0", in("before"))
			h.turn("s2", "w1", in("before"))
			h.turn("s1", "w0", in("after"))
			h.turn("s2", "w1", in("after"))
		}, ""},
		trial{"a violation needs no minimum", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s1", "w3", in("after"))
		}, violated + "from w0 to w3"},
		trial{"a session that was not served after", func(h *story) {
			h.turn("s1", "w0", in("before"))
			h.turn("s2", "w1", in("before"))
			h.turn("s1", "w0", in("after"))
			h.turn("s2", "w3", in("after"), status(503))
		}, doubt + "1 of 2"},
		trial{"nothing was sent", nil, doubt + "0 of 2"},
	)
}

func TestMovedAtMostLimitsTheNumberOfMoves(t *testing.T) {
	scale := func(moved, stayed int) func(*story) {
		return func(h *story) {
			for s := range moved + stayed {
				h.turn(fmt.Sprint("s", s), "w0", in("three"))
			}
			for s := range moved + stayed {
				h.turn(fmt.Sprint("s", s), map[bool]string{true: "w3", false: "w0"}[s < moved], in("four"))
			}
		}
	}
	try(t, judge.MovedAtMost("three", "four", 2),
		trial{"none moved", scale(0, 5), ""},
		trial{"as many as allowed", scale(2, 3), ""},
		trial{"one too many", scale(3, 2), violated + "3 moved"},
		trial{"a modulo moves nearly all", scale(5, 0), violated + "at most 2 of 5"},
		trial{"a session that was not served after", func(h *story) {
			scale(2, 3)(h)
			h.turn("s9", "w0", in("three"))
			h.turn("s9", "w1", in("four"), status(502))
		}, doubt + "5 of 6"},
		trial{"nothing was sent", nil, doubt + "0 of 0"},
	)
}
