package sessionindex

import (
	"fmt"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// SPX023After is R-d: one source, back to back.
func (Cases) SPX023After() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.AdmitStore("before", "S", w1, b, c).As("first")
	sc.AdmitStore("sibling", "S", w1b, "", a).As("first")
	sc.Clear(w1).Is(counts(1))
	sc.AdmitStore("after", "S", w1, "", r).As("first")
	sc.Apply("after").Is(changed)
	sc.Apply("before").Is(discarded)
	sc.Apply("sibling").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, r), at(w1b, a)))
	sc.Under("S", w1, r, x).As("first").Is(changed)
	sc.Size().Is(sized(4, 1).Discarding(1))
	return bench.Indexed("SPX-023/cleared", "stores are taken in before and after their rank is cleared, and one for its sibling, then all are applied", "the earlier one is discarded, the later one and the sibling's count, and so does what comes next: the incarnation is still open", sc)
}

// SPX023Twice clears between.
func (Cases) SPX023Twice() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.AdmitStore("one", "S", w1, "", a).As("first")
	sc.Clear(w1).Is(counts(0))
	sc.AdmitStore("two", "S", w1, "", b).As("first")
	sc.Clear(w1).Is(counts(0))
	sc.AdmitStore("three", "S", w1, "", c).As("first")
	sc.Apply("three").Is(changed)
	sc.Apply("two").Is(discarded)
	sc.Apply("one").Is(discarded)
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	sc.Size().Is(sized(1, 1).Discarding(2))
	return bench.Indexed("SPX-023/twice", "three stores with clears of an empty rank between them, applied in reverse", "only the last counts: a clear separates although it ends no claim", sc)
}

// SPX024Stored is R-e.
func (Cases) SPX024Stored() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.AdmitStore("before", "S", w1, a, b).As("first")
	sc.Remove(w1, b).Is(counts(1))
	sc.AdmitStore("after", "S", w1, b, c).As("first")
	sc.Apply("before").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Apply("after").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	sc.Remove(w1, a).Is(counts(1))
	sc.Store("S", w1, a).As("first").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Size().Is(sized(3, 1).Discarding(0))
	return bench.Indexed("SPX-024/stored", "stores that are taken in before and after an eviction, and applied after it", "all count: an eviction discards no store", sc)
}

// SPX024Orders is R-f: every order of a store, an eviction and another store, over two
// ranks and two sessions.
func (Cases) SPX024Orders() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	ranks := []script.Where{w1, w1b}
	for i, order := range []string{"SRT", "STR", "RST", "RTS", "TSR", "TRS"} {
		root, leaf := lineage.B(uint64(0x100*(i+1))), lineage.B(uint64(0x100*(i+1)+1))
		here, there := ranks[i%2], ranks[1-i%2]
		first, second := fmt.Sprintf("S of %s", order), fmt.Sprintf("T of %s", order)
		sc.AdmitStore(first, first, here, "", root, leaf).As("first")
		sc.AdmitStore(second, second, here, "", root).As("first")
		lost, stored := 0, false
		for _, what := range order {
			switch what {
			case 'S':
				sc.Apply(first).Is(changed)
				stored = true
			case 'T':
				sc.Apply(second).Is(changed)
			case 'R':
				if stored {
					lost = 1
				}
				sc.Remove(here, leaf).Is(counts(lost))
				sc.Remove(there, leaf, root).Is(counts(0))
			}
		}
		reached := leaf
		if lost == 1 {
			reached = root
		}
		sc.Frontiers(first).Is(reaches(at(here, reached)))
		sc.Frontiers(second).Is(reaches(at(here, root)))
	}
	return bench.Indexed("SPX-024/orders", "a store, an eviction of its last block, and another session's store, in all six orders, each on fresh blocks, on two ranks in turn", "the frontiers are those of that order", sc)
}

