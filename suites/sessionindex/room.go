package sessionindex

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
)

// SPX016Oldest is T13.
func (Cases) SPX016Oldest() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Match("S", w1, a).Is(changed)
	sc.Match("T", w1, a).Is(changed)
	sc.Match("S", w1, a).Is(unchanged) // of use all the same
	sc.Match("U", w1, a).Is(changed)
	sc.Frontiers("T").Is(nothing)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Frontiers("U").Is(reaches(at(w1, a)))
	sc.Size().Is(sized(1, 2))
	sc.Store("S", w1, a).Is(unchanged)
	sc.Store("T", w2, a, b).Is(changed)
	sc.Frontiers("U").Is(nothing)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Remove(w1, a).Is(counts(1))
	return bench.Indexed("SPX-016/oldest", "room for two; the first session comes again, by a match and by a store that change nothing, before a third", "the session that was used least recently goes, on every rank", sc)
}

// SPX016One has room for one.
func (Cases) SPX016One() bench.Case {
	sc := talkTo(lineage.Holding(1))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("S", w2, a).Is(changed)
	sc.Store("T", w1, r).Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w1, r)))
	sc.Clear(w2).Is(counts(0))
	sc.Size().Is(sized(3, 1))
	sc.Under("S", w1, b, c).Is(changed)
	sc.Frontiers("T").Is(nothing)
	sc.Lineages("S", w1).Is(chains(chain(a, b, c)))
	return bench.Indexed("SPX-016/one", "room for one; two sessions in turn, the first on two ranks", "the one that comes has the place; of the other no rank has anything left, and its blocks are known", sc)
}

// SPX016Reads has reads and evictions between.
func (Cases) SPX016Reads() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w2, a, b).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, b)))
	sc.Lineages("S", w1).Is(chains(chain(a, b)))
	sc.LineagesFrom("S", w1, b).Is(chains(chain(b)))
	sc.Size().Is(sized(2, 2))
	sc.Store("U", w1b, r).Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w2, b)))
	return bench.Indexed("SPX-016/reads", "room for two; the older session is asked for, then a third comes", "the older one goes: who is asked for is not used", sc)
}

// SPX016Evictions has evictions between.
func (Cases) SPX016Evictions() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a, b).Is(changed)
	sc.Store("T", w2, a, b).Is(changed)
	sc.Remove(w1, b).Is(counts(1))
	sc.Clear(w1b).Is(counts(0))
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Store("U", w1b, r).Is(changed)
	sc.Frontiers("S").Is(nothing)
	sc.Frontiers("T").Is(reaches(at(w2, b)))
	return bench.Indexed("SPX-016/evictions", "room for two; a block of the older session is evicted, then a third comes", "the older one goes: who loses a block is not used", sc)
}

// SPX016Empty frees places.
func (Cases) SPX016Empty() bench.Case {
	sc := talkTo(lineage.Holding(2))
	sc.Store("S", w1, a).Is(changed)
	sc.Store("T", w2, b).Is(changed)
	sc.Remove(w2, b).Is(counts(1))
	sc.Store("U", w2, c).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Frontiers("U").Is(reaches(at(w2, c)))
	sc.Clear(w2).Is(counts(1))
	sc.Store("T", w2, b).Is(changed)
	sc.Frontiers("S").Is(reaches(at(w1, a)))
	sc.Size().Is(sized(3, 2))
	return bench.Indexed("SPX-016/empty", "room for two; one session loses all it has, by an eviction and by a clear, before another comes", "who has nothing takes no place", sc)
}

// SPX016Many fills a table of some size.
func (Cases) SPX016Many() bench.Case {
	const room = 40
	sc := talkTo(lineage.Holding(room))
	for i := range room + 5 {
		sc.Match(name(i), w1, a).Is(changed)
	}
	sc.Size().Is(sized(1, room))
	for i := range 5 {
		sc.Frontiers(name(i)).Is(nothing)
	}
	sc.Frontiers(name(5)).Is(reaches(at(w1, a)))
	sc.Clear(w1).Is(counts(room))
	sc.Size().Is(sized(1, 0))
	return bench.Indexed("SPX-016/many", "room for forty; forty-five sessions", "the first five have gone, and forty are held", sc)
}

func name(i int) string { return "session " + lineage.B(uint64(i)) }

// SPX031Sessions is the specification's own limit.
func (Cases) SPX031Sessions() bench.Case {
	sc := talk()
	const each = 1 << 8
	for from := 0; from < lineage.DefaultSessions; from += each {
		sc.Fill(from, each, w1, a).Is(counts(each))
	}
	sc.Size().Is(sized(1, lineage.DefaultSessions))
	sc.Frontiers(lineage.Numbered(0)).Is(reaches(at(w1, a)))
	sc.Match("one more", w1, a).Is(changed)
	sc.Size().Is(sized(1, lineage.DefaultSessions))
	sc.Frontiers(lineage.Numbered(0)).Is(nothing)
	sc.Frontiers(lineage.Numbered(1)).Is(reaches(at(w1, a)))
	c := bench.Indexed("SPX-031/sessions", "an index of its own settings, 16,384 sessions, and one more", "the 16,384 are held, and for the last the first goes", sc)
	c.Cost = 1500 * time.Millisecond
	return c
}

// SPX018Settings are instances that can be, and that cannot.
func (Cases) SPX018Settings() bench.Case {
	sc := talk()
	for _, bad := range []lineage.Config{
		lineage.Holding(0), lineage.Holding(-1), lineage.Config{}.Keeping(0), lineage.Config{}.Keeping(-time.Millisecond), lineage.Holding(5).Keeping(0), lineage.Holding(0).Keeping(time.Second),
	} {
		sc.Create(bad).Is(lineage.Fails(lineage.InvalidArgument))
	}
	for _, good := range []lineage.Config{{}, lineage.Holding(1), lineage.Config{}.Keeping(time.Millisecond), lineage.Holding(1 << 20).Keeping(24 * time.Hour)} {
		sc.Create(good).Is(done)
	}
	return bench.Indexed("SPX-018/settings", "limits of sessions and retention times just inside and just outside what can be", "what is out of range is refused as invalid", sc)
}
