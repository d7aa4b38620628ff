package sessionindex

import "github.com/routeproof/routeproof/suites/bench"

// SPX011Rank is T15.
func (Cases) SPX011Rank() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("S", w1b, a, b, c).Is(changed)
	sc.Store("S", w2, a, b, c).Is(changed)
	sc.Remove(w1b, b, c).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w1b, a), at(w2, c)))
	sc.Lineages("S", w1b).Is(chains(chain(a)))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-011/rank", "one chain on three ranks, one of which evicts its last two blocks", "the claim on that rank recedes, no other, and the blocks stay known", sc)
}

// SPX011Order is T16.
func (Cases) SPX011Order() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("T", w1, a, b, c).Is(changed)
	sc.Remove(w1, c, b).Is(counts(2))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Frontiers("T").Is(reaches(at(w1, a)))
	sc.Remove(w1, b, c).Is(counts(0))
	sc.Remove(w1, c, c).Is(counts(0))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-011/order", "two sessions' last two blocks are evicted in one event, then again in another order", "both recede to the first block, whatever the order, and the second event changes nothing", sc)
}

// SPX011Unknown is T17.
func (Cases) SPX011Unknown() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Remove(w1, unknown, b, x).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Remove(w1, unknown).Is(counts(0))
	sc.Remove(w2, a).Is(counts(0))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-011/unknown", "an eviction of a block among others that nobody knows, of these alone, and on a rank without claims", "unknown blocks count for nothing and do not become known", sc)
}

// SPX011Interior is T18.
func (Cases) SPX011Interior() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c, d).Is(changed)
	sc.Remove(w1, b).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Lineages("S", w1).Is(chains(chain(a)))
	sc.Remove(w1, c).Is(counts(0))
	sc.Remove(w1, d).Is(counts(0))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-011/interior", "a block in the middle of a chain is evicted, then those below it", "the claim ends above the block in the middle, and what is evicted later brings nothing back", sc)
}

// SPX011Root evicts the first block.
func (Cases) SPX011Root() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w1, a).Is(changed)
	sc.Store("T", w1, r).Is(changed)
	sc.Store("S", w2, a).Is(changed)
	sc.Remove(w1, a).Is(counts(2))
	sc.Frontiers("S").Is(reaches(at(w2, a)))
	sc.Frontiers("T").Is(reaches(at(w1, r)))
	sc.Remove(w2, a).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-011/root", "the root of two sessions' chains is evicted on one rank, then on the other", "their claims on it end; a session without a claim is not held", sc)
}

// SPX011Branches evicts on two branches at once.
func (Cases) SPX011Branches() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Under("S", w1, a, c).Is(changed)
	sc.Store("T", w1, a, b).Is(changed)
	sc.Remove(w1, b, c).Is(counts(3))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Frontiers("T").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-011/branches", "a session with two branches and one with the first of them; both last blocks are evicted at once", "each session's each frontier counts; where two land on one block, it is one frontier", sc)
}

// SPX011Deeper recedes onto a block above another frontier.
func (Cases) SPX011Deeper() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Under("S", w1, b, x, y).Is(changed)
	sc.Under("S", w1, a, d).Is(changed)
	sc.Remove(w1, c).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, y), at(w1, d)))
	sc.Remove(w1, b).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, d)))
	return bench.Indexed("SPX-011/deeper-branch", "of three branches the end of one is evicted, then the middle of another", "what recedes onto a block above another frontier leaves no frontier of its own", sc)
}

// SPX011Beside evicts what is on nobody's path.
func (Cases) SPX011Beside() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w2, a, b, c).Is(changed)
	sc.Under("T", w2, a, d).Is(changed)
	sc.Remove(w1, c, d).Is(counts(0))
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Frontiers("T").Is(reaches(at(w2, c), at(w2, d)))
	return bench.Indexed("SPX-011/beside", "a rank evicts blocks below and beside what a session has there; another rank has them", "nothing is lost", sc)
}

// SPX012Rank is T19.
func (Cases) SPX012Rank() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Under("S", w1, a, c).Is(changed)
	sc.Store("T", w1, a).Is(changed)
	sc.Store("S", w1b, a, b).Is(changed)
	sc.Store("S", w2, a).Is(changed)
	sc.Clear(w1).Is(counts(3))
	sc.Frontiers("S").Is(reaches(at(w1b, b), at(w2, a)))
	sc.Frontiers("T").Is(nothing)
	sc.Lineages("S", w1).Is(noChain)
	sc.Size().Is(sized(3, 1))
	sc.Clear(w1).Is(counts(0))
	sc.Under("S", w1, b, x).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(a, b, x)))
	sc.Clear(w2).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1b, b), at(w1, x)))
	return bench.Indexed("SPX-012/rank", "three frontiers on one rank, others on its sibling and on another worker; the rank is cleared, twice, and stores again", "its claims end and are counted, no other's do; the blocks stay known, and it goes on below them", sc)
}