// SPX025Retired is R-g.
func (Cases) SPX025Retired() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a).As("first").Is(changed)
	sc.AdmitMatch("one", "T", w1, a).As("first")
	sc.AdmitMatch("two", "T", w1, a).As("first")
	sc.RemoveWorker(worker1).Is(counts(1))
	sc.Apply("one").Is(discarded)
	sc.Register(worker1, "second")
	sc.Store("S", w1, a).As("second").Is(changed)
	sc.Apply("two").Is(discarded)
	sc.Frontiers("T").Is(nothing)
	sc.Match("T", w1, a).As("second").Is(changed)
	return bench.Indexed("SPX-025/retired", "matches that are taken in before their worker's removal and applied after it, the second when the next life has stored the block again", "both are discarded", sc)
}

// physical begins a conversation about what ranks physically hold.
func physical() *lineage.Script {
	sc := talk()
	sc.Demands = []string{"physical"}
	sc.Register(worker1, "first")
	return sc
}

// SPX025Gone is B5.
func (Cases) SPX025Gone() bench.Case {
	sc := physical()
	sc.Holds(w1, a, b)
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.AdmitMatch("m", "T", w1, b).As("first")
	sc.AdmitMatch("unseen", "T", w1, x).As("first")
	sc.Holds(w1, a)
	sc.Holds(w1b, a, b)
	sc.Remove(w1, b).Is(counts(1))
	sc.Apply("m").Is(discarded)
	sc.Apply("unseen").Is(discarded)
	sc.Frontiers("T").Is(nothing)
	sc.LineagesFrom("T", w1, x).Is(unknownAnchor(x))
	sc.Size().Is(sized(2, 1).Discarding(2))
	return bench.Indexed("SPX-025/gone", "a match is taken in, its block is evicted, and the match is applied; another rank still holds the block", "it is discarded", sc)
}

// SPX025Back is B4.
func (Cases) SPX025Back() bench.Case {
	sc := physical()
	sc.Holds(w1, a, b)
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.AdmitMatch("m", "T", w1, b).As("first")
	sc.AdmitMatch("again", "T", w1, b).As("first")
	sc.Remove(w1, b).Is(counts(1))
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Apply("m").Is(changed) // the rank holds it again
	sc.Frontiers("T").Is(reaches(at(w1, b)))
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Holds(w1, a)
	sc.Apply("again").Is(discarded)
	return bench.Indexed("SPX-025/back", "matches are taken in, their block is evicted and stored again, and they are applied, the second when the rank holds the block no more", "the first counts, for the rank holds the block now; the second is discarded", sc)
}

// SPX025Fresh is 7.22.
func (Cases) SPX025Fresh() bench.Case {
	sc := physical()
	sc.AdmitMatch("m", "T", w1, a).As("first")
	sc.Store("S", w1, b).As("first").Is(changed)
	sc.Remove(w1b, a).Is(counts(0)) // another rank's business
	sc.Apply("m").Is(changed)
	sc.Match("T", w1b, b).As("first").Is(changed)
	sc.Frontiers("T").Is(reaches(at(w1, a), at(w1b, b)))
	return bench.Indexed("SPX-025/fresh", "matches on ranks that have lost nothing since they were taken in, and that physically hold nothing as far as is known", "they count without being asked about: a later eviction puts right what was wrong", sc)
}

// SPX025Version keeps versions apart.
func (Cases) SPX025Version() bench.Case {
	sc := physical()
	sc.Register(worker2, "first")
	sc.Remove(w2, a).Is(counts(0))
	sc.AdmitMatch("m", "S", w1, a).As("first")
	sc.AdmitMatch("n", "S", w2, a).As("first")
	sc.AdmitMatch("o", "S", w1b, a).As("first")
	sc.Remove(w1, x).Is(counts(0)) // of nothing that anybody has, and yet
	sc.Apply("m").Is(discarded)
	sc.Apply("n").Is(changed)
	sc.Apply("o").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w2, a), at(w1b, a)))
	return bench.Indexed("SPX-025/version", "matches on three ranks are taken in, one rank evicts a block that no session has, and they are applied", "that rank's match is stale, as after any eviction; the others are not", sc)
}

