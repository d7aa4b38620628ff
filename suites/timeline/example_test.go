package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// moved is a history in which session s has n turns, each at the next of the
// workers given, the last of which serves all that remain; beside it are a request
// without a session and one of another.
func moved(n int, workers ...string) *history.History {
	const start = time.Hour // the ledger of a shared fleet runs on
	h := &history.History{Case: "AFF-001/turns", Workers: []string{"w0", "w1"}}
	add := func(key, session, phase, worker string, from time.Duration) {
		h.Requests = append(h.Requests, history.Request{Key: key, Session: session, Phase: phase, Sent: start + from, Ended: start + from + 250*time.Millisecond,
			Status: 200, End: history.Complete, Body: []byte("amber\x1b[2J"), SentBody: []byte(`{"n":1}`)})
		if worker != "" {
			h.Attempts = append(h.Attempts, ledger.Attempt{Seq: len(h.Attempts), Key: key, Worker: worker, Incarnation: 1, Status: 200, End: ledger.Complete,
				Rank: ledger.NoRank, AbortSeen: ledger.Unset, Arrived: start + from, Ended: start + from + 200*time.Millisecond})
		}
	}
	for i := range n {
		add(fmt.Sprintf("k-%d", i+1), "s", "turns", workers[min(i, len(workers)-1)], time.Duration(i)*time.Second)
	}
	add("alone", "", "", "w1", time.Second)
	add("other", "t", "", "", time.Second)
	return h
}

func broke(keys ...string) judge.Finding {
	return judge.Finding{Violations: []judge.Violation{{Expected: "e", Observed: "o", Keys: keys}, {Expected: "e", Observed: "o", Keys: []string{"alone"}}}}
}

func TestAnExampleIsTheSessionOfTheFirstViolation(t *testing.T) {
	h := moved(2, "w0", "w1")
	failed := &h.Attempts[1]
	failed.Status, failed.End, failed.HeadersAt = 0, ledger.Reset, ledger.Unset
	h.Attempts = append(h.Attempts, ledger.Attempt{Key: "k-2", Worker: "w2", Role: history.Decode, Incarnation: 2, Ranks: 2, Rank: 1, Status: 429, End: ledger.Complete, Arrived: time.Hour + time.Second})
	h.Requests[1].Status = 429
	want := []string{
		"session s: 2 requests",
		"k-1  turns  0.000-0.250 s  200  w0",
		"k-2  turns  1.000-1.250 s  429  w1 reset, decode w2 (life 2) rank 1 429",
	}
	if d := cmp.Diff(want, Example(h, broke("k-2"))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestALongSessionShowsWhereItMovedAndSaysHowMuchIsLeftOut(t *testing.T) {
	h := moved(40, strings.Fields(strings.Repeat("w0 ", 28)+"w1 w0")...)
	got := Example(h, broke("k-29", "other"))
	if len(got) != 1+maxTurns || got[0] != "session s: 7 of its 40 requests; the first of 2 sessions" {
		t.Fatalf("%d lines: %q", len(got), got)
	}
	all := strings.Join(got, "\n")
	for _, key := range []string{"k-1 ", "k-28 ", "k-29 ", "k-30 "} {
		if !strings.Contains(all, "\n"+key) {
			t.Errorf("lacks %s:\n%s", key, all)
		}
	}
}

func TestAnExampleWithoutASessionIsItsRequests(t *testing.T) {
	h := moved(1, "w0")
	for i := range h.Requests {
		h.Requests[i].Session, h.Requests[i].Stream = "", true
	}
	h.Requests[2].End, h.Requests[2].Status = history.Cancelled, 0
	want := []string{
		"alone  main  1.000-1.250 s  200 without [DONE]        w1",
		"other  main  1.000-1.250 s  cancelled after 0 events  no worker",
	}
	if d := cmp.Diff(want, Example(h, broke("other", "alone"))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	h = moved(9, "w0")
	for i := range h.Requests {
		h.Requests[i].Session = ""
	}
	if got := Example(h, broke("k-1", "k-2", "k-3", "k-4")); len(got) != 1+maxAlone || got[0] != "the first 3 of 4 requests that show it" {
		t.Errorf("%q", got)
	}
}

func TestWhatNamesNoRequestHasNoExample(t *testing.T) {
	for name, got := range map[string][]string{
		"no history":   Example(nil, broke("k-1")),
		"no violation": Example(moved(1, "w0"), judge.Finding{}),
		"no key":       Example(moved(1, "w0"), broke()),
		"no such key":  Example(moved(1, "w0"), broke("nope")),
	} {
		if got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
