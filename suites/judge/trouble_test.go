package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestErrorSeenWantsAnErrorInTime(t *testing.T) {
	try(t, judge.ErrorSeen(1, "hopeless"),
		trial{"a 5xx", func(h *story) { h.ask("", in("hopeless"), answered(502)) }, ""},
		trial{"a connection that could not be made", func(h *story) { h.ask("", in("hopeless"), ended(history.Failed)) }, ""},
		trial{"an answer cut off", func(h *story) { h.ask("w0", in("hopeless"), ended(history.Truncated)) }, ""},
		trial{"served", func(h *story) { h.ask("w0", in("hopeless")) }, violated + "status 200"},
		trial{"blamed on the client", func(h *story) { h.ask("", in("hopeless"), answered(404)) }, violated + "status 404"},
		trial{"left waiting", func(h *story) { h.ask("", in("hopeless"), ended(history.Timeout)) }, violated + "timeout"},
		trial{"garbage", func(h *story) { h.ask("", in("hopeless"), ended(history.Malformed)) }, violated + "malformed"},
		trial{"one of many served", func(h *story) { h.ask("", in("hopeless"), answered(502)); h.ask("w0", in("hopeless")) }, violated + "status 200"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestHealthyWantsTheOthersToBeQuick(t *testing.T) {
	j := judge.Healthy(2*time.Second, 2, judge.Marked("fault"), "keyless")
	hung := func(h *story) { h.ask("w2", in("keyless"), ended(history.Timeout), took(4*time.Second)) }
	try(t, j,
		trial{"only the faulty worker's requests wait", func(h *story) {
			h.mark("fault", "w2", "hang")
			h.ask("w0", in("keyless"))
			h.ask("w1", in("keyless"))
			hung(h)
			h.ask("", in("keyless"), ended(history.Timeout), took(4*time.Second)) // held by it without a trace
		}, ""},
		trial{"a healthy worker's answer is late", func(h *story) {
			h.mark("fault", "w2", "hang")
			h.ask("w0", in("keyless"))
			h.ask("w1", in("keyless"))
			h.ask("w1", in("keyless"), took(3*time.Second))
		}, violated + "late"},
		trial{"requests queue inside the router", func(h *story) {
			h.mark("fault", "w2", "hang")
			h.ask("w0", in("keyless"))
			h.ask("w0", in("keyless"), took(3*time.Second), func(q *told) { q.tries[0].Arrived = q.Ended - 5*ms })
		}, violated + "at least 2 requests"},
		trial{"all but one fail", func(h *story) {
			h.mark("fault", "w2", "hang")
			h.ask("w0", in("keyless"))
			h.ask("w1", in("keyless"), status(503))
		}, violated + "at least 2 requests"},
		trial{"everything waits on the faulty worker", func(h *story) {
			h.mark("fault", "w2", "hang")
			for range 3 {
				hung(h)
			}
		}, violated + "observed 0"},
		trial{"no worker was faulty", func(h *story) { h.ask("w0", in("keyless")); h.ask("w1", in("keyless")) }, doubt + `faulty worker ""`},
		trial{"too few were sent", func(h *story) { h.mark("fault", "w2", "hang"); h.ask("w0", in("keyless")) }, doubt + "1 requests"},
		trial{"nothing was sent", nil, doubt + `faulty worker ""`},
	)
}
