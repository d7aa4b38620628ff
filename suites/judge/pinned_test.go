package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// pin is where a request asks to be served.
func pin(w script.Where) opt { return func(q *told) { q.Pin = &w } }

// prefillPin is where it asks to be prefilled.
func prefillPin(w script.Where) opt { return func(q *told) { q.PrefillPin = &w } }

// rank is the rank of all attempts, by the router's word.
func rank(n int) opt { return ranks(n, ledger.RankRequested) }

// engineRank is one that the engine chose.
func engineRank(n int) opt { return ranks(n, ledger.RankEngine) }

func ranks(n int, by ledger.RankChoice) opt {
	return func(q *told) {
		for i := range q.tries {
			q.tries[i].Rank, q.tries[i].RankChoice = n, by
		}
	}
}

// roles are those of the workers that were tried, in order: p, d or a.
func roles(s string) opt {
	return func(q *told) {
		for i, c := range s {
			q.tries[i].Role = map[rune]string{'p': history.Prefill, 'd': history.Decode, 'a': "aggregated"}[c]
		}
	}
}

func asks(q *told) { q.Asks = true }

func TestAsPinnedWantsThePinsWorkerAndRankAndNobodyElse(t *testing.T) {
	w1, w1r0 := pin(script.At("w1")), pin(script.On("w1", 0))
	try(t, judge.AsPinned(1, "pinned"),
		trial{"at the worker", func(h *story) { h.ask("w1", in("pinned"), w1) }, ""},
		trial{"at the worker, twice", func(h *story) { h.ask("w1 w1", in("pinned"), w1) }, ""},
		trial{"at any of its ranks, which the pin leaves open", func(h *story) { h.ask("w1", in("pinned"), w1, engineRank(3)) }, ""},
		trial{"at the rank", func(h *story) { h.ask("w1", in("pinned"), w1r0, rank(0)) }, ""},
		trial{"at another worker", func(h *story) { h.ask("w2", in("pinned"), w1) }, violated + "another worker"},
		trial{"at another before the right one", func(h *story) { h.ask("w2 w1", in("pinned"), w1) }, violated + "another worker"},
		trial{"at another after the right one", func(h *story) { h.ask("w1 w2", in("pinned"), w1, status(503)) }, violated + "another worker"},
		trial{"at another rank", func(h *story) { h.ask("w1", in("pinned"), w1r0, rank(1)) }, violated + "rank 1 (requested)"},
		trial{"at the rank by the engine's choice", func(h *story) { h.ask("w1", in("pinned"), w1r0, engineRank(0)) }, violated + "rank 0 (engine)"},
		trial{"at no rank", func(h *story) { h.ask("w1", in("pinned"), w1r0, ranks(ledger.NoRank, ledger.RankNone)) }, violated + "no rank"},
		trial{"refused", func(h *story) { h.ask("", in("pinned"), w1, answered(400)) }, doubt + "0 of 1"},
		trial{"failed at the worker", func(h *story) { h.ask("w1", in("pinned"), w1, status(500)) }, doubt + "0 of 1"},
		trial{"answered by nobody", func(h *story) { h.ask("", in("pinned"), w1) }, doubt + "0 of 1"},
		trial{"without a pin", func(h *story) { h.ask("w2", in("pinned")) }, doubt + "0 of 1"},
		trial{"a rank of no worker", func(h *story) { z := 0; h.ask("w2", in("pinned"), pin(script.Where{Rank: &z})) }, doubt + "0 of 1"},
		trial{"in another phase", func(h *story) { h.ask("w2", in("else"), w1) }, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestAsPinnedGivesEachPhaseItsOwnPin(t *testing.T) {
	decode, prefill := pin(script.On("w1", 3)), prefillPin(script.On("w0", 0))
	at := func(p, d int) opt {
		return func(q *told) { rank(p)(q); q.last().Rank = d }
	}
	try(t, judge.AsPinned(1),
		trial{"both", func(h *story) { h.ask("w0 w1", roles("pd"), decode, prefill, at(0, 3)) }, ""},
		trial{"a prefill that is free", func(h *story) { h.ask("w2 w1", roles("pd"), decode, at(2, 3)) }, ""},
		trial{"a decode that is free", func(h *story) { h.ask("w0 w2", roles("pd"), prefill, at(0, 2)) }, ""},
		trial{"a decode rank that leaks into prefill", func(h *story) { h.ask("w0 w1", roles("pd"), decode, prefill, at(3, 3)) }, violated + "rank 3"},
		trial{"a prefill rank that leaks into decode", func(h *story) { h.ask("w0 w1", roles("pd"), decode, prefill, at(0, 0)) }, violated + "rank 0"},
		trial{"workers swapped", func(h *story) { h.ask("w1 w0", roles("pd"), decode, prefill, at(0, 3)) }, violated + "another worker"},
		trial{"a prefill retried elsewhere", func(h *story) { h.ask("w0 w2 w1", roles("ppd"), decode, prefill, at(0, 3)) }, violated + "another worker"},
		trial{"no prefill", func(h *story) { h.ask("w1", roles("d"), decode, prefill, rank(3)) }, doubt + "0 of 1"},
		trial{"no decode", func(h *story) { h.ask("w0", roles("p"), decode, prefill, rank(0)) }, doubt + "0 of 1"},
	)
}

func TestSticksToRankWantsOneNamedRank(t *testing.T) {
	try(t, judge.SticksToRank(1, "bound"),
		trial{"two turns at rank 0", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "w1", in("bound"), rank(0)) }, ""},
		trial{"two sessions at two ranks", func(h *story) {
			for i, s := range []string{"s", "t", "s", "t"} {
				h.turn(s, "w1", in("bound"), rank(i%2))
			}
		}, ""},
		trial{"another rank", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "w1", in("bound"), rank(1)) }, violated + "turns at two"},
		trial{"the same rank of another worker", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "w2", in("bound"), rank(0)) }, violated + "turns at two"},
		trial{"another worker before the right one", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "w2 w1", in("bound"), rank(0)) }, violated + "turns at two"},
		trial{"the right rank by the engine's choice", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "w1", in("bound"), engineRank(0)) }, violated + "rank 0 (engine)"},
		trial{"no ranks at all", func(h *story) {
			none := ranks(ledger.NoRank, ledger.RankNone)
			h.turn("s", "w1", in("bound"), none)
			h.turn("s", "w1", in("bound"), none)
		}, violated + "no rank"},
		trial{"one turn that was tried twice", func(h *story) { h.turn("s", "w1 w1", in("bound"), rank(0)) }, doubt + "0 of 1"},
		trial{"a second turn that was refused", func(h *story) { h.turn("s", "w1", in("bound"), rank(0)); h.turn("s", "", in("bound"), answered(400)) }, doubt + "0 of 1"},
		trial{"no sessions", func(h *story) { h.ask("w1", in("bound"), rank(0)); h.ask("w1", in("bound"), rank(0)) }, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestFollowsPinWantsTurnsWhereTheLastPinBound(t *testing.T) {
	w1, w2 := pin(script.At("w1")), pin(script.At("w2"))
	try(t, judge.FollowsPin(1),
		trial{"after its pin", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "w1") }, ""},
		trial{"after the later of two", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "w2", w2); h.turn("s", "w2") }, ""},
		trial{"after the earlier, the later being refused", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "", w2, answered(400)); h.turn("s", "w1") }, ""},
		trial{"after a question with another pin", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "", w2, asks); h.turn("s", "w1") }, ""},
		trial{"elsewhere", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "w2") }, violated + "another worker"},
		trial{"elsewhere first", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "w2 w1") }, violated + "another worker"},
		trial{"where the refused pin pointed", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "", w2, answered(400)); h.turn("s", "w2") }, violated + "another worker"},
		trial{"before its pin", func(h *story) { h.turn("s", "w2"); h.turn("s", "w1", w1) }, doubt + "0 of 1"},
		trial{"in another session", func(h *story) { h.turn("s", "w1", w1); h.turn("t", "w2") }, doubt + "0 of 1"},
		trial{"keyless", func(h *story) { h.ask("w1", w1); h.ask("w2") }, doubt + "0 of 1"},
		trial{"refused", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "", answered(503)) }, doubt + "0 of 1"},
		trial{"after a pin that was never served", func(h *story) { h.turn("s", "w1", w1, status(500)); h.turn("s", "w2") }, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
	try(t, judge.FollowsPin(2), trial{"one turn that was tried twice", func(h *story) { h.turn("s", "w1", w1); h.turn("s", "w1 w1") }, doubt + "1 of 2"})
}

