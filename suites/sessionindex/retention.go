package sessionindex

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
)

const (
	keeps = 10 * time.Second // the retention time of these cases
	tick  = time.Millisecond
)

func keeping() *lineage.Script { return talkTo(lineage.Config{}.Keeping(keeps)) }

// SPX017Edge is T21, to the millisecond.
func (Cases) SPX017Edge() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Advance(5 * keeps)
	sc.Size().Is(sized(3, 1))
	sc.Remove(w1, b, c).Is(counts(1))
	sc.Advance(keeps - tick)
	sc.Size().Is(sized(3, 1))
	sc.LineagesFrom("S", w1, c).Is(noChain)
	sc.Advance(tick)
	sc.Size().Is(sized(1, 1))
	sc.LineagesFrom("S", w1, b).Is(unknownAnchor(b))
	sc.LineagesFrom("S", w1, c).Is(unknownAnchor(c))
	sc.Lineages("S", w1).Is(chains(chain(a)))
	sc.Advance(100 * keeps)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	return bench.Indexed("SPX-017/edge", "blocks below a frontier, a millisecond before their retention time has passed and exactly when it has", "then they are forgotten and not before; a frontier never is, nor what is above it", sc)
}

// SPX030Retention is the specification's own time.
func (Cases) SPX030Retention() bench.Case {
	sc := talk()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Clear(w1).Is(counts(1))
	sc.Advance(lineage.DefaultRetention - tick)
	sc.Size().Is(sized(2, 0))
	sc.Advance(tick)
	sc.Size().Is(sized(0, 0))
	return bench.Indexed("SPX-030/retention", "an index of its own settings, cleared five minutes ago, less a millisecond, and exactly", "blocks stay known for five minutes", sc)
}

// SPX017Parent is a parent that nobody has any more.
func (Cases) SPX017Parent() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w1, a, b).Is(changed)
	sc.Clear(w1).Is(counts(2))
	sc.Advance(keeps - tick)
	sc.Under("S", w1, b, c).Is(changed) // known is known, whoever has it
	sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
	sc.Clear(w1).Is(counts(1))
	sc.Advance(keeps)
	sc.Size().Is(sized(0, 0))
	sc.Under("S", w1, c, d).Is(unknownParent(c))
	sc.Under("S", w1, b, c).Is(unknownParent(b))
	sc.Match("S", w1, c).Is(changed)
	sc.Under("S", w1, c, d).Is(changed)
	sc.Lineages("S", w1).Is(chains(chain(c, d)))
	sc.Under("S", w1, b, c).Is(unchanged)
	sc.Lineages("S", w1).Is(chains(chain(b, c, d)))
	sc.Size().Is(sized(3, 1))
	return bench.Indexed("SPX-017/parent", "stores below a block that nobody has: while it is known, when it is forgotten, and when a match has made a root of it", "it is a parent as long as it is known; from the match on, a chain grows from there", sc)
}

// SPX017Unwinds stops at what is still needed.
func (Cases) SPX017Unwinds() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b, c, d).Is(changed)
	sc.Under("T", w2, b, x, y).Is(changed)
	sc.Match("U", w1b, a).Is(changed)
	sc.Clear(w1).Is(counts(1))
	sc.Advance(keeps)
	sc.Size().Is(sized(4, 2)) // a, b, x, y
	sc.Lineages("T", w2).Is(chains(chain(a, b, x, y)))
	sc.LineagesFrom("T", w2, c).Is(unknownAnchor(c))
	sc.Clear(w2).Is(counts(1))
	sc.Advance(keeps)
	sc.Size().Is(sized(1, 1))
	sc.Lineages("U", w1b).Is(chains(chain(a)))
	return bench.Indexed("SPX-017/unwinds", "a chain with a branch and a session at its root; its end is let go, then its branch's", "a dead end is forgotten up to the first block that is needed: by a branch, or by a claim of whatever rank", sc)
}

// SPX017Restarts counts from the last use.
func (Cases) SPX017Restarts() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Clear(w1).Is(counts(1))
	sc.Advance(keeps - tick)
	sc.Match("T", w2, b).Is(changed)
	sc.Remove(w2, b).Is(counts(1)) // b is without use since now
	sc.Advance(keeps - tick)
	sc.Size().Is(sized(2, 1))
	sc.Advance(tick)
	sc.Size().Is(sized(1, 1))
	sc.Clear(w2).Is(counts(1))
	sc.Advance(keeps / 2)
	sc.Under("S", w1, a, c).Is(changed)
	sc.Advance(keeps)
	sc.Remove(w1, c).Is(counts(1))
	sc.Remove(w1, a).Is(counts(1))
	sc.Advance(keeps - tick)
	sc.Size().Is(sized(2, 0))
	sc.Advance(tick)
	sc.Size().Is(sized(0, 0))
	return bench.Indexed("SPX-017/restarts", "blocks that are used again shortly before they are forgotten, by a claim and as a parent", "their time begins anew when they are without use again", sc)
}

