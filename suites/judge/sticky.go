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
				// For the router the turn may have ended when it did for the worker: a client that
				// stood still notes its end later.
				end := r.Ended
				if a.Ended != history.Unset && a.Ended < end {
					end = a.Ended
				}
				prev, ended = a, max(end, ended)
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
