package affinity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// twins makes two ids that a careless comparison takes for one.
type twins struct {
	kind  string
	plain bool // fit for a cookie's value
	of    func(id string) (string, string)
}

func ending(a, b string) func(string) (string, string) {
	return func(id string) (string, string) { return id + a, id + b }
}

func differing() []twins {
	return []twins{
		{"case", true, ending("-abc", "-ABC")},
		{"last byte of 256", true, func(id string) (string, string) {
			long := id + strings.Repeat("x", 255-len(id))
			return long + "0", long + "1"
		}},
		{"middle byte of 256", true, func(id string) (string, string) {
			head, tail := id+strings.Repeat("x", 127-len(id)), strings.Repeat("z", 128)
			return head + "0" + tail, head + "1" + tail
		}},
		{"first byte", true, func(id string) (string, string) { return "0" + id, "1" + id }},
		{"byte 65", true, func(id string) (string, string) { p := id + strings.Repeat("y", 64-len(id)); return p + "0", p + "1" }},
		{"a longer one", true, ending("", "0")},
		{"percent signs", true, ending("%41", "A")},
		{"dots", true, ending(".1", "_1")},
		{"slashes", true, ending("/1", "/2")},
		{"behind a comma", false, ending(",1", ",2")},
		{"behind a blank", false, ending(" 1", " 2")},
		{"behind a semicolon", false, ending(";1", ";2")},
		{"behind an equals sign", true, ending("=1", "=2")},
		{"an equals sign at the end", false, ending("=", "")},
		{"plus and blank", false, ending("+1", " 1")},
		{"quotes", false, ending("\"1\"", "1")},
	}
}

// AFF002Distinct: pairs of ids of each kind, on each endpoint. They are sent in a
// seeded order, lest a strict rotation put partners together.
func (Cases) AFF002Distinct() bench.Case {
	cells := 2 * len(differing())
	// All pairs of one cell on one worker each, by chance.
	pairs := stats.Must(stats.AllSame(1e-6/float64(cells), bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-002/distinct-ids",
		Stimulus:    "pairs of session ids that differ in case, in one byte at either end or in the middle, in length, in or behind punctuation, on both endpoints",
		Requirement: "of each kind some pair lies on two workers, and the sessions lie over the fleet",
		Drive: func(ctx context.Context, r *bench.Run) error {
			var all []bench.Req
			n := 0
			for _, kind := range differing() {
				if !r.CookieFree() && !kind.plain {
					continue
				}
				for _, endpoint := range []string{history.Chat, history.Completions} {
					for p := range pairs {
						a, b := kind.of(r.SessionID(n))
						n++
						phase := kind.kind + ", " + endpoint
						all = append(all, bench.Req{Session: a, Turn: p, Phase: phase, Endpoint: endpoint, Tokens: 1},
							bench.Req{Session: b, Turn: p, Phase: phase, Endpoint: endpoint, Tokens: 1})
					}
				}
			}
			r.Rand().Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i, q := range all {
				q.Stream, q.Kept = i%2 == 1, i/2%2 == 1
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var phases []string
			for _, r := range h.Requests {
				if !slices.Contains(phases, r.Phase) {
					phases = append(phases, r.Phase)
				}
			}
			if len(phases) < 8 {
				return judge.Finding{Inconclusive: fmt.Sprintf("only %d kinds of pairs were sent", len(phases))}
			}
			return judge.All(judge.Served(2*pairs*len(phases)), judge.Placed(placed(2*pairs*len(phases))), judge.Apart(pairs, phases...))(h)
		},
	}
}
