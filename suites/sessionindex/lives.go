package sessionindex

import (
	"fmt"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// Workers as wholes.
var worker1, worker2 = script.At("w1"), script.At("w2")

// SPX020Nobody is heard before it was registered.
func (Cases) SPX020Nobody() bench.Case {
	sc := talk()
	sc.Register(worker2, "first")
	sc.Store("S", w1, a, b).As("first").Is(discarded)
	sc.Match("S", w1, a).As("other").Is(discarded)
	sc.Store("S", w2, a).As("second").Is(discarded)
	sc.Size().Is(sized(0, 0).Discarding(3))
	sc.Frontiers("S").Is(nothing)
	sc.Store("S", w2, a, b).As("first").Is(changed)
	sc.Match("S", script.On("w2", 7), b).As("first").Is(changed)
	sc.Store("S", w2, a, b).As("first").Is(unchanged)
	sc.Size().Is(sized(2, 1).Discarding(3))
	return bench.Indexed("SPX-020/nobody", "stores and matches of a worker that was never registered, and under incarnations that are another's or nobody's", "they are discarded and counted, and leave nothing behind; those of the registered incarnation count on all of its ranks", sc)
}

// SPX020Ranks registers ranks of their own.
func (Cases) SPX020Ranks() bench.Case {
	sc := talk()
	sc.Register(worker1, "whole")
	sc.Store("S", w1, a, b).As("whole").Is(changed)
	sc.Store("S", w1b, a, b).As("whole").Is(changed)
	sc.Register(w1b, "own")
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Store("S", w1b, a).As("whole").Is(discarded)
	sc.Store("S", w1b, a).As("own").Is(changed)
	sc.Store("S", w1, a).As("own").Is(discarded)
	sc.Under("S", w1, b, c).As("whole").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w1b, a)))
	sc.Register(w2, "alone")
	sc.Store("S", w2, a).As("alone").Is(changed)
	sc.Store("S", script.On("w2", 1), a).As("alone").Is(discarded)
	sc.Size().Is(sized(3, 1).Discarding(3))
	return bench.Indexed("SPX-020/ranks", "a worker is registered, then one of its ranks with an incarnation of its own; of another worker a rank alone", "the rank has its own incarnation and begins with nothing; its siblings keep theirs", sc)
}

// SPX020Worker is T20.
func (Cases) SPX020Worker() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Register(worker2, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Under("S", w1, a, c).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.Store("T", w1b, a, b).As("first").Is(changed)
	sc.Store("S", w2, a, b).As("first").Is(changed)
	sc.RemoveWorker(worker1).Is(counts(4))
	sc.Frontiers("S").Is(reaches(at(w2, b)))
	sc.Frontiers("T").Is(nothing)
	sc.Size().Is(sized(3, 1))
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Match("S", w1b, a).As("first").Is(discarded)
	sc.Match("S", script.On("w1", 2), a).As("first").Is(discarded)
	sc.RemoveWorker(worker1).Is(counts(0))
	sc.Under("S", w2, b, d).As("first").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w2, d)))
	return bench.Indexed("SPX-020/worker", "a worker with claims on two ranks is removed, another lives on; stores and matches under the removed incarnation, on ranks seen and never seen", "the claims on all of its ranks end and are counted, and nothing comes back", sc)
}

// SPX020Rank is B6 and B7.
func (Cases) SPX020Rank() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Register(worker2, "first")
	for _, p := range []script.Where{w1, w1b, w2} {
		sc.Store("S", p, a, b).As("first").Is(changed)
	}
	sc.RemoveWorker(w1).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1b, b), at(w2, b)))
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Under("S", w1b, b, c).As("first").Is(changed)
	sc.Register(w1, "second")
	sc.Frontiers("S").Is(reaches(at(w1b, c), at(w2, b)))
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Store("S", w1, a).As("second").Is(changed)
	sc.RemoveWorker(worker1).Is(counts(2))
	sc.Frontiers("S").Is(reaches(at(w2, b)))
	sc.Store("S", w1, a).As("second").Is(discarded)
	sc.Store("S", w1b, a).As("first").Is(discarded)
	return bench.Indexed("SPX-020/rank", "one rank of a worker is removed and comes back; then the worker is removed", "the rank's claims end, its sibling goes on; the removal of the worker ends both", sc)
}

// SPX020Replaced registers over what is open.
func (Cases) SPX020Replaced() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.Register(worker1, "second")
	sc.Frontiers("S").Is(nothing)
	sc.Size().Is(sized(2, 0).Discarding(0))
	sc.Under("S", w1, b, c).As("first").Is(discarded)
	sc.Under("S", w1, b, c).As("second").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	sc.Size().Is(sized(3, 1).Discarding(1))
	return bench.Indexed("SPX-020/replaced", "a worker comes back under another incarnation, without having been removed", "what the former one had is gone, and only the new one is heard", sc)
}

// SPX020Traces is what a discarded event leaves.
func (Cases) SPX020Traces() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Register(worker2, "first")
	sc.Store("S", w2, a, b).As("first").Is(changed)
	sc.Store("T", w2, a).As("first").Is(changed)
	sc.RemoveWorker(worker1).Is(counts(0))
	sc.Dump("before")
	sc.Under("S", w1, b, c).As("first").Is(discarded)
	sc.Match("S", w1, x).As("first").Is(discarded)
	sc.Match("U", w1, a).As("first").Is(discarded)
	sc.Dump("").SameAs("before")
	sc.Size().Is(sized(2, 2).Discarding(3))
	sc.LineagesFrom("S", w2, c).Is(unknownAnchor(c))
	sc.LineagesFrom("S", w2, x).Is(unknownAnchor(x))
	return bench.Indexed("SPX-020/no-trace", "events of a removed worker with known and unknown blocks, by sessions that are held and that are not", "neither blocks nor sessions nor the order of their use have changed; they are counted", sc)
}

