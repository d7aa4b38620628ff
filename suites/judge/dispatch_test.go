package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestWithinLimitsTheTimeToTheEnd(t *testing.T) {
	try(t, judge.Within(time.Second, "work"),
		trial{"just in time", func(h *story) { h.ask("w0", in("work"), took(time.Second)) }, ""},
		trial{"another phase may take longer", func(h *story) { h.ask("w0", in("work")); h.ask("w0", took(time.Minute)) }, ""},
		trial{"too late", func(h *story) { h.ask("w0", in("work")); h.ask("w0", in("work"), took(time.Second+ms)) }, violated + "took longer"},
		trial{"no end at all", func(h *story) {
			h.ask("w0", in("work"), func(q *told) { q.Ended = history.Unset })
		}, violated + "without an end"},
		trial{"nothing was sent", func(h *story) { h.ask("w0") }, doubt + "no request"},
	)
}

func TestDispatchesCountsTheLedgersAttempts(t *testing.T) {
	try(t, judge.Dispatches(1, 1, "work"),
		trial{"once each", func(h *story) { h.ask("w0", in("work")); h.ask("w1", in("work")) }, ""},
		trial{"twice at one worker", func(h *story) { h.ask("w0 w0", in("work")) }, violated + "observed 2"},
		trial{"hedged at two workers", func(h *story) { h.ask("w0", in("work")); h.ask("w0 w1", in("work")) }, violated + "expected 1 dispatches"},
		trial{"answered without a dispatch", func(h *story) { h.ask("", in("work")) }, violated + "observed 0"},
		trial{"nothing was sent", nil, doubt + "no request"},
	)
	try(t, judge.Dispatches(0, 2),
		trial{"within the range", func(h *story) { h.ask(""); h.ask("w0"); h.ask("w0 w1") }, ""},
		trial{"above the range", func(h *story) { h.ask("w0 w1 w2") }, violated + "expected 0 to 2 dispatches"},
	)
}

func TestReachedDoubtsACaseThatNoWorkerSaw(t *testing.T) {
	try(t, judge.Reached(2, "work"),
		trial{"enough", func(h *story) { h.ask("w0", in("work")); h.ask("w0 w1", in("work")); h.ask("", in("work")) }, ""},
		trial{"retries of one request are one", func(h *story) { h.ask("w0 w1 w2", in("work")); h.ask("", in("work")) }, doubt + "1 of at least 2"},
		trial{"nothing was sent", nil, doubt + "0 of at least 2"},
	)
}