// SPX026Flush cannot be waited for.
func (Cases) SPX026Flush() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a).As("first").Is(changed)
	sc.Flush().Is(done)
	sc.Fail(true, false)
	sc.Flush().Is(unavailable)
	sc.Flush().Is(unavailable)
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Remove(w1, b).Is(counts(1))
	sc.Clear(w1).Is(counts(1))
	sc.Fail(false, false)
	sc.Flush().Is(done)
	sc.Frontiers("S").Is(nothing)
	return bench.Indexed("SPX-026/flush", "flushes while waiting for the physical index fails, and after", "a failure is said, and success only where there is one; events go on meanwhile", sc)
}

// SPX026Removal cannot be finished.
func (Cases) SPX026Removal() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.Fail(true, false)
	sc.RemoveWorker(worker1).Is(unavailable)
	sc.Store("T", w1, r).As("first").Is(discarded)
	sc.RemoveWorker(worker1).Is(unavailable)
	sc.Fail(false, false)
	sc.RemoveWorker(worker1).Is(anyCount)
	sc.Frontiers("S").Is(nothing)
	sc.Store("T", w1, r).As("first").Is(discarded)
	sc.Register(worker1, "second")
	sc.Store("T", w1, r).As("second").Is(changed)
	sc.Frontiers("T").Is(reaches(at(w1, r)))
	return bench.Indexed("SPX-026/removal", "a worker is removed while waiting for the physical index fails, once more, and again when it does not", "it is not said to be gone before it is; it is retired from the first time on, and gone after the last", sc)
}

// SPX026Await is the same in two steps.
func (Cases) SPX026Await() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.AdmitStore("old", "T", w1, "", r).As("first")
	sc.BeginRemoval("removal", w1)
	sc.Fail(true, false)
	sc.AwaitRemoval("removal").Is(unavailable)
	sc.Apply("old").Is(discarded)
	sc.AwaitRemoval("removal").Is(unavailable)
	sc.Fail(false, false)
	sc.AwaitRemoval("removal").Is(anyCount)
	sc.Frontiers("S").Is(reaches(at(w1b, a)))
	return bench.Indexed("SPX-026/await", "a rank's removal begins, waiting for it fails twice, and then does not", "the same removal is awaited until it is done, and its sibling goes on", sc)
}

// SPX027Clear cannot clear what is below.
func (Cases) SPX027Clear() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.AdmitStore("before", "S", w1, b, c).As("first")
	sc.Fail(false, true)
	sc.Clear(w1).Is(unavailable)
	sc.Frontiers("S").Is(reaches(at(w1b, a)))
	sc.Apply("before").Is(discarded)
	sc.Fail(false, false)
	sc.Clear(w1).Is(counts(0))
	sc.Store("S", w1, r).As("first").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1b, a), at(w1, r)))
	return bench.Indexed("SPX-027/clear", "a rank is cleared while clearing its lower tiers fails", "the failure is said; the claims are gone all the same, and what was taken in before does not come back", sc)
}

// SPX027Removal cannot remove what is below.
func (Cases) SPX027Removal() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Register(worker2, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.Store("S", w2, a).As("first").Is(changed)
	sc.Fail(false, true)
	sc.RemoveWorker(w1b).Is(unavailable)
	sc.Frontiers("S").Is(reaches(at(w1, b), at(w2, a)))
	sc.RemoveWorker(worker1).Is(unavailable)
	sc.Frontiers("S").Is(reaches(at(w2, a)))
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Fail(false, false)
	sc.RemoveWorker(worker1).Is(anyCount)
	sc.Frontiers("S").Is(reaches(at(w2, a)))
	return bench.Indexed("SPX-027/removal", "a rank, then its worker are removed while clearing lower tiers fails", "the failure is said, and the claims are gone all the same", sc)
}
