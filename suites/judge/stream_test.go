package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestPromptWantsEachEventInTime(t *testing.T) {
	try(t, judge.Prompt(2*time.Second, 4),
		trial{"at once", func(h *story) { h.ask("w0", streamed(4)) }, ""},
		trial{"just in time", func(h *story) { h.ask("w0", streamed(4), late(0, 2*time.Second-ms)) }, ""},
		trial{"the first is late", func(h *story) { h.ask("w0", streamed(4), late(0, 2*time.Second)) }, violated + "came later"},
		trial{"only the last is late", func(h *story) { h.ask("w0", streamed(6), late(5, 3*time.Second)) }, violated + "came later"},
		trial{"held back until the client left", func(h *story) {
			h.ask("w0", streamed(6), cutAfter(4), ended(history.Cancelled), took(3*time.Second))
		}, violated + "event 4 never arrived; the client saw 4 events and no end until the client was made to leave"},
		trial{"held back while the worker held the next one", func(h *story) {
			h.ask("w0", streamed(6), cutAfter(5), ended(history.Cancelled), took(3*time.Second))
		}, violated + "event 5 never arrived: the worker sent it and held the next one for 2s, until the client was made to leave"},
		trial{"the worker went on once the client had left", func(h *story) {
			h.ask("w0", streamed(6), cutAfter(5), ended(history.Cancelled), took(3*time.Second), func(q *told) {
				a := q.last()
				a.Events = append(a.Events, q.Ended+ms)
			})
		}, violated + "event 5 never arrived: the worker sent it and held the next one for 2s, until the client was made to leave"},
		trial{"lost from an answer that looks whole", func(h *story) { h.ask("w0", streamed(6), cutAfter(4)) }, violated + "event 4 never arrived"},
		trial{"no dispatch", func(h *story) { h.ask("w0", streamed(4)); h.ask("", answered(500)) }, violated + "no dispatch"},
		trial{"the client left before the event was due", func(h *story) {
			h.ask("w0", streamed(6), cutAfter(5), ended(history.Cancelled))
		}, ""},
		trial{"too few events", func(h *story) { h.ask("w0", streamed(3)) }, doubt + "3 of 4"},
		trial{"nothing was sent", nil, doubt + "0 of 4"},
	)
}

func TestWhatFollowsFromAViolationIsNoSecondOne(t *testing.T) {
	j := judge.Then(judge.Prompt(2*time.Second, 4), judge.Served(2))
	held := func(h *story) { h.ask("w0", streamed(6), cutAfter(5), ended(history.Cancelled), took(3*time.Second)) }
	try(t, j,
		trial{"all is well", func(h *story) { h.ask("w0", streamed(4)); h.ask("w0", streamed(4)) }, ""},
		trial{"an answer of another kind", func(h *story) { held(h); h.ask("w0", answered(500)) }, violated + "status 500"},
		trial{"too few", func(h *story) { h.ask("w0", streamed(4)) }, doubt + "1 of at least 2"},
	)
	h := of("w0")
	held(h)
	if f := j(&h.History); len(f.Violations) != 1 {
		t.Errorf("%d violations, want the late event alone: %v", len(f.Violations), f.Violations)
	}
}

