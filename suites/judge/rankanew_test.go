package judge_test

import (
	"fmt"
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// ranksOf gives all attempts a rank, and says how it was chosen.
func ranksOf(rank int, choice ledger.RankChoice) opt {
	return func(q *told) {
		for i := range q.tries {
			q.tries[i].Rank, q.tries[i].RankChoice = rank, choice
		}
	}
}

func TestRankAnewFindsARankThatIsTakenAlong(t *testing.T) {
	const n = 40
	// moves tells of sessions that a pin bound to rank 3 of w0, and of the turn of each
	// after that.
	moves := func(worker string, then func(i int) opt) func(h *story) {
		return func(h *story) {
			three := script.On("w0", 3)
			for i := range n {
				h.turn(fmt.Sprint("s", i), "w0", in("before"), func(q *told) { q.Pin = &three }, ranksOf(3, ledger.RankRequested))
			}
			for i := range n {
				h.turn(fmt.Sprint("s", i), worker, in("after"), then(i))
			}
		}
	}
	always := func(o opt) func(int) opt { return func(int) opt { return o } }
	try(t, judge.RankAnew(n, "before", "after"),
		trial{"ranks of its own", moves("w1", func(i int) opt { return ranksOf(i%4, ledger.RankRequested) }), ""},
		trial{"the engine chooses the same by chance", moves("w1", always(ranksOf(3, ledger.RankEngine))), ""},
		trial{"it is taken along", moves("w1", always(ranksOf(3, ledger.RankRequested))), violated + "40 of 40"},
		trial{"it is taken along to a second worker", moves("w1 w2", always(ranksOf(3, ledger.RankRequested))), violated + "40 of 40"},
		trial{"in a few", moves("w1", func(i int) opt {
			if i == 0 {
				return ranksOf(3, ledger.RankRequested)
			}
			return ranksOf(1, ledger.RankEngine)
		}), doubt + "all 1 sessions"},
		trial{"nobody moved", moves("w0", always(ranksOf(3, ledger.RankRequested))), doubt + "0 of 40"},
		trial{"to workers without ranks", moves("w1", always(ranksOf(ledger.NoRank, ledger.RankNone))), doubt + "0 of 40"},
		trial{"to nobody", moves("", func(int) opt { return answered(503) }), doubt + "0 of 40"},
		trial{"without a pin before", func(h *story) { h.turn("s", "w0", in("before")); h.turn("s", "w1", in("after")) }, doubt + "0 of 40"},
		trial{"nothing sent", nil, doubt + "0 of 40"},
	)
}

func TestRankFreeAtDecodeReadsThePrefillPin(t *testing.T) {
	const n = 40
	tell := func(decode int, own bool) func(h *story) {
		return func(h *story) {
			three, mine := script.On("p0", 3), script.On("d0", 3)
			for range n {
				h.split("", "p0 d0", func(q *told) {
					q.PrefillPin = &three
					if own {
						q.Pin = &mine
					}
					for i := range q.tries {
						q.tries[i].Rank, q.tries[i].RankChoice = 3, ledger.RankRequested
					}
					q.tries[1].Rank = decode
				})
			}
		}
	}
	try(t, judge.RankFree(history.Decode, n),
		trial{"another rank at decode", tell(1, false), ""},
		trial{"the rank of prefill", tell(3, false), violated + "40 of 40"},
		trial{"the same, by a pin of its own", tell(3, true), doubt + "0 of 40"},
	)
}
