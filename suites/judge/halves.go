package judge

import (
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// Turns names, by their phases, a session's turn before and the one after it that is to
// be placed anew.
type Turns struct{ Before, After string }

// Halves is how many halves of the sessions ReplacedInHalves looks at.
const Halves = 8

func streaming(r *history.Request) string {
	if r.Stream {
		return "streamed"
	}
	return "not streamed"
}

// halves are the ways to cut sessions in two: by what the one or the other turn was.
var halves = []pairCell{
	func(before, _ *history.Request) string { return before.Endpoint + " before" },
	func(_, after *history.Request) string { return after.Endpoint + " after" },
	func(before, _ *history.Request) string { return streaming(before) + " before" },
	func(_, after *history.Request) string { return streaming(after) + " after" },
}

// ReplacedInHalves is Replaced for the sessions of all the turns together, once for
// those of each endpoint and once for those that were streamed and that were not, before
// and after: what is wrong in one way to ask alone would pass for chance among all the
// others. Each half must have need sessions.
func ReplacedInHalves(need int, alpha float64, free, expected string, turns ...Turns) Judge {
	return func(h *history.History) Finding {
		var f Finding
		for _, half := range halves {
			cells := map[string]*returns{}
			for _, t := range turns {
				returned(h, cells, half, t.Before, t.After)
			}
			one := replaced(h, cells, need, func(c *returns) bool { return c.n >= need }, alpha, free, expected)
			f.Violations = append(f.Violations, one.Violations...)
			if f.Inconclusive == "" {
				f.Inconclusive = one.Inconclusive
			}
			if f.Inconclusive == "" && len(cells) < 2 {
				f.Inconclusive = fmt.Sprintf("of two ways to ask only %d can be judged", len(cells))
			}
		}
		return f
	}
}
