package judge

import (
	"fmt"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
)

// pinOf is the pin that an attempt of a request has to follow: each phase reads its
// own (PDS-003). Nil where it has none that names a worker.
func pinOf(r *history.Request, role string) *script.Where {
	p := r.Pin
	if role == history.Prefill {
		p = r.PrefillPin
	}
	if p == nil || p.Worker == "" {
		return nil
	}
	return p
}

// AsPinned requires the pinned requests of the phases to have reached their pin's
// worker and, where the pin has one, its rank by name, and nobody else; prefill has
// a pin of its own. At least min of them must have been answered with 2xx by the
// workers that they named.
func AsPinned(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		served := 0
		for _, r := range In(h, phases...) {
			missing := map[*script.Where]bool{}
			for _, role := range []string{history.Prefill, history.Decode} {
				if p := pinOf(r, role); p != nil {
					missing[p] = true
				}
			}
			if len(missing) == 0 {
				continue
			}
			right := true
			for _, a := range at[r.Key] {
				p := pinOf(r, a.Role)
				switch {
				case p == nil:
					continue
				case a.Worker != p.Worker:
					right = false
					g.add(fmt.Sprintf("a pinned request at its pin's worker only (%s)", how(r)), "at another worker", r.Key)
				case p.Rank != nil && (a.Rank != *p.Rank || a.RankChoice != ledger.RankRequested):
					right = false
					g.add(fmt.Sprintf("a pinned request at its pin's rank %d only, by name (%s)", *p.Rank, how(r)), "at "+ranked(a), r.Key)
				}
				delete(missing, p)
			}
			if right && r.OK() && len(missing) == 0 {
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
// rank of one worker, which the router named. At least min sessions must have
// reached it with two turns.
func SticksToRank(min int, phases ...string) Judge {
	return home{
		same: func(first, a *ledger.Attempt) bool { return a.Worker == first.Worker && a.Rank == first.Rank },
		want: "every turn of a session at one rank of one worker", got: "turns at two",
		none: func(a *ledger.Attempt) (want, got string) {
			if a.RankChoice == ledger.RankRequested {
				return "", ""
			}
			return "a turn that names its session's rank", "a turn at " + ranked(a)
		},
	}.kept(min, phases...)
}

// FollowsPin requires the unpinned turns of the phases to be at the worker that
// their session's last served pinned turn named. At least min such turns must have
// reached a worker. Questions count for nothing.
func FollowsPin(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		home, n := map[string]string{}, 0
		for _, r := range In(h, phases...) {
			switch {
			case r.Session == "" || r.Asks:
			case r.Pin != nil:
				if r.OK() && r.Pin.Worker != "" {
					home[r.Session] = r.Pin.Worker
				}
			case home[r.Session] != "" && len(at[r.Key]) > 0:
				n++
				for _, a := range at[r.Key] {
					if a.Worker != home[r.Session] {
						g.add(fmt.Sprintf("a turn at the worker to which a pin bound its session (%s)", how(r)), "at another worker", r.Key)
					}
				}
			}
		}
		return g.orDoubt(n >= min, "only %d of %d turns came after a pinned one and reached a worker", n, min)
	}
}

// NamedOrRefused requires each request of the phases to have reached the workers that
// its pins name, whatever their roles, or to have been answered with a 4xx and to have
// reached nobody.
func NamedOrRefused(phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			as := at[r.Key]
			if r.End == history.Complete && r.Status/100 == 4 && len(as) == 0 {
				continue
			}
			for _, p := range []*script.Where{r.Pin, r.PrefillPin} {
				named := p == nil
				for _, a := range as {
					named = named || a.Worker == p.Worker
				}
				if !named {
					g.add(fmt.Sprintf("a request at the worker that it names, or a 4xx and no dispatch (%s, %s)", phaseName(r), how(r)),
						fmt.Sprintf("%s, at %s", outcome(r), servedBy(as)), r.Key)
				}
			}
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}
