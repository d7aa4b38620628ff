package sessionindex

import (
	"strings"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
)

// SPX004Traces asks for everything around each refusal.
func (Cases) SPX004Traces() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Match("T", w2, r).Is(changed)
	before := sc.Dump("before")
	sc.Size().Is(sized(4, 2))
	for _, e := range []struct {
		parent string
		blocks []string
		kind   lineage.Answer
	}{
		{x, chain(y), unknownParent(x)},
		{"", chain(x, y, x), cyclic(x)},
		{c, chain(x, c), cyclic(c)},
		{c, chain(a), cyclic(a)},
		{a, chain(x, r, c), conflicting(c)},
		{"", chain(x, b), conflicting(b)},
		{unknown, chain(r, b), conflicting(b)},
		{unknown, chain(unknown), cyclic(unknown)},
	} {
		sc.Under("S", w1, e.parent, e.blocks...).Is(e.kind)
		sc.Dump("").SameAs(before.Name)
		sc.Size().Is(sized(4, 2))
		sc.Frontiers("S").Is(reaches(at(w1, c)))
		sc.Lineages("T", w2).Is(chains(chain(r)))
		sc.LineagesFrom("S", w1, x).Is(unknownAnchor(x))
	}
	sc.Under("S", w1, c, x).Is(changed) // nothing of the above is in the way
	sc.Lineages("S", w1).Is(chains(chain(a, b, c, x)))
	return bench.Indexed("SPX-004/no-trace", "stores that are refused for each reason, their first blocks new or a root that would get a parent", "nothing of them is known afterwards: no block, no parent, no frontier", sc)
}

// SPX004Newcomer is a refusal of who has nothing yet.
func (Cases) SPX004Newcomer() bench.Case {
	sc := talk()
	sc.Under("S", w1, a, b).Is(unknownParent(a)) // T7
	sc.Size().Is(sized(0, 0))
	sc.Store("S", w1, a, b, a).Is(cyclic(a)) // T10
	sc.Lineages("S", w1).Is(noChain)
	sc.Frontiers("S").Is(nothing)
	sc.Size().Is(sized(0, 0))
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Under("T", w1, d, b).Is(conflicting(b)) // T8
	sc.Under("T", w1, c, a).Is(cyclic(a))      // T9
	sc.Frontiers("T").Is(nothing)
	sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-004/newcomer", "sessions whose first store is refused, in an empty index and in one that holds a chain", "the index is as it was, and the session is not in it", sc)
}

// SPX004Recency is a refusal where room is scarce.
func (Cases) SPX004Recency() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w1, a).Is(changed)
	sc.Under("S", w1, unknown, x).Is(unknownParent(unknown))
	sc.Store("S", w1, b).Is(conflicting(b))
	sc.Under("S", w1, b, a).Is(cyclic(a))
	sc.Match("U", w1, a).Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, a)))
	sc.Size().Is(sized(2, 2))
	return bench.Indexed("SPX-004/recency", "room for two; the older session's next stores are refused, then a third session comes", "the older one goes: what is refused is no use", sc)
}

// SPX005Own is what the answer of a store says.
func (Cases) SPX005Own() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("S", w1, a, b, c).Is(unchanged)
	sc.Store("S", w1, a).Is(unchanged)
	sc.Under("S", w1, a, b).Is(unchanged)
	sc.Under("S", w1, a, d).Is(changed)
	sc.Under("S", w1, a, d).Is(unchanged)
	sc.Under("S", w1, c, x).Is(changed)
	sc.Store("S", w1b, a, b).Is(changed)
	sc.Store("T", w1, a, b).Is(changed)
	sc.Remove(w1, x).Is(counts(1))
	sc.Under("S", w1, c, x).Is(changed)
	sc.Match("S", w2, x).Is(changed)
	sc.Match("S", w2, x).Is(unchanged)
	return bench.Indexed("SPX-005/own", "chains told for the first time, told again, in part, from the middle, on another rank, by another session, and after an eviction", "each answer says whether the session's own frontiers on that rank are others than before", sc)
}

// SPX005Topology changes the forest and no frontier, and a frontier and no forest.
func (Cases) SPX005Topology() bench.Case {
	sc := talk()
	sc.Store("S", w1, s, t).Is(changed)
	sc.Under("S", w1, unknown, s).Is(unchanged)
	sc.Lineages("S", w1).Is(chains(chain(unknown, s, t)))
	sc.Size().Is(sized(3, 1))
	sc.Match("T", w2, c).Is(changed)
	sc.Under("S", w1, unknown, s).Is(unchanged)
	sc.Store("T", w2, unknown).Is(changed)
	sc.Size().Is(sized(4, 2))
	sc.Under("T", w2, unknown, c).Is(changed)
	sc.Frontiers("T").Is(reaches(at(w2, c)))
	sc.Size().Is(sized(4, 2))
	return bench.Indexed("SPX-005/topology", "a store that puts a parent above what its session has; stores that tell no new block and join two chains of a session", "the first changes no frontier of the session, the last does", sc)
}

