package sessionindex

import "github.com/routeproof/routeproof/suites/bench"

// SPX006Own is a session that joins two chains of its own.
func (Cases) SPX006Own() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("S", w1, s, t).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w1, t)))
	sc.Under("S", w1, c, s).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, t)))
	sc.Lineages("S", w1).Is(chains(chain(a, b, c, s, t)))
	sc.Remove(w1, b).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-006/own", "a session has two chains and puts the root of one under the end of the other; then a block above both ends is evicted", "one frontier is left, and one is lost", sc)
}

// SPX006Others are third parties of a graft.
func (Cases) SPX006Others() bench.Case {
	sc := talk()
	for _, id := range []string{"S", "T"} {
		sc.Store(id, w1, a, b, c).Is(changed)
		sc.Store(id, w1, s, t).Is(changed)
	}
	sc.Store("S", w2, a, b, c).Is(changed)
	sc.Store("S", w2, s).Is(changed)
	sc.Under("U", w1b, c, s).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, t), at(w2, s)))
	sc.Frontiers("T").Is(reaches(at(w1, t)))
	sc.Frontiers("U").Is(reaches(at(w1b, s)))
	sc.Lineages("S", w2).Is(chains(chain(a, b, c, s)))
	sc.Remove(w1, c).Is(counts(2))
	sc.Frontiers("S").Is(reaches(at(w1, b), at(w2, s)))
	sc.Frontiers("T").Is(reaches(at(w1, b)))
	sc.Clear(w2).Is(counts(1))
	return bench.Indexed("SPX-006/others", "three claims with two chains each, which a fourth session joins by a store on another rank; then an eviction and a clear", "whoever had both chains has one frontier, and loses one", sc)
}

// SPX006Gains is a claim that gets more by a graft.
func (Cases) SPX006Gains() bench.Case {
	sc := talk()
	sc.Store("S", w1, s, t).Is(changed)
	sc.Store("T", w2, a, b).Is(changed)
	sc.Under("T", w2, b, s).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(a, b, s, t)))
	sc.Remove(w1, t).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, s)))
	sc.Remove(w1, s).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Remove(w1, a).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w2, s)))
	return bench.Indexed("SPX-006/gains", "a session's chain gets a parent by another session's store; then its blocks are evicted from below", "it recedes through all that is above by then, on its own rank", sc)
}

// SPX006Depth are frontiers that a deeper block takes the place of.
func (Cases) SPX006Depth() bench.Case {
	sc := talk()
	sc.Store("T", w2, a, b, c, d).Is(changed)
	sc.Under("T", w2, b, x).Is(changed)
	sc.Match("S", w1, a).Is(changed)
	sc.Match("S", w1, x).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, x)))
	sc.Match("S", w1, d).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, x), at(w1, d)))
	sc.Match("S", w1, c).Is(unchanged)
	sc.Frontiers("S").Is(reaches(at(w1, x), at(w1, d)))
	sc.Under("S", w1, d, r).Is(changed)
	sc.Under("S", w1, x, s).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, r), at(w1, s)))
	return bench.Indexed("SPX-006/depth", "matches and stores at different depths of two branches", "a frontier gives way to one below it, and to no other", sc)
}

// SPX006Twice is a chain of grafts.
func (Cases) SPX006Twice() bench.Case {
	sc := talk()
	for _, block := range chain(a, b, c, d) { // four roots
		sc.Match("S", w1, block).Is(changed)
	}
	sc.Frontiers("S").Is(reaches(at(w1, a), at(w1, b), at(w1, c), at(w1, d)))
	sc.Under("T", w2, b, c).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, a), at(w1, c), at(w1, d)))
	sc.Under("T", w2, c, d).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, a), at(w1, d)))
	sc.Under("T", w2, a, b).Is(unchanged)
	sc.Frontiers("S").Is(reaches(at(w1, d)))
	sc.Lineages("S", w1).Is(chains(chain(a, b, c, d)))
	sc.Under("T", w2, d, a).Is(cyclic(a))
	sc.Remove(w1, d).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	return bench.Indexed("SPX-006/one-by-one", "four roots of one session that another session joins into one chain, one store after another", "after each store the frontiers are the blocks without one below them", sc)
}

// SPX009Recedes is V10, and what comes of it.
func (Cases) SPX009Recedes() bench.Case {
	sc := talk()
	sc.Match("S", w1, r).Is(changed)
	sc.Under("S", w1, unknown, r).Is(unchanged)
	sc.Lineages("S", w1).Is(chains(chain(unknown, r)))
	sc.Under("T", w2, r, x).Is(changed)
	sc.Remove(w1, r).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Remove(w2, x).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, r)))
	sc.Remove(w2, r).Is(counts(1))
	sc.Frontiers("T").Is(nothing)
	sc.Size().Is(sized(3, 0))
	return bench.Indexed("SPX-009/recedes", "a root gets a parent that nobody has stored; then the root is evicted", "nobody has the parent: the claims end there", sc)
}

// SPX009Stored ends phantoms by a store.
func (Cases) SPX009Stored() bench.Case {
	sc := talk()
	sc.Store("S", w1, s, t).Is(changed)
	sc.Under("S", w1, unknown, s).Is(unchanged)
	sc.Remove(w1, t).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, s)))
	sc.Store("T", w2, unknown).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w2, unknown)))
	sc.Remove(w1, s).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, unknown)))
	sc.Under("T", w2, a, unknown).Is(unchanged) // one more above it
	sc.Lineages("S", w1).Is(chains(chain(a, unknown)))
	sc.Remove(w1, unknown).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Size().Is(sized(4, 1))
	return bench.Indexed("SPX-009/stored", "a parent that nobody has stored, until another session does on another worker; then the blocks below are evicted", "from its store on it is a block like any other, and the claim recedes onto it", sc)
}

// SPX009Matched ends phantoms by a match.
func (Cases) SPX009Matched() bench.Case {
	sc := talk()
	sc.Match("S", w1, r).Is(changed)
	sc.Under("T", w2, unknown, r).Is(changed)
	sc.Match("T", w2, unknown).Is(unchanged)
	sc.Remove(w1, r).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, unknown)))
	sc.Remove(w2, r).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, unknown)))
	return bench.Indexed("SPX-009/matched", "a parent that nobody has stored is matched; then the block below it is evicted", "the claims recede onto it", sc)
}

// SPX009Evicted is a phantom that is said to be evicted.
func (Cases) SPX009Evicted() bench.Case {
	sc := talk()
	sc.Store("S", w1, s, t).Is(changed)
	sc.Under("S", w1, unknown, s).Is(unchanged)
	sc.Store("T", w1, a).Is(changed)
	sc.Remove(w1, unknown).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, a)))
	sc.Under("S", w1, t, x).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(unknown, s, t, x)))
	return bench.Indexed("SPX-009/evicted", "a rank evicts a parent that nobody has stored, then stores below it again", "all that is below is lost, and comes back with the store", sc)
}