func TestSpacedWantsThreeQuartersOfTheEventsBeforeTheNext(t *testing.T) {
	// The worker sends 50 ms apart.
	try(t, judge.Spaced(50*ms, 4, "direct", ""),
		trial{"one by one", func(h *story) { h.ask("w0", streamed(5)) }, ""},
		trial{"one of four late", func(h *story) { h.ask("w0", streamed(5), late(3, 60*ms)) }, ""},
		trial{"all in pieces", func(h *story) { h.ask("w0", streamed(5), late(0, 200*ms)) }, violated + "4 of 4 came after it"},
		trial{"half late", func(h *story) { h.ask("w0", streamed(5), late(2, 60*ms)) }, violated + "2 of 4"},
		trial{"never there", func(h *story) { h.ask("w0", streamed(5), cutAfter(1)) }, violated + "3 of 4"},
		trial{"one stream of many", func(h *story) {
			h.ask("w0", streamed(5))
			h.ask("w1", streamed(5), completions, late(0, 200*ms))
		}, violated + "completions streamed"},
		trial{"an event that its worker followed up at once decides nothing", func(h *story) {
			h.ask("w0", streamed(6), late(4, 60*ms), func(q *told) {
				q.last().Events[1] += 45 * ms // the machine stalled: 0 at 3, 1 at 98, 2 at 103
				q.Events[1].At = q.last().Events[2] + ms
			})
		}, ""},
		trial{"the machine is too busy", func(h *story) {
			h.ask("w0", streamed(5), late(0, 200*ms))
			h.ask("w0", streamed(5), in("direct"), late(3, 60*ms))
		}, doubt + "too busy"},
		trial{"a control that keeps its pace excuses nothing", func(h *story) {
			h.ask("w0", streamed(5), late(0, 200*ms))
			h.ask("w0", streamed(5), in("direct"))
		}, violated + "4 of 4"},
		trial{"too few events", func(h *story) { h.ask("w0", streamed(4)) }, doubt + "3 of 4"},
		trial{"all events at once decide nothing", func(h *story) {
			h.ask("w0", streamed(6), func(q *told) {
				for i := range q.last().Events {
					q.last().Events[i] = q.Sent + 3*ms
				}
			})
		}, doubt + "0 of 4"},
		trial{"no streams", func(h *story) { h.ask("w0"); h.ask("", answered(500)) }, doubt + "0 of 4"},
		trial{"nothing was sent", nil, doubt + "0 of 4"},
	)
}