func TestNotAgainForbidsADispatchAfterTheFirstByte(t *testing.T) {
	again := func(after time.Duration) opt {
		return func(q *told) { q.tries[1].Arrived = q.Sent + after }
	}
	broken := func(q *told) {
		streamed(3)(q)
		cutAfter(1)(q)
		q.End = history.Truncated
		broke(ledger.Reset)(q)
	}
	try(t, judge.NotAgain(1, "broken"),
		trial{"broken off and left alone", func(h *story) { h.ask("w0", in("broken"), broken) }, ""},
		trial{"an answer without stream, broken off and left alone", func(h *story) {
			h.ask("w0", in("broken"), ended(history.Truncated), broke(ledger.Crashed))
		}, ""},
		trial{"a retry before the first byte", func(h *story) { h.ask("w0 w1", in("broken"), broken, again(2*ms)) }, ""},
		trial{"a second dispatch of a stream", func(h *story) { h.ask("w0 w1", in("broken"), broken, again(30*ms)) }, violated + "chat streamed"},
		trial{"a second dispatch of an answer without stream", func(h *story) {
			h.ask("w0 w1", in("broken"), ended(history.Truncated), broke(ledger.Reset), again(5*ms))
		}, violated + "another dispatch"},
		trial{"a second dispatch that went well", func(h *story) { h.ask("w0 w1", in("broken"), streamed(3), again(30*ms)) }, violated + "another dispatch"},
		trial{"the client saw nothing before the break", func(h *story) {
			h.ask("w0 w1", in("broken"), streamed(3), cutAfter(0), broke(ledger.Reset), again(30*ms))
		}, doubt + "0 of 1"},
		trial{"nothing broke", func(h *story) { h.ask("w0", in("broken"), streamed(3)) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestRefusedWantsA4xxAndNoDispatch(t *testing.T) {
	try(t, judge.Refused("bad"),
		trial{"any status of the class", func(h *story) { h.ask("", in("bad"), answered(404)); h.ask("", in("bad"), answered(400)) }, ""},
		trial{"served", func(h *story) { h.ask("", in("bad"), answered(404)); h.ask("", in("bad")) }, violated + "status 200"},
		trial{"refused with a 5xx", func(h *story) { h.ask("", in("bad"), answered(503)) }, violated + "status 503"},
		trial{"cut off instead of answered", func(h *story) { h.ask("", in("bad"), ended(history.Failed)) }, violated + "failed"},
		trial{"a 4xx whose body never ended", func(h *story) { h.ask("", in("bad"), answered(404), ended(history.Truncated)) }, violated + "truncated"},
		trial{"refused by a worker instead of the router", func(h *story) { h.ask("w2", in("bad"), status(404)) }, violated + "1 dispatches to w2"},
		trial{"nothing was sent", func(h *story) { h.ask("w0") }, doubt + "no request"},
	)
}

func TestPassedOnWantsTheWorkersStatusFromOneDispatch(t *testing.T) {
	try(t, judge.PassedOn("full"),
		trial{"passed on", func(h *story) {
			h.turn("s1", "w0", in("full"), status(429))
			h.turn("s2", "w1", in("full"), status(503))
		}, ""},
		trial{"another status", func(h *story) { h.ask("w0", in("full"), status(429), answered(502)) }, violated + "the worker's status 429"},
		trial{"tried elsewhere", func(h *story) { h.ask("w0 w1", in("full"), status(429)) }, violated + "2 dispatches"},
		trial{"answered by the router alone", func(h *story) { h.ask("", in("full"), answered(503)) }, violated + "0 dispatches"},
		trial{"cut off", func(h *story) { h.ask("w0", in("full"), status(429), ended(history.Truncated)) }, violated + "truncated"},
		trial{"no worker refused anything", func(h *story) { h.ask("w0", in("full"), status(429)); h.ask("w0", in("full")) }, doubt + "only 1 were refused"},
		trial{"nothing was sent", nil, doubt + "of 0 requests"},
	)
}

func TestExhaustedWantsA5xxWithRetryAfterAndNoDispatch(t *testing.T) {
	full := func(q *told) { q.Status, q.Header = 503, map[string][]string{"retry-after": {"1"}} }
	try(t, judge.Exhausted(2, "beyond"),
		trial{"refused with a hint", func(h *story) { h.ask("", in("beyond"), full); h.ask("", in("beyond"), full) }, ""},
		trial{"refused without a hint", func(h *story) { h.ask("", in("beyond"), full); h.ask("", in("beyond"), answered(503)) }, violated + "a 5xx with Retry-After"},
		trial{"another 5xx with a hint", func(h *story) { h.ask("", in("beyond"), full); h.ask("", in("beyond"), full, answered(507)) }, ""},
		trial{"refused as the client's fault", func(h *story) {
			h.ask("", in("beyond"), full)
			h.ask("", in("beyond"), full, answered(429))
		}, violated + "status 429"},
		trial{"cut off", func(h *story) { h.ask("", in("beyond"), full, ended(history.Truncated)) }, violated + "truncated"},
		trial{"refused by a worker", func(h *story) { h.ask("", in("beyond"), full); h.ask("w0", in("beyond"), full) }, violated + "no dispatch"},
		trial{"served", func(h *story) { h.ask("", in("beyond"), full); h.ask("w0", in("beyond")) }, violated + "status 200"},
		trial{"too few were sent", func(h *story) { h.ask("", in("beyond"), full) }, doubt + "1 of at least 2"},
		trial{"nothing was sent", nil, doubt + "0 of at least 2"},
	)
}

func TestOnceCountsWhatWasSentAgainstWhatWasDispatched(t *testing.T) {
	same := func(key string) opt { return func(q *told) { q.Key = key; q.last().Key = key } }
	try(t, judge.Once("work"),
		trial{"one each", func(h *story) { h.ask("w0", in("work")); h.ask("w1", in("work")) }, ""},
		trial{"one twice", func(h *story) { h.ask("w0", in("work")); h.ask("w1 w1", in("work")) }, violated + "expected 1 dispatches of what was sent 1 times"},
		trial{"one never", func(h *story) { h.ask("w0", in("work")); h.ask("", in("work")) }, violated + "observed 0"},
		trial{"two equal ones, dispatched twice", func(h *story) {
			h.ask("w0", in("work"), same("k"))
			h.ask("w1", in("work"), same("k"))
		}, ""},
		trial{"two equal ones that shared a dispatch", func(h *story) {
			h.ask("w0", in("work"), same("k"))
			h.ask("", in("work"), func(q *told) { q.Key = "k" })
		}, violated + "expected 2 dispatches of what was sent 2 times"},
		trial{"a shadow of every request", func(h *story) { h.ask("w0", in("work")); h.Foreign = 1 }, violated + "without a client's key"},
		trial{"a probe now and then", func(h *story) {
			for range 8 {
				h.ask("w0", in("work"))
			}
			h.Foreign = 1
		}, ""},
		trial{"nothing was sent", nil, doubt + "work"},
	)
}

// A kept-alive connection may be closed under a request, which the client then
// sends again: its second dispatch is the client's doing.
func TestWhatAClientSentTwiceMayBeDispatchedTwice(t *testing.T) {
	resent := func(q *told) { q.Resent = true }
	for name, j := range map[string]judge.Judge{"Dispatches": judge.Dispatches(1, 1, "work"), "Once": judge.Once("work")} {
		t.Run(name, func(t *testing.T) {
			try(t, j,
				trial{"sent twice, dispatched twice", func(h *story) { h.ask("w0 w1", in("work"), resent) }, ""},
				trial{"sent twice, dispatched once", func(h *story) { h.ask("w0", in("work"), resent) }, ""},
				trial{"sent twice, dispatched three times", func(h *story) { h.ask("w0 w1 w0", in("work"), resent) }, violated + "observed 3"},
			)
		})
	}
	try(t, judge.PassedOn("work"),
		trial{"sent twice, refused twice", func(h *story) { h.ask("w0 w0", in("work"), status(400), resent) }, ""},
		trial{"sent twice, refused three times", func(h *story) { h.ask("w0 w0 w0", in("work"), status(400), resent) }, violated + "3 dispatches"},
	)
}
