package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// question tells of a question about a session and its answer.
func (h *story) question(session, answer string, opts ...opt) {
	h.turn(session, "", append([]opt{in("asked"), asks, func(q *told) { q.Body = []byte(answer) }}, opts...)...)
}

func TestAskedWantsTheBindingAndNoTrace(t *testing.T) {
	// answer tells of a bound session and one answer about it.
	answer := func(text string, opts ...opt) func(*story) {
		return func(h *story) { h.turn("s", "w1"); h.question("s", text, opts...) }
	}
	try(t, judge.Asked(true, 1, "asked"),
		trial{"its worker", answer(`{"worker":"w1","bound":true}`), ""},
		trial{"its worker and more", answer(`{"bound":true,"worker":"w1","rank":0}`), ""},
		trial{"another worker", answer(`{"worker":"w2","bound":true}`), violated + "another worker"},
		trial{"no worker", answer(`{"worker":"","bound":true}`), violated + "another worker"},
		trial{"not bound", answer(`{"worker":"w1","bound":false}`), violated + "bound: false"},
		trial{"bound as a string", answer(`{"worker":"w1","bound":"true"}`), violated + "an answer {"},
		trial{"bound as null", answer(`{"worker":"w1","bound":null}`), violated + "an answer {"},
		trial{"no bound", answer(`{"worker":"w1"}`), violated + "an answer {"},
		trial{"no worker member", answer(`{"bound":true}`), violated + "an answer {"},
		trial{"a worker that is a number", answer(`{"worker":1,"bound":true}`), violated + "an answer {"},
		trial{"members in another case", answer(`{"Worker":"w1","Bound":true}`), violated + "an answer {"},
		trial{"a list", answer(`[{"worker":"w1","bound":true}]`), violated + "an answer {"},
		trial{"null", answer(`null`), violated + "an answer {"},
		trial{"not JSON", answer(`w1`), violated + "an answer {"},
		trial{"an answer with more behind it", answer(`{"worker":"w1","bound":true} yes`), violated + "an answer {"},
		trial{"nothing", answer(``), violated + "an answer {"},
		trial{"refused", answer(`{"worker":"w1","bound":true}`, answered(404)), violated + "status 404"},
		trial{"another 2xx", answer(`{"worker":"w1","bound":true}`, answered(204)), violated + "status 204"},
		trial{"left waiting", answer(``, ended(history.Timeout)), violated + "timeout"},
		trial{"cut off", answer(`{"worker":"w1","bound":true}`, ended(history.Truncated)), violated + "truncated"},
		trial{"dispatched, too", func(h *story) {
			h.turn("s", "w1")
			h.turn("s", "w1", in("asked"), asks, func(q *told) { q.Body = []byte(`{"worker":"w1","bound":true}`) })
		}, violated + "a dispatch to w1"},
		trial{"the worker of a retry's last attempt", func(h *story) { h.turn("s", "w2 w1"); h.question("s", `{"worker":"w1","bound":true}`) }, ""},
		trial{"the worker of a retry's first attempt", func(h *story) { h.turn("s", "w2 w1"); h.question("s", `{"worker":"w2","bound":true}`) }, violated + "another worker"},
		trial{"the worker before a turn that failed elsewhere", func(h *story) {
			h.turn("s", "w1")
			h.turn("s", "w2", status(500))
			h.question("s", `{"worker":"w1","bound":true}`)
		}, ""},
		trial{"the worker of a later turn", func(h *story) {
			h.turn("s", "w1")
			h.question("s", `{"worker":"w2","bound":true}`)
			h.turn("s", "w2")
		}, violated + "another worker"},
		trial{"of a session of which no turn was seen", func(h *story) { h.turn("t", "w1"); h.question("s", `{"worker":"w1","bound":true}`) }, doubt + "0 of 1"},
		trial{"without a session", func(h *story) { h.ask("w1"); h.question("", `{"worker":"w1","bound":true}`) }, doubt + "0 of 1"},
		trial{"turns alone", func(h *story) { h.turn("s", "w1", in("asked")) }, doubt + "0 of 1"},
		trial{"nothing asked", nil, doubt + "0 of 1"},
	)
}

func TestAskedOfASessionThatIsNotBound(t *testing.T) {
	left := func(text string) func(*story) {
		return func(h *story) {
			h.mark("leave", "w1", text)
			h.pause(ms)
			h.question("s", `{"worker":"w1","bound":false}`)
		}
	}
	try(t, judge.Asked(false, 1, "asked"),
		trial{"where it would go", func(h *story) { h.question("s", `{"worker":"w1","bound":false}`) }, ""},
		trial{"nowhere", func(h *story) { h.question("s", `{"worker":"","bound":false}`) }, ""},
		trial{"bound", func(h *story) { h.question("s", `{"worker":"w1","bound":true}`) }, violated + "bound: true"},
		trial{"to a worker that has left", left("verified"), violated + "names no worker that has left; observed worker w1"},
		trial{"to one that is about to", left("begins"), ""},
		trial{"to one that left later", func(h *story) { h.question("s", `{"worker":"w1","bound":false}`); h.mark("leave", "w1", "verified") }, ""},
		trial{"to one that is back", func(h *story) {
			h.mark("leave", "w1", "verified")
			h.mark("join", "w1", "begins")
			h.question("s", `{"worker":"w1","bound":false}`)
		}, ""},
		trial{"nothing asked", func(h *story) { h.turn("s", "w1", in("asked")) }, doubt + "0 of 1"},
	)
}

func TestCompetedWantsNamesOfSessionsAtTwoWorkers(t *testing.T) {
	naming := func(ids ...string) opt {
		return func(q *told) { q.SentHeader = map[string][]string{"Thread-Id": ids[:1], "Session-Id": ids[1:]} }
	}
	bound := func(s, w string) func(*story) { return func(h *story) { h.turn(s, w, in("bind")) } }
	rule := func(where string, ids ...string) func(*story) {
		return func(h *story) {
			bound("s", "w1")(h)
			bound("t", where)(h)
			h.turn("s", "w1", in("rule"), naming(ids...))
		}
	}
	try(t, judge.Competed(1, "bind"),
		trial{"two that are apart", rule("w2", "s", "t"), ""},
		trial{"two in one header", rule("w2", "x", "s", "t"), ""},
		trial{"two at one worker", rule("w1", "s", "t"), doubt + "0 of 1"},
		trial{"one alone", rule("w2", "s"), doubt + "0 of 1"},
		trial{"one beside a stranger", rule("w2", "s", "u"), doubt + "0 of 1"},
		trial{"a part of a name", rule("w2", "s", "t2"), doubt + "0 of 1"},
		trial{"one whose competitor was never served", func(h *story) {
			bound("s", "w1")(h)
			h.turn("t", "w2", in("bind"), status(500))
			h.turn("s", "w1", in("rule"), naming("s", "t"))
		}, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
	try(t, judge.Competed(2, "bind"), trial{"the same session twice", func(h *story) {
		rule("w2", "s", "t")(h)
		h.turn("s", "w1", in("rule"), naming("s", "t"))
	}, doubt + "1 of 2"})
}