// SPX017Reads does not count reads.
func (Cases) SPX017Reads() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b).Is(changed)
	sc.Remove(w1, b).Is(counts(1))
	for range 4 {
		sc.Advance(keeps / 5)
		sc.LineagesFrom("S", w1, b).Is(noChain)
		sc.Store("S", w1, x, b).Is(conflicting(b))
		sc.Remove(w1, b).Is(counts(0))
		sc.Store("S", w1, a).Is(unchanged)
	}
	sc.Advance(keeps / 5)
	sc.Size().Is(sized(1, 1))
	return bench.Indexed("SPX-017/reads", "a block without use is asked for, refused and evicted again meanwhile", "none of it keeps the block", sc)
}

// SPX017Again gives a forgotten hash another place.
func (Cases) SPX017Again() bench.Case {
	sc := keeping()
	sc.Store("S", w1, a, b, c).Is(changed)
	sc.Store("T", w2, r).Is(changed)
	sc.Under("S", w1, r, b).Is(conflicting(b))
	sc.Clear(w1).Is(counts(1))
	sc.Advance(keeps)
	sc.Store("T", w2, x, a).Is(changed)
	sc.Under("S", w1, r, c, b).Is(changed) // the other way round
	sc.Lineages("S", w1).Is(chains(chain(r, c, b)))
	sc.Lineages("T", w2).Is(chains(chain(r), chain(x, a)))
	sc.Frontiers("T").Is(reaches(at(w2, r), at(w2, a)))
	sc.Size().Is(sized(5, 2))
	sc.Remove(w1, c).Is(counts(1))
	sc.Frontiers("S").Is(reaches(at(w1, r)))
	return bench.Indexed("SPX-017/again", "blocks that were forgotten come back under other parents", "nothing of their former place is left", sc)
}

// SPX017Places uses the room of what was forgotten.
func (Cases) SPX017Places() bench.Case {
	sc := keeping()
	sc.Store("T", w2, s, t).Is(changed)
	for round := range 6 {
		first := uint64(0x100 * (round + 1))
		block := func(i uint64) string { return lineage.B(first + i) }
		sc.Store("S", w1, block(0), block(1), block(2), block(3)).Is(changed)
		sc.Under("S", w1, block(1), block(4)).Is(changed)
		if round > 0 {
			former := lineage.B(first - 0x100 + 1)
			sc.LineagesFrom("S", w1, former).Is(unknownAnchor(former))
			sc.Under("S", w1, former, x).Is(unknownParent(former))
		}
		sc.Frontiers("S").Is(reaches(at(w1, block(3)), at(w1, block(4))))
		sc.Lineages("S", w1).Is(chains(chain(block(0), block(1), block(2), block(3)), chain(block(0), block(1), block(4))))
		sc.Clear(w1).Is(counts(2))
		sc.Advance(keeps)
		sc.Size().Is(sized(2, 1))
		sc.LineagesFrom("T", w2, block(1)).Is(unknownAnchor(block(1)))
		sc.Lineages("T", w2).Is(chains(chain(s, t)))
	}
	return bench.Indexed("SPX-017/places", "chains that come, go and are forgotten, six times, each of other blocks; one chain stays", "each is itself: no block takes another's place for its own", sc)
}

// SPX017Phantom is a phantom whose child goes.
func (Cases) SPX017Phantom() bench.Case {
	sc := keeping()
	sc.Match("S", w1, r).Is(changed)
	sc.Under("S", w1, unknown, r).Is(unchanged)
	sc.Advance(2 * keeps)
	sc.Size().Is(sized(2, 1))
	sc.Remove(w1, r).Is(counts(1))
	sc.Advance(keeps - tick)
	sc.Size().Is(sized(2, 0))
	sc.Advance(tick)
	sc.Size().Is(sized(0, 0))
	sc.Under("S", w1, unknown, x).Is(unknownParent(unknown))
	return bench.Indexed("SPX-017/phantom", "a phantom above a block that is evicted and forgotten", "it is forgotten with it, and not before", sc)
}