func TestBrokenForbidsAWholeAnswerFromABrokenOne(t *testing.T) {
	saysLast := func(data string) opt {
		return func(q *told) { q.Events[len(q.Events)-1].Data = data }
	}
	reset := broke(ledger.Reset)
	try(t, judge.Broken(1, "work"),
		trial{"the client's connection broke too", func(h *story) {
			h.ask("w0", in("work"), streamed(4), cutAfter(2), reset, ended(history.Truncated))
		}, ""},
		trial{"the answer stopped being HTTP", func(h *story) {
			h.ask("w0", in("work"), streamed(4), cutAfter(2), reset, ended(history.Malformed))
		}, ""},
		trial{"the client got no headers at all", func(h *story) { h.ask("w0", in("work"), reset, ended(history.Failed)) }, ""},
		trial{"an error event instead of [DONE]", func(h *story) {
			h.ask("w0", in("work"), streamed(4), cutAfter(2), reset, saysLast(`{"error":{"message":"gone"}}`))
		}, ""},
		trial{"a 5xx for an answer without stream", func(h *story) { h.ask("w0", in("work"), reset, answered(502)) }, ""},
		trial{"a stream that ends cleanly", func(h *story) { h.ask("w0", in("work"), streamed(4), cutAfter(2), reset) }, violated + "without [DONE]"},
		trial{"a stream that ends cleanly without an event", func(h *story) { h.ask("w0", in("work"), streamed(4), cutAfter(0), reset) }, violated + "without [DONE]"},
		trial{"a stream that is given a [DONE]", func(h *story) { h.ask("w0", in("work"), streamed(4), reset) }, violated + "status 200"},
		trial{"an error event before a [DONE]", func(h *story) {
			h.ask("w0", in("work"), streamed(4), reset, saysLast(`{"error":{}}`), func(q *told) { q.Done = true })
		}, violated + "status 200"},
		trial{"a half answer without stream", func(h *story) { h.ask("w0", in("work"), broke(ledger.Crashed)) }, violated + "status 200"},
		trial{"an error in an answer without stream is no sign", func(h *story) {
			h.ask("w0", in("work"), reset, func(q *told) { q.Body = []byte(`{"error":{}}`) })
		}, violated + "status 200"},
		trial{"the client waits for ever", func(h *story) {
			h.ask("w0", in("work"), streamed(4), cutAfter(2), reset, func(q *told) { q.End = history.Timeout })
		}, violated + "timeout"},
		trial{"nothing broke", func(h *story) { h.ask("w0", in("work"), streamed(4)) }, doubt + "0 of 1"},
		trial{"it broke before headers, which is another clause", func(h *story) {
			h.ask("w0", in("work"), answered(502), reset, func(q *told) { q.last().Status = 0 })
		}, doubt + "0 of 1"},
		trial{"no dispatch", func(h *story) { h.ask("", in("work"), answered(502)) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestAbortSeenWantsTheWorkerToNotice(t *testing.T) {
	// left is a client that leaves after 6 ms; its worker notices after d more, or never.
	left := func(d time.Duration, e ledger.End) opt {
		return func(q *told) {
			q.End, q.Status = history.Cancelled, 0
			for i := range q.tries {
				a := &q.tries[i]
				a.End, a.Ended, a.AbortSeen = e, q.Ended+d, q.Ended+d
				if e != ledger.Aborted {
					a.AbortSeen = ledger.Unset
				}
			}
		}
	}
	try(t, judge.AbortSeen(2*time.Second, 1),
		trial{"noticed at once", func(h *story) { h.ask("w0", left(ms, ledger.Aborted)) }, ""},
		trial{"noticed before the client's own end was noted", func(h *story) { h.ask("w0", left(-ms, ledger.Aborted)) }, ""},
		trial{"others may end as they like", func(h *story) { h.ask("w0", left(ms, ledger.Aborted)); h.ask("w0") }, ""},
		trial{"noticed too late", func(h *story) { h.ask("w0", left(2*time.Second+ms, ledger.Aborted)) }, violated + "came later"},
		trial{"finished for nobody", func(h *story) { h.ask("w0", left(time.Second, ledger.Complete)) }, violated + "no abort; the attempt is complete"},
		trial{"still running", func(h *story) {
			h.ask("w0", left(0, ledger.Running), func(q *told) { q.last().Ended = ledger.Unset })
		}, violated + "no abort; the attempt is running"},
		trial{"noticed by one of two workers", func(h *story) {
			h.ask("w0 w1", left(ms, ledger.Aborted), func(q *told) { q.tries[0].AbortSeen = ledger.Unset })
		}, violated + "no abort"},
		trial{"over before the client left", func(h *story) { h.ask("w0", left(-ms, ledger.Complete)) }, doubt + "0 of 1"},
		trial{"nobody left", func(h *story) { h.ask("w0") }, doubt + "0 of 1"},
		trial{"left before any worker had it", func(h *story) { h.ask("", left(ms, ledger.Aborted)) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestBeforeMarkWantsAFirstEventOfEveryStream(t *testing.T) {
	open := func(q *told) { streamed(4)(q) }
	try(t, judge.BeforeMark("releasing", 2, "stream"),
		trial{"all have begun", func(h *story) {
			h.ask("w0", in("stream"), open)
			h.ask("w1", in("stream"), open)
			h.mark("note", "", "releasing")
		}, ""},
		trial{"one begins after the others were released", func(h *story) {
			h.ask("w0", in("stream"), open)
			h.ask("w1", in("stream"), open, late(0, time.Second))
			h.mark("note", "", "releasing")
		}, violated + "none before releasing"},
		trial{"one never begins", func(h *story) {
			h.ask("w0", in("stream"), open)
			h.ask("w1", in("stream"), open, cutAfter(0))
			h.mark("note", "", "releasing")
		}, violated + "none before releasing"},
		trial{"a violation needs no minimum", func(h *story) {
			h.ask("w1", in("stream"), open, cutAfter(0))
			h.mark("note", "", "releasing")
		}, violated + "none before releasing"},
		trial{"too few streams", func(h *story) { h.ask("w0", in("stream"), open); h.mark("note", "", "releasing") }, doubt + "1 of 2"},
		trial{"the mark was never set", func(h *story) { h.ask("w0", in("stream"), open); h.ask("w0", in("stream"), open) }, doubt + "no mark"},
		trial{"nothing was sent", nil, doubt + "no mark"},
	)
}
