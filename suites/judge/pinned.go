package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// AsPinned requires that the pinned requests of the phases reached their pin's
// worker and, where the pin has one, its rank, and nobody else. At least min of
// them must have been answered with 2xx.
func AsPinned(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		served := 0
		for _, r := range In(h, phases...) {
			if r.Pin == nil || r.Pin.Worker == "" {
				continue
			}
			right := true
			for _, a := range at[r.Key] {
				switch {
				case a.Worker != r.Pin.Worker:
					right = false
					g.add(fmt.Sprintf("a pinned request at its pin's worker only (%s)", how(r)), "at another worker", r.Key)
				case r.Pin.Rank != nil && a.Rank != *r.Pin.Rank:
					right = false
					g.add(fmt.Sprintf("a pinned request at its pin's rank %d only (%s)", *r.Pin.Rank, how(r)), "at "+ranked(a), r.Key)
				}
			}
			if right && r.OK() && len(at[r.Key]) > 0 {
				served++
			}
		}
		return g.orDoubt(served >= min, "only %d of %d pinned requests were served by the worker that they named", served, min)
	}
}

// ranked says which rank an attempt came to, and how.
func ranked(a *ledger.Attempt) string {
	if a.Rank == ledger.NoRank {
		return "no rank"
	}
	return fmt.Sprintf("rank %d (%s)", a.Rank, a.RankChoice)
}

// SticksToRank requires all attempts of each session in the phases to be at one
// rank of one worker, which the router named. At least min sessions must show two
// turns at it.
func SticksToRank(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		seen := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			var home *ledger.Attempt
			turns := 0
			for _, r := range all[s] {
				for _, a := range at[r.Key] {
					turns++
					switch {
					case a.RankChoice == ledger.RankEngine:
						g.add(fmt.Sprintf("a turn that names its session's rank (%s)", how(r)), "a turn whose rank the engine chose", r.Key)
					case home == nil:
						home = a
					case a.Worker != home.Worker || a.Rank != home.Rank:
						g.add(fmt.Sprintf("every turn of a session at one rank of one worker (%s)", how(r)), "turns at two", r.Key)
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

// FollowsPin requires the unpinned turns of the phases to be at the
// worker that their session's last served pinned turn named.
func FollowsPin(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		home, n := map[string]string{}, 0
		for _, r := range In(h, phases...) {
			switch {
			case r.Session == "":
			case r.Pin != nil && r.OK():
				home[r.Session] = r.Pin.Worker
			case r.Pin == nil && home[r.Session] != "":
				for _, a := range at[r.Key] {
					n++
					if a.Worker != home[r.Session] {
						g.add(fmt.Sprintf("a turn at the worker to which a pin bound its session (%s)", how(r)), "at another worker", r.Key)
					}
				}
			}
		}
		return g.orDoubt(n >= min, "only %d of %d turns came after a pinned one", n, min)
	}
}