// SPX021Store is R-a: an event that was on its way.
func (Cases) SPX021Store() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a).As("first").Is(changed)
	sc.AdmitStore("before", "S", w1, a, b).As("first")
	sc.AdmitMatch("met before", "T", w1, a).As("first")
	sc.AdmitStore("unseen rank", "T", w1b, "", a).As("first")
	sc.BeginRemoval("removal", worker1)
	sc.AdmitStore("meanwhile", "S", w1, a, b).As("first")
	sc.Apply("before").Is(discarded)
	sc.AwaitRemoval("removal").Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Apply("met before").Is(discarded)
	sc.Apply("meanwhile").Is(discarded)
	sc.Apply("unseen rank").Is(discarded)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(nothing)
	sc.Size().Is(sized(1, 0).Discarding(4))
	return bench.Indexed("SPX-021/worker", "stores and a match are taken in; the worker's removal begins; they are applied before and after it is awaited", "once the removal has begun nothing that was taken in before counts, on ranks seen and unseen", sc)
}

// SPX021Rank is R-b.
func (Cases) SPX021Rank() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a).As("first").Is(changed)
	sc.Store("S", w1b, a).As("first").Is(changed)
	sc.AdmitStore("gone", "S", w1, a, b).As("first")
	sc.AdmitStore("stays", "S", w1b, a, b).As("first")
	sc.BeginRemoval("removal", w1)
	sc.AwaitRemoval("removal").Is(counts(1))
	sc.Apply("gone").Is(discarded)
	sc.Apply("stays").Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1b, b)))
	return bench.Indexed("SPX-021/rank", "stores for two ranks of a worker are taken in, one rank is removed, then both are applied", "the one of the removed rank is discarded, its sibling's is not", sc)
}

// SPX021Match is B7's end: a match for a rank that was never seen.
func (Cases) SPX021Match() bench.Case {
	sc := talk()
	sc.Register(script.At("w9"), "first")
	rank := script.On("w9", 2)
	sc.AdmitMatch("one", "S", rank, a).As("first")
	sc.AdmitMatch("two", "S", rank, a).As("first")
	sc.RemoveWorker(script.At("w9")).Is(counts(0))
	sc.Apply("one").Is(discarded)
	sc.Lineages("S", rank).Is(noChain)
	sc.Register(script.At("w9"), "second")
	sc.Apply("two").Is(discarded)
	sc.Lineages("S", rank).Is(noChain)
	sc.Size().Is(sized(0, 0).Discarding(2))
	return bench.Indexed("SPX-021/match", "matches for a rank that was never seen are taken in before its worker is removed, and applied after, the second when the worker is back", "both are discarded", sc)
}

// SPX022Next is R-c.
func (Cases) SPX022Next() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.AdmitStore("old", "S", w1, "", a, b).As("first")
	sc.RemoveWorker(worker1).Is(counts(0))
	sc.Register(worker1, "second")
	sc.AdmitStore("new", "T", w1, "", a).As("second")
	sc.Apply("old").Is(discarded)
	sc.Apply("new").Is(changed)
	sc.Store("T", w1b, a).As("second").Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, a), at(w1b, a)))
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Size().Is(sized(1, 1).Discarding(2))
	return bench.Indexed("SPX-022/next", "a worker is removed and comes back while a store of its former life is on its way", "the old store is discarded, and what the next life stores counts at once", sc)
}

// SPX022Between registers before the removal was awaited.
func (Cases) SPX022Between() bench.Case {
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.BeginRemoval("removal", worker1)
	sc.Register(worker1, "second")
	sc.Store("T", w1, r).As("second").Is(changed)
	sc.AwaitRemoval("removal").Is(anyCount)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, r)))
	sc.Under("T", w1, r, x).As("second").Is(changed)
	sc.Store("S", w1, a).As("first").Is(discarded)
	sc.Frontiers("T").Is(reaches(at(w1, x)))
	return bench.Indexed("SPX-022/between", "a worker's removal begins, its next life stores, then the removal is awaited", "the former life's claims go, and what the next has stored stays", sc)
}

// SPX022Lives keeps an event of every life.
func (Cases) SPX022Lives() bench.Case {
	const lives = 30
	sc := talk()
	for i := range lives {
		life := fmt.Sprintf("life %d", i)
		sc.Register(worker1, life)
		sc.AdmitStore(life, "S", w1, "", a, b).As(life)
		sc.Store("T", w1, r).As(life).Is(changed)
		if i%3 == 2 {
			sc.Apply(fmt.Sprintf("life %d", i-2)).Is(discarded)
		}
		sc.RemoveWorker(worker1).Is(counts(1))
	}
	sc.Register(worker1, "last")
	for i := range lives {
		if i%3 != 0 {
			sc.Apply(fmt.Sprintf("life %d", i)).Is(discarded)
		}
	}
	sc.Frontiers("S").Is(nothing)
	sc.Size().Is(sized(1, 0).Discarding(lives))
	sc.Store("S", w1, a).As("last").Is(changed)
	return bench.Indexed("SPX-022/lives", "thirty lives of one worker, a store of each taken in and applied in a later one, early or at the very end", "no life is taken for another", sc)
}
