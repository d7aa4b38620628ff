package judge_test

import (
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestServedWantsAWholeAnswerForEveryRequest(t *testing.T) {
	try(t, judge.Served(2, "work"),
		trial{"all whole", func(h *story) { h.ask("w0", in("work")); h.ask("w1", in("work"), streamed(3)) }, ""},
		trial{"a failure in another phase is another judge's matter", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"))
			h.ask("w0", in("other"), status(500))
		}, ""},
		trial{"an error status", func(h *story) { h.ask("w0", in("work")); h.ask("w1", in("work"), status(503)) }, violated + "status 503"},
		trial{"a redirect", func(h *story) { h.ask("w0", in("work")); h.ask("w1", in("work"), status(307)) }, violated + "status 307"},
		trial{"a stream without [DONE]", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w1", in("work"), streamed(3), cutAfter(2))
		}, violated + "without [DONE]"},
		trial{"a broken connection", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("", in("work"), ended(history.Failed))
		}, violated + "failed"},
		trial{"an answer cut off", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"), ended(history.Truncated))
		}, violated + "truncated"},
		trial{"no answer in time", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"), ended(history.Timeout))
		}, violated + "timeout"},
		trial{"a failure counts although too little was sent", func(h *story) { h.ask("w1", in("work"), status(503)) }, violated + "status 503"},
		trial{"too little was sent", func(h *story) { h.ask("w0", in("work")) }, doubt + "1 of at least 2"},
		trial{"nothing was sent", nil, doubt + "0 of at least 2"},
	)
}

func TestServedWithoutPhasesTakesAllRequests(t *testing.T) {
	try(t, judge.Served(2),
		trial{"both phases count", func(h *story) { h.ask("w0", in("a")); h.ask("w0", in("b")) }, ""},
		trial{"both phases are judged", func(h *story) { h.ask("w0", in("a")); h.ask("w0", in("b"), status(500)) }, violated + "phase b"},
	)
}

func TestUnservedDoubtsAPreparationThatDidNotFail(t *testing.T) {
	try(t, judge.Unserved(2, "first"),
		trial{"all failed", func(h *story) {
			h.turn("s1", "w0", in("first"), status(500))
			h.turn("s2", "w0", in("first"), ended(history.Failed))
		}, ""},
		trial{"one was served", func(h *story) {
			h.turn("s1", "w0", in("first"), status(500))
			h.turn("s2", "w0", in("first"))
		}, doubt + "k-2"},
		trial{"too few were sent", func(h *story) { h.turn("s1", "w0", in("first"), status(500)) }, doubt + "1 of at least 2"},
		trial{"nothing was sent", nil, doubt + "0 of at least 2"},
	)
}

func TestAllKeepsEveryViolationAndTheFirstDoubt(t *testing.T) {
	h := of("w0")
	h.ask("w0", in("a"), status(500))
	h.ask("w0", in("b"), status(404))
	f := judge.All(judge.Served(1, "a"), judge.Served(5, "c"), judge.Served(1, "b"), judge.Served(6, "d"))(&h.History)
	if len(f.Violations) != 2 || !strings.Contains(f.Inconclusive, "0 of at least 5") {
		t.Errorf("found %+v, want the violations of a and b and the doubt about c", f)
	}
	if f := judge.All()(&h.History); len(f.Violations) != 0 || f.Inconclusive != "" {
		t.Errorf("no judge found %+v", f)
	}
}

func TestAViolationOfManyRequestsIsToldOnceWithAllTheirKeys(t *testing.T) {
	h := of("w0")
	for range 3 {
		h.ask("w0", status(500))
	}
	h.ask("w0", completions, status(500))
	f := judge.Served(1)(&h.History)
	if len(f.Violations) != 2 || !strings.Contains(f.Violations[0].Observed, "(3 times)") || strings.Join(f.Violations[0].Keys, " ") != "k-1 k-2 k-3" {
		t.Errorf("found %+v, want one violation of three requests and one of the other endpoint", f.Violations)
	}
}

func TestAViolationTellsTheWayInAndTheClientsOwnError(t *testing.T) {
	h := of("w0")
	h.turn("s1", "w0", in("after"), streamed(2), ended(history.Truncated), func(q *told) {
		q.Kept, q.Err = true, "reset by peer "+strings.Repeat("x", 300)
	})
	f := judge.Served(1)(&h.History)
	if len(f.Violations) != 1 {
		t.Fatalf("found %+v, want one violation", f)
	}
	got := f.Violations[0].String()
	for _, want := range []string{"phase after", "chat streamed over a kept-alive connection with a session", "truncated (reset by peer", "..."} {
		if !strings.Contains(got, want) {
			t.Errorf("told %q, want %q in it", got, want)
		}
	}
	if len(got) > 400 {
		t.Errorf("a violation of %d bytes; a client's error is to be cut", len(got))
	}
}
