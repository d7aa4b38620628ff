package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// spread tells of n requests to each worker, in order.
func (h *story) spread(n map[string]int, opts ...opt) {
	for _, w := range []string{"w0", "w1", "w2", "w3", "w4"} {
		for range n[w] {
			h.ask(w, opts...)
		}
	}
}

var even = map[string]int{"w0": 5, "w1": 5, "w2": 5, "w3": 5}

func TestShareKeepsEveryWorkerWithinItsBoundsInEveryCell(t *testing.T) {
	try(t, judge.Share(judge.ByShape, 20, 2, 9, nil, "work"),
		trial{"even", func(h *story) { h.spread(even, in("work")) }, ""},
		trial{"within bounds in two cells", func(h *story) {
			h.spread(even, in("work"))
			h.spread(map[string]int{"w0": 9, "w1": 2, "w2": 4, "w3": 5}, in("work"), completions)
		}, ""},
		trial{"one worker has too many", func(h *story) { h.spread(map[string]int{"w0": 10, "w1": 4, "w2": 3, "w3": 3}, in("work")) }, violated + "10 on w0"},
		trial{"one worker has too few", func(h *story) { h.spread(map[string]int{"w0": 7, "w1": 7, "w2": 5, "w3": 1}, in("work")) }, violated + "1 on w3"},
		trial{"one worker is never seen", func(h *story) { h.spread(map[string]int{"w0": 7, "w1": 7, "w2": 6}, in("work")) }, violated + "0 on w3"},
		trial{"even as a whole and uneven in one shape", func(h *story) {
			h.spread(even, in("work"))
			h.spread(map[string]int{"w1": 7, "w2": 7, "w3": 6}, in("work"), completions)
			h.spread(map[string]int{"w0": 9, "w1": 4, "w2": 3, "w3": 4}, in("work"), streamed(2))
		}, violated + "completions stream=false kept=false"},
		trial{"the same over kept-alive connections", func(h *story) {
			h.spread(map[string]int{"w0": 20}, in("work"), func(q *told) { q.Kept = true })
		}, violated + "kept=true"},
		trial{"a retried request counts where it was answered", func(h *story) {
			h.spread(map[string]int{"w0": 9, "w1": 5, "w2": 4}, in("work"))
			h.ask("w0 w3", in("work"))
			h.ask("w0 w3", in("work"))
		}, ""},
		trial{"another phase does not count", func(h *story) { h.spread(even, in("work")); h.spread(map[string]int{"w0": 20}) }, ""},
		trial{"too few to decide", func(h *story) { h.spread(map[string]int{"w0": 19}, in("work")) }, doubt + "19 of 20"},
		trial{"enough sent, too few at workers", func(h *story) {
			h.spread(map[string]int{"w0": 5, "w1": 5, "w2": 5, "w3": 4}, in("work"))
			h.ask("", in("work"), answered(502))
		}, doubt + "19 of 20"},
		trial{"a violation in one cell outweighs a doubt in another", func(h *story) {
			h.spread(map[string]int{"w0": 20}, in("work"))
			h.ask("w1", in("work"), completions)
		}, violated + "20 on w0"},
		trial{"nothing was sent", nil, doubt + "no request"},
	)
}

func TestShareByPhaseSeesAHerdThatChangesItsWorker(t *testing.T) {
	herd := func(h *story) {
		for i, w := range []string{"w0", "w1", "w2", "w3"} {
			h.spread(map[string]int{w: 5}, in([]string{"a", "b", "c", "d"}[i]))
		}
	}
	try(t, judge.Share(judge.ByPhase, 5, 0, 4, nil), trial{"herding", herd, violated + "5 on w0"})
	try(t, judge.Share(judge.ByShape, 20, 2, 9, nil), trial{"even over all bursts", herd, ""})
}

func TestShareCountsAWorkerThatJoined(t *testing.T) {
	try(t, judge.Share(judge.ByPhase, 20, 1, 20, []string{"w0", "w1", "w2", "w3", "w4"}),
		trial{"used", func(h *story) { h.spread(even); h.ask("w4") }, ""},
		trial{"ignored", func(h *story) { h.spread(even) }, violated + "0 on w4"},
	)
}

func TestShareRemembersNothingOfAnotherHistory(t *testing.T) {
	j := judge.Share(judge.ByPhase, 2, 1, 2, nil)
	first := of("w0", "w1")
	first.spread(map[string]int{"w0": 1, "w1": 1})
	second := of("w2", "w3")
	second.spread(map[string]int{"w2": 1, "w3": 1})
	for _, h := range []*story{first, second} {
		if f := j(&h.History); len(f.Violations) > 0 || f.Inconclusive != "" {
			t.Errorf("workers %v: found %+v, want nothing", h.Workers, f)
		}
	}
}

func TestShareWithoutWorkersDoesNotFail(t *testing.T) {
	h := of()
	h.ask("", answered(503))
	if f := judge.Share(judge.ByPhase, 0, 0, 1, nil)(&h.History); len(f.Violations) > 0 {
		t.Errorf("found %+v", f)
	}
}

func TestNoneForbidsRequestsOnAWorkerThatLeft(t *testing.T) {
	try(t, judge.None(judge.Marked("leave"), "after"),
		trial{"none", func(h *story) { h.ask("w1", in("before")); h.mark("leave", "w1", "begins"); h.ask("w0", in("after")) }, ""},
		trial{"one was dispatched to it", func(h *story) {
			h.mark("leave", "w1", "begins")
			h.ask("w0", in("after"))
			h.ask("w1", in("after"))
		}, violated + "worker w1"},
		trial{"one was tried there first", func(h *story) { h.mark("leave", "w1", "begins"); h.ask("w1 w0", in("after")) }, violated + "worker w1"},
		trial{"nobody left", func(h *story) { h.ask("w0", in("after")) }, doubt + "no worker left"},
		trial{"nothing was sent after it", func(h *story) { h.ask("w0"); h.mark("leave", "w1", "begins") }, doubt + "no request"},
		trial{"nothing at all", nil, doubt + "no worker left"},
	)
}

func TestMarkedIsTheWorkerOfTheFirstSuchMark(t *testing.T) {
	h := of("w0")
	h.mark("fault", "w2", "hang")
	h.mark("join", "w4", "begins")
	h.mark("join", "w5", "begins")
	if got := judge.Marked("join")(&h.History); got != "w4" {
		t.Errorf("joined %q, want w4", got)
	}
	if got := judge.Marked("leave")(&history.History{}); got != "" {
		t.Errorf("left %q, want nobody", got)
	}
}
