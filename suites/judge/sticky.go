package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// sessions groups the requests of the phases by session id, in order of sending.
func sessions(h *history.History, phases ...string) map[string][]*history.Request {
	out := map[string][]*history.Request{}
	for _, r := range In(h, phases...) {
		if r.Session != "" {
			out[r.Session] = append(out[r.Session], r)
		}
	}
	return out
}

// Sticks requires all attempts of each session in the phases to be at one
// worker, with at least min sessions that reached any.
func Sticks(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		seen := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			var home *ledger.Attempt
			var first *history.Request
			for _, r := range all[s] {
				for _, a := range at[r.Key] {
					switch {
					case home == nil:
						home, first = a, r
						seen++
					case a.Worker != home.Worker:
						g.add(fmt.Sprintf("every turn of a session on one worker (%s)", how(r)),
							"turns on two workers or more", first.Key, r.Key)
					}
				}
			}
		}
		if f := g.finding(); len(f.Violations) > 0 {
			return f
		}
		if seen < min {
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d sessions reached a worker", seen, min)}
		}
		return Finding{}
	}
}

// Placed requires the sessions' first turns to lie on at least two workers and
// none to hold more than most of them: what sticks to one worker for everybody
// is no affinity.
func Placed(most int, phases ...string) Judge {
	return func(h *history.History) Finding {
		at := attempts(h)
		n := map[string]int{}
		for _, rs := range sessions(h, phases...) {
			if as := at[rs[0].Key]; len(as) > 0 {
				n[as[len(as)-1].Worker]++
			}
		}
		for _, w := range slices.Sorted(maps.Keys(n)) {
			if n[w] > most {
				return Finding{Violations: []Violation{{
					Expected: fmt.Sprintf("sessions placed over the fleet, at most %d on one worker", most),
					Observed: "sessions per worker: " + tally(n)}}}
			}
		}
		if len(n) == 0 {
			return Finding{Inconclusive: "no session reached a worker"}
		}
		return Finding{}
	}
}

// home is the worker that served a session's last successful turn of the phases.
func homes(h *history.History, phases ...string) map[string]string {
	at := attempts(h)
	out := map[string]string{}
	for s, rs := range sessions(h, phases...) {
		for _, r := range rs {
			if a := last(at[r.Key]); a != nil && r.OK() {
				out[s] = a.Worker
			}
		}
	}
	return out
}

// Moves compares each session's home before and after. Stay says, given the
// home before, whether the session must be where it was.
func Moves(before, after string, min int, stay func(h *history.History, home string) bool) Judge {
	return func(h *history.History) Finding {
		var g group
		was, is := homes(h, before), homes(h, after)
		n := 0
		for _, s := range slices.Sorted(maps.Keys(was)) {
			if is[s] == "" {
				continue // its client's error is Served's matter
			}
			n++
			if stay(h, was[s]) && is[s] != was[s] {
				g.add(fmt.Sprintf("sessions to stay on their living worker from %s to %s", before, after),
					fmt.Sprintf("one moved from %s to %s", was[s], is[s]), keysOf(h, s, before, after)...)
			}
		}
		f := g.finding()
		if len(f.Violations) == 0 && n < min {
			f.Inconclusive = fmt.Sprintf("only %d of %d sessions were served in both %s and %s", n, min, before, after)
		}
		return f
	}
}

