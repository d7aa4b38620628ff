package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Chance is the probability, under the hypothesis that nothing is wrong, that a
// session which is placed anew comes back to the worker it had: a half leaves
// room for routers that keep some workers out of sight for a while.
const Chance = 0.5

// Binds is the share of sessions that the smallest fault keeps where they were that a
// sample must show; and where so few came back that such a fault would do it at a rate of
// excluded or less, however often one looks, there is none.
const (
	Binds    = 0.95
	excluded = 1e-7
)

// PlacedAnew says whether back of n sessions are so few that nothing binds them.
func PlacedAnew(n, back int) bool { return stats.LowerTail(n, back, Binds) <= excluded }

// Replaced requires that the sessions of each cell were placed anew: that not so
// many of them came back to the worker they had before that chance would do it
// at a rate of alpha or less (an exact binomial tail with probability Chance).
// It reads the pair of turns named by the phases, of at least need sessions per
// cell, or of fewer if these were PlacedAnew. A turn before that was tried at several workers had a first and a last
// one, and a router may wrongly keep either; each question gets half of alpha.
// Where all of a cell's sessions ended up on one and the same worker, and so did
// nearly all of the free requests, those of that phase, which nothing binds, new
// sessions have nowhere else to go either, which blames nobody.
func Replaced(cell Cell, need int, alpha float64, before, after, free, expected string) Judge {
	return func(h *history.History) Finding {
		cells := map[string]*returns{}
		returned(h, cells, func(first, _ *history.Request) string { return cell(first) }, before, after)
		enough := func(c *returns) bool { return c.n >= need || PlacedAnew(c.n, max(c.first, c.last)) }
		return replaced(h, cells, need, enough, alpha, free, expected)
	}
}

func replaced(h *history.History, cells map[string]*returns, need int, enough func(*returns) bool, alpha float64, free, expected string) (f Finding) {
	if len(cells) == 0 {
		f.Inconclusive = "no session was seen at a worker both before and after"
	}
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		c := cells[name]
		slices.Sort(c.keys)
		back := max(c.last, c.first)
		switch {
		case !enough(c):
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

// pairCell names the cell of a session by its first turn before and the one after.
type pairCell func(before, after *history.Request) string

// returned counts per cell, over the sessions that reached workers before and after.
func returned(h *history.History, cells map[string]*returns, cell pairCell, before, after string) {
	at, later := attempts(h), sessions(h, after)
	for s, rs := range sessions(h, before) {
		tried, next := at[rs[len(rs)-1].Key], later[s]
		if len(tried) == 0 || len(next) == 0 || len(at[next[0].Key]) == 0 {
			continue
		}
		to := at[next[0].Key][0].Worker
		name := cell(rs[0], next[0])
		c := cells[name]
		if c == nil {
			c = &returns{to: map[string]bool{}}
			cells[name] = c
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
}
