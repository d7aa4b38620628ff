package affinity

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// twins makes two ids that a careless comparison takes for one.
type twins struct {
	kind  string
	plain bool // fit for a cookie's value
	once  bool // tried on one endpoint, now on this, now on that
	of    func(id string) (string, string)
}

func ending(a, b string) func(string) (string, string) {
	return func(id string) (string, string) { return id + a, id + b }
}

func beginning(a, b string) func(string) (string, string) {
	return func(id string) (string, string) { return a + number(id), b + number(id) }
}

func within(quote string) func(string) (string, string) {
	return func(id string) (string, string) { return quote + id + quote, id }
}

// number makes an id of digits alone, of 24: some read such ids as numbers.
func number(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it never fails
	return fmt.Sprintf("%024d", h.Sum64())
}

// uuid makes an id that reads like one, with these letters in it.
func uuid(id, letters string) string {
	n := number(id)
	return n[:8] + "-" + n[8:12] + "-4" + n[12:15] + "-8" + n[15:18] + "-" + n[18:24] + letters
}

func differing() []twins {
	return []twins{
		{"case", true, false, ending("-abc", "-ABC")},
		{"last byte of 256", true, false, func(id string) (string, string) {
			long := id + strings.Repeat("x", 255-len(id))
			return long + "0", long + "1"
		}},
		{"middle byte of 256", true, false, func(id string) (string, string) {
			head, tail := id+strings.Repeat("x", 127-len(id)), strings.Repeat("z", 128)
			return head + "0" + tail, head + "1" + tail
		}},
		{"first byte", true, false, func(id string) (string, string) { return "0" + id, "1" + id }},
		{"byte 65", true, false, func(id string) (string, string) { p := id + strings.Repeat("y", 64-len(id)); return p + "0", p + "1" }},
		{"a longer one", true, false, ending("", "0")},
		{"percent signs", true, false, ending("%41", "A")},
		{"dots", true, false, ending(".1", "_1")},
		{"slashes", true, false, ending("/1", "/2")},
		{"behind a comma", false, false, ending(",1", ",2")},
		{"behind a blank", false, false, ending(" 1", " 2")},
		{"behind a semicolon", false, false, ending(";1", ";2")},
		{"behind an equals sign", true, false, ending("=1", "=2")},
		{"an equals sign at the end", false, false, ending("=", "")},
		{"plus and blank", false, false, ending("+1", " 1")},
		{"quotes", false, false, ending("\"1\"", "1")},
		{"zeros at the front", true, true, beginning("0", "00")},
		{"zeros behind a letter", true, true, ending("a1", "a01")},
		{"signs at the front", true, true, beginning("+", "-")},
		{"digits and an exponent", true, true, beginning("1e1", "10")},
		{"behind a hash", true, true, ending("#1", "#2")},
		{"behind a question mark", true, true, ending("?1", "?2")},
		{"behind a colon", true, true, ending(":1", ":2")},
		{"behind an ampersand", true, true, ending("&1", "&2")},
		{"behind an at sign", true, true, ending("@1", "@2")},
		{"behind a bar", true, true, ending("|1", "|2")},
		{"one blank and two", false, true, ending(" 1", "  1")},
		{"dots at the end", true, true, ending(".", "")},
		{"slashes at the end", true, true, ending("/", "")},
		{"hyphens and underlines", true, true, ending("-1", "_1")},
		{"hyphens and none", true, true, ending("-1", "1")},
		{"behind an underline", true, true, ending("_1", "_2")},
		{"within quotes", false, true, within(`"`)},
		{"within apostrophes", false, true, within("'")},
		{"hexadecimal letters", true, true, func(id string) (string, string) { return uuid(id, "abcdef"), uuid(id, "ABCDEF") }},
		{"escaped letters", true, true, ending("%2f", "%2F")},
		{"numbers past 64 bits", true, true, func(id string) (string, string) { n := number(id); return "1" + n, "2" + n }},
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
		Stimulus:    "pairs of session ids that differ in case, in one byte at either end or in the middle, in length, in zeros, in blanks, in or behind punctuation, on both endpoints",
		Requirement: "of each kind some pair lies on two workers, and the sessions lie over the fleet",
		Cost:        1300 * time.Millisecond,
		Limit:       bench.LimitFor(2 * pairs * cells),
		Drive: func(ctx context.Context, r *bench.Run) error {
			var all []bench.Req
			n := 0
			for _, kind := range differing() {
				if !r.CookieFree() && !kind.plain {
					continue
				}
				endpoints := []string{history.Chat, history.Completions}
				if kind.once {
					at := r.Rand().IntN(2)
					endpoints = endpoints[at : at+1]
				}
				for _, endpoint := range endpoints {
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