func keysOf(h *history.History, session string, phases ...string) (keys []string) {
	for _, r := range In(h, phases...) {
		if r.Session == session {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// MovedAtMost limits how many sessions change their home between two phases.
func MovedAtMost(before, after string, most int) Judge {
	return func(h *history.History) Finding {
		was, is := homes(h, before), homes(h, after)
		moved := 0
		for s, w := range was {
			if is[s] != "" && is[s] != w {
				moved++
			}
		}
		if moved > most {
			return Finding{Violations: []Violation{{
				Expected: fmt.Sprintf("at most %d of %d sessions to move from %s to %s", most, len(was), before, after),
				Observed: fmt.Sprintf("%d moved", moved)}}}
		}
		return Finding{}
	}
}

// Replaced requires that in every cell at least one session left the worker
// that had it before: that all of need sessions return there by chance has been
// planned to be improbable enough. It reads the pair of turns named by the phases.
func Replaced(cell Cell, need int, before, after string, expected string) Judge {
	return func(h *history.History) Finding {
		at := attempts(h)
		type count struct {
			n, same int
			keys    []string
		}
		cells := map[string]*count{}
		for s, rs := range sessions(h, before) {
			a := last(at[rs[len(rs)-1].Key])
			next := sessions(h, after)[s]
			if a == nil || len(next) == 0 {
				continue
			}
			b := at[next[0].Key]
			if len(b) == 0 {
				continue
			}
			c := cells[cell(rs[0])]
			if c == nil {
				c = &count{}
				cells[cell(rs[0])] = c
			}
			c.n++
			if b[0].Worker == a.Worker {
				c.same++
				c.keys = append(c.keys, rs[0].Key, next[0].Key)
			}
		}
		var f Finding
		if len(cells) == 0 {
			f.Inconclusive = "no session was seen at a worker both before and after"
		}
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			switch c := cells[name]; {
			case c.n >= need && c.same == c.n:
				f.Violations = append(f.Violations, Violation{Expected: fmt.Sprintf("%s (%s)", expected, name),
					Observed: fmt.Sprintf("all %d sessions went back to the worker they had before", c.n), Keys: c.keys})
			case c.n < need:
				f.Inconclusive = fmt.Sprintf("%s: only %d of %d sessions can be judged", name, c.n, need)
			}
		}
		return f
	}
}

// Slides requires each turn of the phases that follows the end of the one
// before by less than the idle time to reach the same worker. Gaps that the
// machine stretched past the idle time decide nothing; min sessions must have none.
func Slides(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		ttl := h.Session.IdleTTL
		good := 0
		for _, rs := range sessions(h, phases...) {
			whole, prev := true, (*ledger.Attempt)(nil)
			var ended time.Duration
			for _, r := range rs {
				a := last(at[r.Key])
				if a == nil {
					whole = false
					break
				}
				// A tenth of the idle time is left for the router's own reading of its clock.
				if prev != nil && a.Arrived-ended > ttl-ttl/10 {
					whole = false
					break
				}
				if prev != nil && a.Worker != prev.Worker {
					g.add(fmt.Sprintf("a turn within the idle time of %v on the session's worker", ttl),
						"a turn on another worker", r.Key)
					whole = false
					break
				}
				prev, ended = a, max(r.Ended, ended)
			}
			if whole {
				good++
			}
		}
		f := g.finding()
		if len(f.Violations) == 0 && good < min {
			f.Inconclusive = fmt.Sprintf("only %d of %d sessions kept their turns within the idle time on this machine", good, min)
		}
		return f
	}
}

// Apart requires, in each of the phases, that of at least pairs pairs of sessions
// not all have both partners on one worker. Partners share a turn number.
func Apart(pairs int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var f Finding
		at := attempts(h)
		for _, phase := range phases {
			home := map[int][]string{}
			for _, r := range In(h, phase) {
				if a := last(at[r.Key]); a != nil {
					home[r.Turn] = append(home[r.Turn], a.Worker)
				}
			}
			n, same := 0, 0
			for _, ws := range home {
				if len(ws) == 2 {
					n++
					if ws[0] == ws[1] {
						same++
					}
				}
			}
			switch {
			case n < pairs:
				f.Inconclusive = fmt.Sprintf("%s: only %d of %d pairs were both served", phase, n, pairs)
			case same == n:
				f.Violations = append(f.Violations, Violation{
					Expected: fmt.Sprintf("ids that differ (%s) to be placed independently", phase),
					Observed: fmt.Sprintf("both ids of all %d pairs on one worker", n)})
			}
		}
		return f
	}
}

// Settled requires each session's turns of the phases to be at one worker,
// counting only the attempts that answered: a first try at a dead worker may come before.
func Settled(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			home := ""
			for _, r := range all[s] {
				if a := last(at[r.Key]); a != nil && r.OK() {
					if home != "" && a.Worker != home {
						g.add("a moved session to stay where it went", "one that moved again", r.Key)
					}
					home = a.Worker
				}
			}
		}
		f := g.finding()
		if len(f.Violations) == 0 && len(all) < min {
			f.Inconclusive = fmt.Sprintf("only %d of %d sessions were seen", len(all), min)
		}
		return f
	}
}
