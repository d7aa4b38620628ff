package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge/stats"
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

// Placed requires the sessions' first turns to lie on at least two workers and
// none to hold more than most of them: what sticks to one worker for everybody
// is no affinity. Sessions that are all on one worker, but no more than most,
// may be there by chance: they decide nothing.
func Placed(most int, phases ...string) Judge {
	return func(h *history.History) Finding {
		at := attempts(h)
		n := map[string]int{}
		for _, rs := range sessions(h, phases...) {
			if a := last(at[rs[0].Key]); a != nil {
				n[a.Worker]++
			}
		}
		for _, w := range slices.Sorted(maps.Keys(n)) {
			if n[w] > most {
				return Finding{Violations: []Violation{{
					Expected: fmt.Sprintf("sessions placed over the fleet, at most %d on one worker", most),
					Observed: "sessions per worker: " + tally(n)}}}
			}
		}
		switch len(n) {
		case 0:
			return Finding{Inconclusive: "no session reached a worker"}
		case 1:
			return Finding{Inconclusive: "too few sessions reached a worker to say how they are placed: " + tally(n)}
		}
		return Finding{}
	}
}

// homes are the workers that served each session's last successful turn of the phases.
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
// Most was planned for all sessions of the phase before: one that was not served
// after leaves the count open.
func MovedAtMost(before, after string, most int) Judge {
	return func(h *history.History) Finding {
		was, is := homes(h, before), homes(h, after)
		n, moved := 0, 0
		for s, w := range was {
			if is[s] == "" {
				continue
			}
			n++
			if is[s] != w {
				moved++
			}
		}
		switch {
		case moved > most:
			return Finding{Violations: []Violation{{
				Expected: fmt.Sprintf("at most %d of %d sessions to move from %s to %s", most, len(was), before, after),
				Observed: fmt.Sprintf("%d moved", moved)}}}
		case n == 0 || n < len(was):
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d sessions were served in both %s and %s", n, len(was), before, after)}
		}
		return Finding{}
	}
}

// Chance is the probability, under the hypothesis that nothing is wrong, that a
// session which is placed anew comes back to the worker it had: a half leaves
// room for routers that keep some workers out of sight for a while.
const Chance = 0.5

// Replaced requires that the sessions of each cell were placed anew: that not so
// many of them came back to the worker they had before that chance would do it
// at a rate of alpha or less (an exact binomial tail with probability Chance).
// It reads the pair of turns named by the phases, of at least need sessions per
// cell. A turn before that was tried at several workers had a first and a last
// one, and a router may wrongly keep either; each question gets half of alpha.
// Where all of a cell's sessions ended up on one and the same worker, and so did
// nearly all of the free requests, those of that phase, which nothing binds, new
// sessions have nowhere else to go either, which blames nobody.
func Replaced(cell Cell, need int, alpha float64, before, after, free, expected string) Judge {
	return func(h *history.History) Finding {
		cells := returned(h, cell, before, after)
		var f Finding
		if len(cells) == 0 {
			f.Inconclusive = "no session was seen at a worker both before and after"
		}
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			c := cells[name]
			slices.Sort(c.keys)
			back := max(c.last, c.first)
			switch {
			case c.n < need:
				f.Inconclusive = fmt.Sprintf("%s: only %d of %d sessions can be judged", name, c.n, need)
			case stats.UpperTail(c.n, back, Chance) > alpha/2:
			case len(c.to) == 1 && crowded(h, c.to, free):
				f.Inconclusive = fmt.Sprintf("%s: all %d sessions were at one worker, before and after; nothing tells a binding from having no choice", name, c.n)
			default:
				f.Violations = append(f.Violations, Violation{Expected: fmt.Sprintf("%s (%s)", expected, name),
					Observed: fmt.Sprintf("%d of %d sessions went back to the worker they had before", back, c.n), Keys: c.keys})
			}
		}
		return f
	}
}

// crowded says whether at least nine in ten of the phase's requests went to one of
// the workers.
func crowded(h *history.History, to map[string]bool, phase string) bool {
	n, there, at := 0, 0, attempts(h)
	for _, r := range In(h, phase) {
		if a := last(at[r.Key]); a != nil {
			n++
			if to[a.Worker] {
				there++
			}
		}
	}
	return 10*there >= 9*n
}

// returns counts the sessions of a cell that went back to the first and to the
// last worker that their turn before was tried at.
type returns struct {
	n, first, last int
	to             map[string]bool // the workers that they are at now
	keys           []string
}

// returned counts per cell, over the sessions that reached workers before and after.
func returned(h *history.History, cell Cell, before, after string) map[string]*returns {
	at, later := attempts(h), sessions(h, after)
	cells := map[string]*returns{}
	for s, rs := range sessions(h, before) {
		tried, next := at[rs[len(rs)-1].Key], later[s]
		if len(tried) == 0 || len(next) == 0 || len(at[next[0].Key]) == 0 {
			continue
		}
		to := at[next[0].Key][0].Worker
		c := cells[cell(rs[0])]
		if c == nil {
			c = &returns{to: map[string]bool{}}
			cells[cell(rs[0])] = c
		}
		c.n++
		c.to[to] = true
		toFirst, toLast := to == tried[0].Worker, to == last(tried).Worker
		if toFirst {
			c.first++
		}
		if toLast {
			c.last++
		}
		if toFirst || toLast {
			c.keys = append(c.keys, rs[0].Key, next[0].Key)
		}
	}
	return cells
}

// Slides is Kept for sessions that last for longer than one idle time: shorter ones
// do not show that it slides, and count for nothing.
func Slides(min int, phases ...string) Judge {
	return kept(min, func(life, idle time.Duration) bool { return life > idle },
		"only %d of %d sessions went on for longer than the idle time with every turn within it", phases)
}

// Kept requires each turn of the phases that follows the end of the one before by
// less than the idle time to reach the same worker. Gaps that the machine stretched
// past the idle time decide nothing. Min sessions must have none.
func Kept(min int, phases ...string) Judge {
	return kept(min, func(life, _ time.Duration) bool { return life > 0 },
		"only %d of %d sessions had every turn within the idle time", phases)
}

func kept(min int, counts func(life, idle time.Duration) bool, doubt string, phases []string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		ttl := h.Session.IdleTTL
		good := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			whole, prev := true, (*ledger.Attempt)(nil)
			var ended, began time.Duration
			for _, r := range all[s] {
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
				if prev == nil {
					began = a.Arrived
				}
				prev, ended = a, max(r.Ended, ended)
			}
			if whole && counts(prev.Arrived-began, ttl) {
				good++
			}
		}
		return g.orDoubt(good >= min, doubt, good, min)
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
// counting only the attempts that answered: a first try at a dead worker may come
// before. At least min sessions must have two such turns.
func Settled(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		seen := 0
		all := sessions(h, phases...)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			home, turns := "", 0
			for _, r := range all[s] {
				if a := last(at[r.Key]); a != nil && r.OK() {
					if home != "" && a.Worker != home {
						g.add("a moved session to stay where it went", "one that moved again", r.Key)
					}
					home = a.Worker
					turns++
				}
			}
			if turns >= 2 {
				seen++
			}
		}
		return g.orDoubt(seen >= min, "only %d of %d sessions were served twice", seen, min)
	}
}
