package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

func TestAskedAtWantsThePinsWorkerAndRank(t *testing.T) {
	pinnedTo := func(w script.Where) opt { return func(q *told) { q.Pin = &w } }
	// bound tells of a session that a pin bound, and one answer about it.
	bound := func(at script.Where, text string, opts ...opt) func(*story) {
		return func(h *story) { h.turn("s", at.Worker, pinnedTo(at)); h.question("s", text, opts...) }
	}
	zero, two := script.On("w1", 0), script.On("w1", 2)
	try(t, judge.AskedAt(1, "asked"),
		trial{"its worker", bound(script.At("w1"), `{"worker":"w1","bound":true}`), ""},
		trial{"its worker, and a rank of its own", bound(script.At("w1"), `{"worker":"w1","rank":3,"bound":true}`), ""},
		trial{"its rank", bound(two, `{"worker":"w1","rank":2,"bound":true}`), ""},
		trial{"rank 0", bound(zero, `{"worker":"w1","rank":0,"bound":true}`), ""},
		trial{"rank 0 left out", bound(zero, `{"worker":"w1","bound":true}`), violated + "names rank 0"},
		trial{"another rank", bound(two, `{"worker":"w1","rank":0,"bound":true}`), violated + "names rank 2"},
		trial{"a rank that is text", bound(two, `{"worker":"w1","rank":"2","bound":true}`), violated + "names rank 2"},
		trial{"a rank that is null", bound(zero, `{"worker":"w1","rank":null,"bound":true}`), violated + "names rank 0"},
		trial{"another worker", bound(two, `{"worker":"w2","rank":2,"bound":true}`), violated + "pin's worker"},
		trial{"no JSON", bound(two, `w1`), violated + "pin's worker"},
		trial{"refused", bound(two, `{"worker":"w1","rank":2,"bound":true}`, answered(404)), violated + "status 404"},
		trial{"left waiting", bound(two, ``, ended(history.Timeout)), violated + "timeout"},
		trial{"the question's own pin", func(h *story) { h.question("s", `{"worker":"w1","rank":2,"bound":false}`, pinnedTo(two)) }, ""},
		trial{"not the question's own pin", func(h *story) { h.question("s", `{"worker":"w2","bound":false}`, pinnedTo(two)) }, violated + "pin's worker"},
		trial{"a pinned turn that failed", func(h *story) {
			h.turn("s", "w1", pinnedTo(two), status(500))
			h.question("s", `{"worker":"w2","bound":false}`)
		}, doubt + "0 of 1"},
		trial{"a session without a pin", func(h *story) { h.turn("s", "w1"); h.question("s", `{"worker":"w1","bound":true}`) }, doubt + "0 of 1"},
		trial{"nothing asked", func(h *story) { h.turn("s", "w1", pinnedTo(two), in("asked")) }, doubt + "0 of 1"},
	)
}
