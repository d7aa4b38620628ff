package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// RankAnew requires that the ranks which the router names where sessions went are not
// those that they had: not so many of them that chance would do it at a rate of leakAlpha
// or less, with a half for each, as of two ranks. It compares the pin of each session's
// last served turn of the phase before with its first served turn of the phase after,
// where that is at another worker and the router named its rank: where the engine chose,
// nothing was taken along. At least min sessions must have moved to a worker with ranks.
func RankAnew(min int, before, after string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		had, then := sessions(h, before), sessions(h, after)
		moved, named := 0, 0
		var same []string
		for _, s := range slices.Sorted(maps.Keys(had)) {
			old, first := lastOK(had[s]), firstOK(then[s])
			if old == nil || first == nil || old.Pin == nil || old.Pin.Rank == nil {
				continue
			}
			a := last(at[first.Key])
			if a == nil || a.Worker == old.Pin.Worker || a.Rank == ledger.NoRank {
				continue
			}
			moved++
			if a.RankChoice != ledger.RankRequested {
				continue
			}
			named++
			if a.Rank == *old.Pin.Rank {
				same = append(same, first.Key)
			}
		}
		if stats.UpperTail(named, len(same), Chance) <= leakAlpha {
			g.add("a session that moves to another worker to get a rank there anew",
				fmt.Sprintf("%d of %d sessions whose rank is named have the one that they had", len(same), named), same...)
		}
		if named > 0 && len(same) == named {
			return g.orDoubt(false, "all %d sessions whose rank is named have the one that they had; so few may by chance", named)
		}
		return g.orDoubt(moved >= min, "only %d of %d sessions moved to a worker with ranks", moved, min)
	}
}

func lastOK(rs []*history.Request) (r *history.Request) {
	for _, q := range rs {
		if q.OK() {
			r = q
		}
	}
	return r
}

func firstOK(rs []*history.Request) *history.Request {
	for _, q := range rs {
		if q.OK() {
			return q
		}
	}
	return nil
}
