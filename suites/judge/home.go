package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Sticks requires all attempts of each session in the phases to be at one
// worker, with at least min sessions of which two turns or more reached any: one
// turn alone shows nothing.
func Sticks(min int, phases ...string) Judge {
	return home{
		same: func(first, a *ledger.Attempt) bool { return a.Worker == first.Worker },
		want: "every turn of a session on one worker", got: "turns on two workers or more",
	}.kept(min, phases...)
}

// home is what a session is held to, as its first attempt there shows it.
type home struct {
	same      func(first, a *ledger.Attempt) bool
	want, got string                                   // where they are not the same
	none      func(*ledger.Attempt) (want, got string) // of an attempt that shows no home, else ""; nil: each shows one
}

// kept walks the sessions of the phases. At least min must have reached a worker with
// two turns.
func (k home) kept(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		seen := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			var home *ledger.Attempt
			var first *history.Request
			turns := 0
			for _, r := range all[s] {
				if len(at[r.Key]) > 0 {
					turns++
				}
				for _, a := range at[r.Key] {
					if k.none != nil {
						if want, got := k.none(a); want != "" {
							g.add(fmt.Sprintf("%s (%s)", want, how(r)), got, r.Key)
							continue
						}
					}
					if home == nil {
						home, first = a, r
					} else if !k.same(home, a) {
						g.add(fmt.Sprintf("%s (%s)", k.want, how(r)), k.got, first.Key, r.Key)
					}
				}
			}
			if turns >= 2 {
				seen++
			}
		}
		return g.orDoubt(seen >= min, "only %d of %d sessions reached a worker with two turns", seen, min)
	}
}
