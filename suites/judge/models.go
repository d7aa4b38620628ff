package judge

import (
	"cmp"
	"fmt"

	"github.com/routeproof/routeproof/suites/history"
)

// OfModel requires every request of the phases to have reached only workers that serve
// the model which it asks for, by whichever of its names. At least min of them must have reached one, for each of
// two models or more.
func OfModel(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		serves := map[string]string{}
		for _, w := range h.Fleet {
			serves[w.ID] = w.Model
		}
		var g group
		at := attempts(h)
		seen := map[string]int{}
		for _, r := range In(h, phases...) {
			model := cmp.Or(h.Aliases[r.Model], r.Model)
			for _, a := range at[r.Key] {
				if serves[a.Worker] != model {
					g.add(fmt.Sprintf("a request at workers of its model (%s, %s)", phaseName(r), how(r)), "at one that serves another", r.Key)
				}
			}
			if len(at[r.Key]) > 0 {
				seen[model]++
			}
		}
		enough := 0
		for _, n := range seen {
			if n >= min {
				enough++
			}
		}
		return g.orDoubt(enough >= 2, "of %d models only %d had %d requests that reached a worker", len(seen), enough, min)
	}
}