// SPX013Again stores below what was evicted.
func (Cases) SPX013Again() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Remove(w1, b).Is(counts(1))
	sc.Under("S", w1, c, d).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, d)))
	sc.Lineages("S", w1).Is(chains(chain(a, b, c, d)))
	sc.Remove(w1, d).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	sc.Remove(w1, a).Is(counts(1))
	sc.Frontiers("S").Is(nothing)
	sc.Under("T", w1, a, b).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w1, b)))
	return bench.Indexed("SPX-013/below-evicted", "stores below a block that the rank has evicted and that is still known", "the block is claimed again, and all above it", sc)
}

// SPX007Anchored is T11, and more anchors.
func (Cases) SPX007Anchored() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Under("S", w1, b, d).Is(changed)
	sc.Store("S", w1, r).Is(changed)
	sc.Store("S", w1b, a).Is(changed)
	sc.Store("T", w1, s, t).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(a, b, c), chain(a, b, d), chain(r)))
	sc.LineagesFrom("S", w1, a).Is(chains(chain(a, b, c), chain(a, b, d)))
	sc.LineagesFrom("S", w1, b).Is(chains(chain(b, c), chain(b, d)))
	sc.LineagesFrom("S", w1, c).Is(chains(chain(c)))
	sc.LineagesFrom("S", w1, r).Is(chains(chain(r)))
	sc.LineagesFrom("S", w1, s).Is(noChain)
	sc.LineagesFrom("S", w1b, b).Is(noChain)
	sc.LineagesFrom("S", w1b, a).Is(chains(chain(a)))
	sc.LineagesFrom("S", w2, a).Is(noChain)
	sc.Remove(w1, c, d).Is(counts(2))
	sc.LineagesFrom("S", w1, c).Is(noChain)
	sc.LineagesFrom("S", w1, a).Is(chains(chain(a, b)))
	return bench.Indexed("SPX-007/anchored", "a session with two branches and a separate root, asked from its root, a block in the middle, its ends, another session's block and a block below its frontier", "the chains through the block, from it down, and no others", sc)
}

// SPX007Unknown is T12.
func (Cases) SPX007Unknown() bench.Case {
	sc := talk()
	sc.Match("S", w1, a).Is(changed)
	sc.LineagesFrom("S", w1, unknown).Is(unknownAnchor(unknown))
	sc.LineagesFrom("S", w2, unknown).Is(unknownAnchor(unknown))
	sc.LineagesFrom("T", w1, unknown).Is(unknownAnchor(unknown))
	sc.LineagesFrom("T", w1, a).Is(noChain)
	sc.Lineages("T", w1).Is(noChain)
	sc.Frontiers("T").Is(nothing)
	sc.Under("T", w1, unknown, a).Is(changed)
	sc.LineagesFrom("T", w1, unknown).Is(chains(chain(unknown, a)))
	sc.LineagesFrom("S", w1, unknown).Is(chains(chain(unknown, a)))
	return bench.Indexed("SPX-007/unknown", "anchors that nobody knows, sessions that nobody knows, and a phantom as anchor", "an unknown anchor is an error, whoever's chains are asked for; an unknown session has none", sc)
}

// SPX029Reads asks for everything, and again.
func (Cases) SPX029Reads() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("T", w1, a).Is(changed)
	sc.Under("S", w2, unknown, r).Is(unknownParent(unknown))
	sc.Dump("before")
	for range 2 {
		sc.Frontiers("S").Is(reaches(at(w1, c)))
		sc.Frontiers("nobody").Is(nothing)
		sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
		sc.Lineages("S", w2).Is(noChain)
		sc.Lineages("nobody", w2).Is(noChain)
		sc.LineagesFrom("nobody", w1, y).Is(unknownAnchor(y))
		sc.LineagesFrom("S", w1, b).Is(chains(chain(b, c)))
		sc.Size().Is(sized(3, 2))
		sc.Dump("").SameAs("before")
	}
	return bench.Indexed("SPX-029/reads", "every question twice, about what is known and what is not", "the answers are the same, and nothing has come to be known by them", sc)
}

// SPX019Size counts along.
func (Cases) SPX019Size() bench.Case {
	sc := talk()
	sc.Size().Is(sized(0, 0))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Size().Is(sized(2, 1))
	sc.Store("S", w2, a, b).Is(changed)
	sc.Size().Is(sized(2, 1))
	sc.Match("T", w1, r).Is(changed)
	sc.Size().Is(sized(3, 2))
	sc.Under("T", w1, unknown, r).Is(unchanged)
	sc.Size().Is(sized(4, 2))
	sc.Clear(w1).Is(counts(2))
	sc.Size().Is(sized(4, 1))
	sc.Remove(w2, a).Is(counts(1))
	sc.Size().Is(sized(4, 0))
	return bench.Indexed("SPX-019/size", "stores, a match, a phantom, a clear and an eviction, with the size after each", "blocks that are known count, whoever has them; sessions count while they have a frontier", sc)
}
