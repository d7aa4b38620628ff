package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// split tells of a request that is served in two phases, well unless an option says
// otherwise: all but the last of the workers prefill, and those but the last of them
// broke before their headers.
func (h *story) split(session, workers string, opts ...opt) {
	at := len(h.Attempts)
	well := func(q *told) {
		for i := range q.tries {
			a := &q.tries[i]
			a.Role, a.MaxTokens, a.Rank = history.Prefill, 1, ledger.NoRank
			if i == len(q.tries)-1 {
				a.Role, a.MaxTokens = history.Decode, 8
				a.Handoff = &ledger.Handoff{Outcome: ledger.Consumed, Issuer: at + i - 1}
			}
			if i == len(q.tries)-2 {
				a.Status, a.HeadersAt, a.End, a.SentSHA256 = 200, a.Arrived, ledger.Complete, "prefill of "+q.Key
			}
		}
	}
	h.turn(session, workers, append([]opt{well}, opts...)...)
}

// attempt changes an attempt by its number.
func attempt(i int, change func(a *ledger.Attempt)) opt {
	return func(q *told) { change(&q.tries[i]) }
}

func TestHandedWantsOnePrefillAndItsDecode(t *testing.T) {
	used := func(o ledger.Outcome) opt { return attempt(1, func(a *ledger.Attempt) { a.Handoff.Outcome = o }) }
	try(t, judge.Handed(1, "served"),
		trial{"one of each", func(h *story) { h.split("", "p0 d0", in("served")) }, ""},
		trial{"a prefill that broke before headers first", func(h *story) { h.split("", "p0 p1 d0", in("served")) }, ""},
		trial{"a decode that broke before headers first", func(h *story) {
			h.split("", "p0 d1 d0", in("served"), roles("pdd"), attempt(0, func(a *ledger.Attempt) { a.HeadersAt = a.Arrived }), attempt(1, func(a *ledger.Attempt) { a.HeadersAt = ledger.Unset }),
				attempt(2, func(a *ledger.Attempt) { a.Handoff.Issuer = 0 }))
		}, ""},
		trial{"prefilled again for the second decode", func(h *story) { h.again() }, ""},
		trial{"and once too often", func(h *story) {
			h.split("", "p0 p0 d1 p0 d0", in("served"), roles("ppdpd"), func(q *told) {
				for i := range q.tries {
					q.tries[i].HeadersAt = q.tries[i].Arrived
				}
				q.tries[2].HeadersAt = ledger.Unset
			})
		}, violated + "3 and 1"},
		trial{"the first decode's hand-off again, which that had fetched", func(h *story) {
			h.again(attempt(3, func(a *ledger.Attempt) { a.Handoff.Outcome, a.Handoff.Issuer = ledger.Reused, 0 }))
		}, violated + string(ledger.Reused)},
		trial{"prefilled again without a decode that broke", func(h *story) {
			h.again(attempt(1, func(a *ledger.Attempt) { a.Role = history.Prefill }))
		}, violated + "2 and 1"},
		trial{"sent twice by the client over a connection that was closed", func(h *story) {
			h.split("", "p0 d0 p1 d1", in("served"), roles("pdpd"), func(q *told) {
				q.Resent = true
				for i := range q.tries {
					q.tries[i].HeadersAt, q.tries[i].Handoff = q.tries[i].Arrived, &ledger.Handoff{Outcome: ledger.Consumed, Issuer: i - 1}
				}
			})
		}, ""},
		trial{"a prefill that answered twice", func(h *story) {
			h.split("", "p0 p1 d0", in("served"), attempt(0, func(a *ledger.Attempt) { a.HeadersAt, a.Status = a.Arrived, 500 }))
		}, violated + "2 and 1"},
		trial{"no prefill", func(h *story) { h.split("", "d0", in("served")) }, violated + "0 and 1"},
		trial{"no decode", func(h *story) { h.split("", "p0 p1", in("served"), roles("pp")) }, violated + "2 and 0"},
		trial{"two decodes", func(h *story) {
			h.split("", "p0 d0 d1", in("served"), roles("pdd"), attempt(0, func(a *ledger.Attempt) { a.HeadersAt = a.Arrived }))
		}, violated + "1 and 2"},
		trial{"a worker that does both, besides", func(h *story) {
			h.split("", "p0 w0 d0", in("served"), roles("pad"), attempt(0, func(a *ledger.Attempt) { a.HeadersAt = a.Arrived }))
		}, violated + "1 at workers that do both"},
		trial{"a prefill of all tokens", func(h *story) {
			h.split("", "p0 d0", in("served"), attempt(0, func(a *ledger.Attempt) { a.MaxTokens = 8 }))
		}, violated + "8 tokens"},
		trial{"a prefill without a limit", func(h *story) {
			h.split("", "p0 d0", in("served"), attempt(0, func(a *ledger.Attempt) { a.MaxTokens = 0 }))
		}, violated + "0 tokens"},
		trial{"a prefill that streams", func(h *story) {
			h.split("", "p0 d0", in("served"), attempt(0, func(a *ledger.Attempt) { a.Stream = true }))
		}, violated + "stream true"},
		trial{"a hand-off left out", func(h *story) {
			h.split("", "p0 d0", in("served"), attempt(1, func(a *ledger.Attempt) { a.Handoff = nil }))
		}, violated + "absent"},
		trial{"one that was used before", func(h *story) { h.split("", "p0 d0", in("served"), used(ledger.Reused)) }, violated + string(ledger.Reused)},
		trial{"one that was altered", func(h *story) { h.split("", "p0 d0", in("served"), used(ledger.Altered)) }, violated + string(ledger.Altered)},
		trial{"one that another request's prefill left", func(h *story) {
			h.split("", "p0 d0", in("before"))
			h.split("", "p0 d0", in("served"), attempt(1, func(a *ledger.Attempt) { a.Handoff.Issuer = 0 }))
		}, violated + "another request's blocks"},
		trial{"two hand-offs crossed", func(h *story) {
			h.split("", "p0 d0", in("served"), attempt(1, func(a *ledger.Attempt) { a.Handoff.Issuer = 2 }))
			h.split("", "p0 d0", in("served"), attempt(1, func(a *ledger.Attempt) { a.Handoff.Issuer = 0 }))
		}, violated + "another request's blocks (2 times)"},
		trial{"the prefill's answer for the client", func(h *story) {
			h.split("", "p0 d0", in("served"), func(q *told) { q.BodySHA256 = "prefill of " + q.Key })
		}, violated + "the prefill worker's"},
		trial{"refused by the prefill worker", func(h *story) { h.split("", "p0 d0", in("served"), roles("pp"), answered(400)) }, doubt + "0 of 1"},
		trial{"nothing sent", func(h *story) { h.split("", "p0 d0", in("else")) }, doubt + "0 of 1"},
	)
}

