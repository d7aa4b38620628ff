package judge_test

import (
	"fmt"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestQuietAfterForbidsDispatchesAfterTheMark(t *testing.T) {
	left := func(h *story, workers string, opts ...opt) {
		h.turn("s", workers, append(opts, in("leaves"), ended(history.Cancelled))...)
	}
	late := func(q *told) { // it reached its worker long after it was sent
		for i := range q.tries {
			q.tries[i].Arrived += 50 * ms
		}
	}
	try(t, judge.QuietAfter("let go", 2, "leaves"),
		trial{"none reached a worker", func(h *story) { left(h, ""); left(h, ""); h.mark("note", "", "let go"); h.turn("s", "w0", in("stays")) }, ""},
		trial{"some had reached one before", func(h *story) { left(h, "w1"); left(h, ""); h.mark("note", "", "let go") }, ""},
		trial{"one reaches a worker then", func(h *story) { left(h, ""); left(h, "w2", late); h.mark("note", "", "let go") }, violated + "no dispatch once let go (phase leaves"},
		trial{"others may", func(h *story) {
			left(h, "")
			left(h, "")
			h.turn("s", "w0", in("stays"), late)
			h.mark("note", "", "let go")
		}, ""},
		trial{"too few were sent before", func(h *story) { left(h, ""); h.mark("note", "", "let go"); left(h, "") }, doubt + "1 of 2"},
		trial{"no such mark", func(h *story) { left(h, "w1"); left(h, "w1"); h.mark("note", "", "another") }, doubt + "no mark"},
		trial{"nothing was sent", nil, doubt + "no mark"},
	)
}

func TestElsewhereLooksAtSessionsThatMoved(t *testing.T) {
	session := func(h *story, id string, before, after string, then ...string) {
		h.turn(id, before, in("before"))
		h.turn(id, after, in("after"))
		for _, w := range then {
			h.turn(id, w, in("then"))
		}
	}
	try(t, judge.Elsewhere("before", "after", 2, judge.Settled(2, "after", "then")),
		trial{"they stay where they went", func(h *story) { session(h, "s1", "w0", "w1", "w1"); session(h, "s2", "w0", "w2", "w2") }, ""},
		trial{"one moves again", func(h *story) {
			session(h, "s1", "w0", "w1", "w1", "w0")
			session(h, "s2", "w0", "w2", "w2")
		}, violated + "moved again"},
		trial{"one that came back may move", func(h *story) {
			for i := range 2 {
				session(h, fmt.Sprint("s", i), "w0", "w1", "w1")
			}
			session(h, "back", "w0", "w0", "w3")
		}, ""},
		trial{"too few moved", func(h *story) { session(h, "s1", "w0", "w1", "w1"); session(h, "s2", "w0", "w0", "w0") }, doubt + "1 of 2"},
		trial{"one was not served after", func(h *story) {
			session(h, "s1", "w0", "w1", "w1")
			h.turn("s2", "w0", in("before"))
			h.turn("s2", "w1", in("after"), status(503))
		}, doubt + "1 of 2"},
		trial{"nothing was sent", nil, doubt + "0 of 2"},
	)
}
