package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/history"
)

// Cell names the stratum of a request within which a share is counted.
type Cell func(*history.Request) string

// ByShape puts each way of asking into a cell of its own.
func ByShape(r *history.Request) string {
	return fmt.Sprintf("%s stream=%t kept=%t", r.Endpoint, r.Stream, r.Kept)
}

// ByEndpoint puts each endpoint into a cell of its own.
func ByEndpoint(r *history.Request) string { return r.Endpoint }

// ByPhase puts each phase into a cell of its own.
func ByPhase(r *history.Request) string { return r.Phase }

// counts tallies requests per cell and worker. Workers without a request are present with zero.
func counts(h *history.History, cell Cell, workers []string, phases []string) map[string]map[string]int {
	at := attempts(h)
	out := map[string]map[string]int{}
	for _, r := range In(h, phases...) {
		c := cell(r)
		if out[c] == nil {
			out[c] = map[string]int{}
			for _, w := range workers {
				out[c][w] = 0
			}
		}
		if as := at[r.Key]; len(as) > 0 {
			out[c][as[len(as)-1].Worker]++
		}
	}
	return out
}

// Share requires that in every cell of the phases no worker serves more than
// most requests nor any of the workers fewer than least. workers nil means
// those wired at the start. perCell is how many requests the sample was planned
// for: a smaller cell decides nothing.
func Share(cell Cell, perCell, least, most int, workers []string, phases ...string) Judge {
	return func(h *history.History) Finding {
		of := workers // a judge keeps nothing from one history to the next
		if of == nil {
			of = h.Workers
		}
		all := counts(h, cell, of, phases)
		if len(all) == 0 {
			return Finding{Inconclusive: fmt.Sprintf("no request of %v was sent", phases)}
		}
		var f Finding
		for _, c := range slices.Sorted(maps.Keys(all)) {
			n := 0
			for _, k := range all[c] {
				n += k
			}
			if n < perCell {
				f.Inconclusive = fmt.Sprintf("cell %q has %d of %d requests at workers, too few to decide", c, n, perCell)
				continue
			}
			for _, w := range slices.Sorted(maps.Keys(all[c])) {
				switch k := all[c][w]; {
				case k > most:
					f.Violations = append(f.Violations, Violation{
						Expected: fmt.Sprintf("at most %d of %d requests on any worker (%s)", most, perCell, c),
						Observed: fmt.Sprintf("%d on %s; all: %s", k, w, tally(all[c]))})
				case k < least:
					f.Violations = append(f.Violations, Violation{
						Expected: fmt.Sprintf("at least %d of %d requests on every worker (%s)", least, perCell, c),
						Observed: fmt.Sprintf("%d on %s; all: %s", k, w, tally(all[c]))})
				}
			}
		}
		return f
	}
}

func tally(m map[string]int) string {
	var words []string
	for _, w := range slices.Sorted(maps.Keys(m)) {
		words = append(words, fmt.Sprintf("%s=%d", w, m[w]))
	}
	return strings.Join(words, " ")
}

// None requires that no request of the phases reached the worker.
func None(worker func(*history.History) string, phases ...string) Judge {
	return func(h *history.History) Finding {
		w := worker(h)
		if w == "" {
			return Finding{Inconclusive: "no worker left in this history"}
		}
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			for _, a := range at[r.Key] {
				if a.Worker == w {
					g.add(fmt.Sprintf("no request on worker %s, which has left (%s)", w, phaseName(r)), "one dispatched to it", r.Key)
				}
			}
		}
		return g.orDoubt(len(rs) > 0, noneSent, phases)
	}
}

// Marked finds the worker of the first mark of a kind.
func Marked(what string) func(*history.History) string {
	return func(h *history.History) string {
		for _, m := range h.Marks {
			if m.What == what {
				return m.Worker
			}
		}
		return ""
	}
}