// again tells of a request whose first decode broke before its headers, and that was
// prefilled anew for the second.
func (h *story) again(opts ...opt) {
	at := len(h.Attempts)
	h.split("", "p0 d1 p0 d0", append([]opt{in("served"), roles("pdpd"), func(q *told) {
		for i := range q.tries {
			q.tries[i].HeadersAt = q.tries[i].Arrived
		}
		q.tries[1].HeadersAt = ledger.Unset
		q.tries[3].Handoff.Issuer = at + 2
	}}, opts...)...)
}

func TestHandedAtLastAllowsForDecodesWithoutATrace(t *testing.T) {
	prefilled := func(workers, rs string) func(h *story) {
		return func(h *story) {
			h.split("", workers, in("served"), roles(rs), func(q *told) {
				for i := range q.tries {
					q.tries[i].HeadersAt = q.tries[i].Arrived
				}
			})
		}
	}
	try(t, judge.HandedAtLast(1, "served"),
		trial{"one of each", func(h *story) { h.split("", "p0 d0", in("served")) }, ""},
		trial{"prefilled for each of several tries", prefilled("p0 p0 p0 d0", "pppd"), ""},
		trial{"without an end", prefilled("p0 p0 p0 p0 p0 p0 d0", "ppppppd"), violated + "6 and 1"},
		trial{"two decodes", prefilled("p0 d0 d1", "pdd"), violated + "1 and 2"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestOnlyShowsAJudgeOneRole(t *testing.T) {
	try(t, judge.Only(history.Prefill, judge.Sticks(1)),
		trial{"prefill sticks, decode does not", func(h *story) { h.split("s", "p0 d0"); h.split("s", "p0 d1") }, ""},
		trial{"decode sticks, prefill does not", func(h *story) { h.split("s", "p0 d0"); h.split("s", "p1 d0") }, violated + "at prefill workers: every turn"},
		trial{"no prefill", func(h *story) { h.turn("s", "w0"); h.turn("s", "w0") }, doubt + "at prefill workers: only 0"},
	)
	try(t, judge.Only(history.Prefill, judge.Share(judge.ByPhase, 2, 1, 1, nil)),
		trial{"each of its workers has a share", func(h *story) {
			h.Workers, h.Fleet = []string{"p0", "p1", "d0"}, []history.Worker{{ID: "p0", Role: history.Prefill}, {ID: "p1", Role: history.Prefill}, {ID: "d0", Role: history.Decode}}
			h.split("", "p0 d0")
			h.split("", "p1 d0")
		}, ""})
	fixed := judge.Finding{Violations: []judge.Violation{{Expected: "this"}}}
	try(t, judge.Only(history.Decode, func(*history.History) judge.Finding { return fixed }),
		trial{"a finding that is the judge's own stays as it is", nil, violated + "at decode workers: this"})
	if fixed.Violations[0].Expected != "this" {
		t.Errorf("it was changed to %q", fixed.Violations[0].Expected)
	}
}

func TestUntouchedWantsNothingAtTheRole(t *testing.T) {
	try(t, judge.Untouched(history.Decode, 1, "failed"),
		trial{"prefill alone", func(h *story) { h.ask("p0", in("failed"), roles("p"), status(500)) }, ""},
		trial{"decoded all the same", func(h *story) { h.split("", "p0 d0", in("failed")) }, violated + "a request there"},
		trial{"decoded in an attempt that broke", func(h *story) { h.ask("d0 p0", in("failed"), roles("dp"), status(500)) }, violated + "a request there"},
		trial{"decoded in another phase", func(h *story) { h.ask("p0", in("failed"), roles("p"), status(500)); h.split("", "p0 d0", in("after")) }, ""},
		trial{"reached nobody", func(h *story) { h.ask("", in("failed"), answered(503)) }, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestRankFreeFindsARankThatLeaks(t *testing.T) {
	const n = 40
	tell := func(rankOf func(i int) opt) func(h *story) {
		return func(h *story) {
			for i := range n {
				h.split("", "p0 d0", pin(script.On("d0", 3)), rankOf(i))
			}
		}
	}
	try(t, judge.RankFree(history.Prefill, n),
		trial{"the engine chooses", tell(func(i int) opt { return engineRank(i % 4) }), ""},
		trial{"the engine chooses the same by chance", tell(func(int) opt { return engineRank(3) }), ""},
		trial{"the router names ranks of its own", tell(func(i int) opt { return rank(i % 4) }), ""},
		trial{"it leaks", tell(func(int) opt { return rank(3) }), violated + "40 of 40"},
		trial{"it leaks in every second", tell(func(i int) opt {
			if i%2 == 0 {
				return rank(3)
			}
			return engineRank(i % 4)
		}), violated + "20 of 20"},
		trial{"it leaks nearly always", tell(func(i int) opt {
			if i < 2 {
				return rank(0)
			}
			return rank(3)
		}), violated + "38 of 40"},
		trial{"it is named so seldom that it may be chance", tell(func(i int) opt {
			if i == 0 {
				return rank(3)
			}
			return engineRank(i % 4)
		}), doubt + "all 1 requests"},
		trial{"there are no ranks", tell(func(int) opt { return ranks(ledger.NoRank, ledger.RankNone) }), doubt + "0 of 40"},
		trial{"nothing was pinned", func(h *story) { h.split("", "p0 d0", rank(3)) }, doubt + "0 of 40"},
		trial{"nothing was prefilled", func(h *story) { h.ask("d0", roles("d"), pin(script.On("d0", 3)), rank(3)) }, doubt + "0 of 40"},
		trial{"nothing sent", nil, doubt + "0 of 40"},
	)
}
