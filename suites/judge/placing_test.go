package judge_test

import (
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// via is the frontend that the answer names.
func via(frontend string) opt {
	return func(q *told) { q.Header = map[string][]string{"X-Frontend": {frontend}} }
}

func nowhere(q *told) { q.Header = nil }

var frontend = judge.Frontend("X-Frontend")

func TestPlacingLooksAtTheFrontendInPlaceOfTheWorker(t *testing.T) {
	try(t, judge.Placing(frontend, judge.Sticks(1)),
		trial{"one frontend, several workers", func(h *story) { h.turn("s", "w0", via("f1")); h.turn("s", "w1 w2", via("f1")) }, ""},
		trial{"two frontends, one worker", func(h *story) { h.turn("s", "w0", via("f1")); h.turn("s", "w0", via("f2")) }, violated + "two workers or more"},
		trial{"an answer that names two", func(h *story) {
			h.turn("s", "w0", via("f1"))
			h.turn("s", "w0", func(q *told) { q.Header = map[string][]string{"X-Frontend": {"f1", "f2"}} })
		}, violated + "two workers or more"},
		trial{"an answer that names none shows nothing", func(h *story) { h.turn("s", "w0", via("f1")); h.turn("s", "w0", nowhere) }, doubt + "0 of 1"},
		trial{"nor does one that never came", func(h *story) { h.turn("s", "w0", via("f1")); h.turn("s", "", via("f1")) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestPlacingCountsSharesByFrontend(t *testing.T) {
	try(t, judge.Placing(frontend, judge.Share(judge.ByPhase, 2, 1, 2, []string{"f1", "f2"})),
		trial{"each its share", func(h *story) { h.ask("w0", via("f1")); h.ask("w0", via("f2")) }, ""},
		trial{"one has none", func(h *story) { h.ask("w0", via("f1")); h.ask("w1", via("f1")) }, violated + "0 on f2"},
		trial{"nobody says who", func(h *story) { h.ask("w0", nowhere); h.ask("w1", nowhere) }, doubt + "0 of 2"},
		trial{"nothing was sent", nil, doubt + "no request"},
	)
}

func TestPlacingBehindAFrontendLooksAtBoth(t *testing.T) {
	stays := func(_ *history.History, home string) bool { return !strings.HasPrefix(home, "f2/") }
	try(t, judge.Placing(judge.Behind(frontend), judge.Moves("before", "after", 1, stays)),
		trial{"both stay", func(h *story) { h.turn("s", "w0", in("before"), via("f1")); h.turn("s", "w0", in("after"), via("f1")) }, ""},
		trial{"another worker", func(h *story) { h.turn("s", "w0", in("before"), via("f1")); h.turn("s", "w1", in("after"), via("f1")) }, violated + "from f1/w0 to f1/w1"},
		trial{"another frontend", func(h *story) { h.turn("s", "w0", in("before"), via("f1")); h.turn("s", "w0", in("after"), via("f3")) }, violated + "from f1/w0 to f3/w0"},
		trial{"one that may move", func(h *story) { h.turn("s", "w0", in("before"), via("f2")); h.turn("s", "w0", in("after"), via("f3")) }, ""},
		trial{"nobody says who", func(h *story) { h.turn("s", "w0", in("before"), nowhere); h.turn("s", "w1", in("after"), nowhere) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}