func TestNamedOrRefusedWantsTheNamedWorkerOrNone(t *testing.T) {
	try(t, judge.NamedOrRefused("pinned"),
		trial{"refused", func(h *story) { h.ask("", in("pinned"), pin(script.At("p0")), answered(400)) }, ""},
		trial{"served whole by the worker that it names", func(h *story) { h.ask("p0", in("pinned"), pin(script.At("p0"))) }, ""},
		trial{"decoded there", func(h *story) { h.ask("p1 p0", in("pinned"), pin(script.At("p0"))) }, ""},
		trial{"served elsewhere", func(h *story) { h.ask("p1 d0", in("pinned"), pin(script.At("p0"))) }, violated + "200"},
		trial{"refused after a dispatch elsewhere", func(h *story) { h.ask("p1", in("pinned"), pin(script.At("p0")), answered(400)) }, violated + "400"},
		trial{"an error without a dispatch", func(h *story) { h.ask("", in("pinned"), pin(script.At("p0")), answered(500)) }, violated + "500"},
		trial{"elsewhere in another phase", func(h *story) {
			h.ask("", in("pinned"), pin(script.At("p0")), answered(400))
			h.ask("d0", in("else"), pin(script.At("p0")))
		}, ""},
		trial{"nothing sent", nil, doubt + "no request"},
	)
}
