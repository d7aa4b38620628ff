package sessionindex

import (
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// SPX001Chain is the first that anybody stores.
func (Cases) SPX001Chain() bench.Case {
	sc := talk()
	sc.Size().Is(sized(0, 0))
	sc.Frontiers("S").Is(nothing)
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
	sc.Under("S", w1, c, x, y).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, y)))
	sc.Lineages("S", w1).Is(chains(chain(a, b, c, x, y)))
	sc.Size().Is(sized(5, 1))
	return bench.Indexed("SPX-001/chain", "an empty index; a chain of three blocks, then two more under its last", "the session reaches the last block, through all that are above", sc)
}

// SPX001Branches grows two ways from one trunk.
func (Cases) SPX001Branches() bench.Case {
	sc := talk()
	sc.Store("S", w1, a).Is(changed)
	sc.Under("S", w1, a, b).Is(changed)
	sc.Under("S", w1, a, c).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, b), at(w1, c)))
	sc.Lineages("S", w1).Is(chains(chain(a, b), chain(a, c)))
	sc.Under("S", w1, b, d).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, d), at(w1, c)))
	sc.Size().Is(sized(4, 1))
	return bench.Indexed("SPX-001/branches", "two blocks under one, one after the other; then a third under the first of them", "the session has two frontiers, and the branch that nobody touched stays", sc)
}

// SPX001Continues is a chain that one of two sessions continues.
func (Cases) SPX001Continues() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w1, a, b).Is(changed)
	sc.Under("T", w1, b, c).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(a, b)))
	sc.Lineages("T", w1).Is(chains(chain(a, b, c)))
	sc.Size().Is(sized(3, 2))
	return bench.Indexed("SPX-001/continues", "two sessions store one chain, then one of them goes on", "the blocks are there once, and each session reaches as far as it got itself", sc)
}

// SPX001Parent is all that a store says of what is above it.
func (Cases) SPX001Parent() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Under("T", w2, b, d).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w2, d)))
	sc.Lineages("T", w2).Is(chains(chain(a, b, d)))
	sc.Under("T", w2, a, b, c).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w2, d), at(w2, c)))
	sc.Remove(w2, d).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, c)))
	sc.Remove(w2, c).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, b)))
	sc.Remove(w2, b).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, a)))
	sc.Frontiers("S").Is(reaches(at(w1, c)))
	return bench.Indexed("SPX-001/parent", "a session stores below a block that only another session, on another worker, has stored; then its rank evicts all of it, from below", "it has all that is above, on its own rank", sc)
}

// SPX008Ranks are three ranks of two workers.
func (Cases) SPX008Ranks() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("S", w1b, a, b).Is(changed)
	sc.Store("S", w2, a).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w1b, b), at(w2, a)))
	sc.Lineages("S", w1b).Is(chains(chain(a, b)))
	sc.Lineages("S", script.On("w1", 2)).Is(noChain)
	sc.Lineages("S", script.On("w3", 0)).Is(noChain)
	sc.Remove(w1b, a).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w2, a)))
	sc.Under("S", w2, a, b).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, c), at(w2, b)))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-008/ranks", "one session on ranks 0 and 1 of a worker and rank 0 of another, with chains of three lengths; one rank evicts, another goes on", "what is said of one rank changes no other, and rank 0 is a rank", sc)
}

// SPX008Names are names that a careless key takes for one.
func (Cases) SPX008Names() bench.Case {
	sc := talk()
	places := []script.Where{script.On("w1", 1), script.On("w", 11), script.On("w11", 0), script.On("w1", 10), script.On("W1", 1), script.On("w1 ", 1), script.On("w1", 4294967295)}
	blocks := []string{a, b, c, d, r, s, t}
	for i, p := range places {
		sc.Store("S", p, blocks[i]).Is(changed)
	}
	for i, p := range places {
		sc.Lineages("S", p).Is(chains(chain(blocks[i])))
	}
	for i, p := range places {
		sc.Clear(p).Is(counts(1))
		sc.Lineages("S", p).Is(noChain)
		if i+1 < len(places) {
			sc.Lineages("S", places[i+1]).Is(chains(chain(blocks[i+1])))
		}
	}
	for _, id := range []string{"S", "s", " S", "S ", "S\x00", ""} {
		sc.Store(id, w2, x).Is(changed)
	}
	sc.Size().Is(sized(8, 6))
	return bench.Indexed("SPX-008/names", "workers and ranks whose names read alike when they are joined, trimmed or folded, and such sessions", "each is one of its own", sc)
}

// SPX008Forest is what all share.
func (Cases) SPX008Forest() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w2, r).Is(changed)
	sc.Under("T", w2, r, b).Is(conflicting(b))
	sc.Store("T", w2, b).Is(conflicting(b))
	sc.Under("T", w2, b, a).Is(cyclic(a))
	sc.Clear(w1).Is(counts(1))
	sc.Under("T", w2, r, b).Is(conflicting(b))
	sc.Frontiers("T").Is(reaches(at(w2, r)))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-008/forest", "a session tells a block under another parent than another session did, on another worker; again after that one's claims have ended", "it is refused: parents are recorded for all, and do not hang on who has the block", sc)
}

// SPX010First is T1, and more of a first match.
func (Cases) SPX010First() bench.Case {
	sc := talk()
	sc.Match("S", w1, a).Is(changed)
	sc.Match("S", w1, a).Is(unchanged)
	sc.Size().Is(sized(1, 1))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Lineages("S", w1).Is(chains(chain(a)))
	return bench.Indexed("SPX-010/first", "a match of a block that nobody has stored, twice", "it is known as a root from then on; the second changes nothing", sc)
}

// SPX010Above is T2 and T3.
func (Cases) SPX010Above() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Match("S", w1, b).Is(unchanged)
	sc.Match("S", w1, a).Is(unchanged)
	sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
	sc.Match("T", w1, b).Is(changed)
	sc.Lineages("T", w1).Is(chains(chain(a, b)))
	sc.Match("T", w1, c).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w1, c)))
	sc.Match("T", w1b, a).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w1, c), at(w1b, a)))
	sc.Size().Is(sized(3, 2))
	return bench.Indexed("SPX-010/above", "matches of blocks above what a session has, and of the same blocks by another session, deeper and deeper", "what is above is had already; the other session gets the block and all that is above", sc)
}

// SPX010Faith is T6: a root on faith, and who it belongs under.
func (Cases) SPX010Faith() bench.Case {
	sc := talk()
	sc.Match("S", w1, b).Is(changed)
	sc.Match("T", w2, c).Is(changed)
	sc.Under("S", w1, a, b).Is(unchanged)
	sc.Lineages("S", w1).Is(chains(chain(a, b)))
	sc.Size().Is(sized(3, 2))
	sc.Under("S", w1, b, c).Is(changed)
	sc.Lineages("T", w2).Is(chains(chain(a, b, c)))
	sc.Frontiers("T").Is(reaches(at(w2, c)))
	sc.Remove(w2, c).Is(counts(1))
	sc.Frontiers("T").Is(reaches(at(w2, b)))
	sc.Size().Is(sized(3, 2))
	return bench.Indexed("SPX-010/on-faith", "two sessions match two blocks that nobody has stored; then stores tell what is above them", "each block keeps its place among the sessions, and both have what is above it by then", sc)
}