// SPX005Others are frontiers that others change.
func (Cases) SPX005Others() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("S", w1, s, t).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, b), at(w1, t)))
	sc.Under("T", w2, b, s).Is(changed) // it puts t below b, for S as well
	sc.Frontiers("S").Is(reaches(at(w1, t)))
	sc.Under("S", w1, b, s).Is(unchanged)
	sc.Store("S", w1, a, b).Is(unchanged)
	sc.Frontiers("T").Is(reaches(at(w2, s)))
	return bench.Indexed("SPX-005/others", "another session's store joins two chains of a session, which then tells both again", "nothing has changed by these: the session had it all", sc)
}

// SPX015Empty are lists without a block.
func (Cases) SPX015Empty() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w1, a).Is(changed)
	sc.Dump("before")
	sc.Store("S", w1).Is(unchanged)
	sc.Under("S", w1, b).Is(unchanged)
	sc.Under("S", w1, unknown).Is(unchanged)
	sc.Store("U", w1).Is(unchanged)
	sc.Store(strings.Repeat("i", 257), w1).Is(unchanged)
	sc.Remove(w1).Is(counts(0))
	sc.Dump("").SameAs("before")
	sc.Size().Is(sized(2, 2))
	sc.Match("U", w1, a).Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-015/empty", "stores of no block, by whomever and under whatever parent, and an eviction of none; then, with room for two, a third session comes", "they are answered as what changes nothing and are no use of the session", sc)
}

// SPX014Bytes are ids around the limit.
func (Cases) SPX014Bytes() bench.Case {
	sc := talk()
	sc.Store("S", w1, a).Is(changed)
	for _, id := range []string{strings.Repeat("i", 256), strings.Repeat("é", 128), strings.Repeat("🦉", 64)} {
		sc.Match(id, w1, a).Is(changed)
		sc.Under(id, w1, a, b).Is(changed)
		sc.Frontiers(id).Is(reaches(at(w1, b)))
	}
	sc.Size().Is(sized(2, 4))
	for _, id := range []string{strings.Repeat("i", 257), strings.Repeat("é", 128) + "i", strings.Repeat("é", 129), strings.Repeat("🦉", 64) + "i", strings.Repeat("🦉", 200)} {
		sc.Match(id, w1, c).Is(unchanged)
		sc.Under(id, w1, a, b).Is(unchanged)
		sc.Under(id, w1, a, c).Is(unchanged)
		sc.Frontiers(id).Is(nothing)
		sc.Lineages(id, w1).Is(noChain)
	}
	sc.Size().Is(sized(2, 4))
	return bench.Indexed("SPX-014/bytes", "session ids of 256 bytes and more, in characters of one, two and four bytes", "up to 256 bytes they are sessions; what comes under a longer one is ignored, with its blocks", sc)
}

// SPX014Ignored are events of ids that are too long, and wrong besides.
func (Cases) SPX014Ignored() bench.Case {
	long := strings.Repeat("i", 257)
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Dump("before")
	sc.Store(long, w1, a, b, a).Is(unchanged)
	sc.Under(long, w1, unknown, x).Is(unchanged)
	sc.Under(long, w1, x, b).Is(unchanged)
	sc.Store(long, w1).Is(unchanged)
	sc.Dump("").SameAs("before")
	sc.Size().Is(sized(2, 1))
	return bench.Indexed("SPX-014/ignored", "stores under an id of 257 bytes, which would be refused under another", "they are ignored, not refused", sc)
}

// SPX014Admitted is an id that waits between its admission and its application.
func (Cases) SPX014Admitted() bench.Case {
	long := strings.Repeat("é", 128) + "i"
	sc := talk()
	sc.Register(worker1, "first")
	sc.Store("S", w1, a, b).As("first").Is(changed)
	sc.AdmitStore("chain", long, w1, b, c).As("first")
	sc.AdmitStore("wrong", long, w1, "", x, x).As("first")
	sc.AdmitMatch("match", long, w1, x).As("first")
	sc.AdmitStore("longest", long[:256], w1, b, c).As("first")
	for _, name := range []string{"chain", "wrong", "match"} {
		sc.Apply(name).Is(unchanged)
	}
	sc.Frontiers(long).Is(nothing)
	sc.Size().Is(sized(2, 1).Discarding(0))
	sc.Apply("longest").Is(changed)
	sc.Frontiers(long[:256]).Is(reaches(at(w1, c)))
	return bench.Indexed("SPX-014/admitted", "stores and a match under an id of 257 bytes, and a store under one of 256, taken in and applied later", "the longer one is ignored, neither refused nor discarded, and the other counts", sc)
}

// SPX014Empty is the id without a byte.
func (Cases) SPX014Empty() bench.Case {
	sc := talk()
	sc.Store("", w1, a, b).Is(changed)
	sc.Match("S", w1, a).Is(changed)
	sc.Frontiers("").Is(reaches(at(w1, b)))
	sc.Lineages("", w1).Is(chains(chain(a, b)))
	sc.Remove(w1, b).Is(counts(1))
	sc.Frontiers("").Is(reaches(at(w1, a)))
	sc.Size().Is(sized(2, 2))
	return bench.Indexed("SPX-014/empty-id", "a store under the empty session id, beside another session", "it is a session like any other", sc)
}
