package affinity

import (
	"context"
	"fmt"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// failed makes a case of first turns that fail, wherever they land, each followed
// by a second turn. Failures of a kind have a target of their own, since a router
// may keep a failing worker out of sight for a while. A cell has as many sessions as it
// takes to see that nothing binds them, or all.
func failed(name, how string, failures ...failure) bench.Case {
	shapes := bench.FreshShapes()
	plan, alpha := replan(len(shapes) * len(failures))
	return bench.Case{
		ID:          "AFF-004/" + name,
		Stimulus:    "new sessions whose first turn " + how + ", on both endpoints, streaming or not, until chance alone does not explain any more that they are placed anew; then a second turn, of every second session also a third",
		Requirement: "the second turns are placed like those of new sessions, and a third follows the second",
		Alone:       true, Cost: costOf(failures),
		Limit: bench.LimitFor(6 * plan.N * len(shapes) * len(failures)), // a first turn, one or two more, and up to three of others
		Drive: func(ctx context.Context, r *bench.Run) error {
			a := anew{r: r, seen: map[string]*cellCount{}}
			for round := range plan.N {
				var due []freshSession
				for _, f := range failures {
					for i, shape := range shapes {
						if f.rare && i != round%len(shapes) {
							continue // one shape a round, each in its turn
						}
						if c := a.cell(f, i); !c.decided(f) {
							due = append(due, freshSession{f: f, cell: c, shape: shape, number: a.sessions, turns: 1 + c.n%2})
							a.sessions++
							c.n++
						}
					}
				}
				if len(due) == 0 {
					break
				}
				a.drive(ctx, due)
				a.count()
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var all []judge.Judge
			for _, f := range failures {
				cell, cells := judge.ByShape, len(shapes)
				if f.rare {
					cell, cells = judge.ByPhase, 1
				}
				all = append(all, judge.Unserved(cells*f.least(), f.name), judge.Settled(cells*f.least()/2, "after "+f.name), judge.Replaced(cell, plan.N*3/4, alpha,
					f.name, "after "+f.name, "between", "a session whose first turn failed ("+f.name+") to be placed like a new one"))
			}
			return judge.All(all...)(h)
		},
	}
}

// least is how many sessions a cell has, decided or not: of the first twelve of each shape,
// or twenty of all, half have a third turn, enough to see whether the second one bound them.
func (f failure) least() int {
	if f.rare {
		return 20
	}
	return 12
}

// freshSession is one whose first turn fails.
type freshSession struct {
	f      failure
	cell   *cellCount
	shape  bench.Shape
	number int
	turns  int // after the one that fails

	first, second string // their keys
}

// cellCount is what is known of a cell's sessions.
type cellCount struct{ n, judged, back int }

func (c *cellCount) decided(f failure) bool {
	return c.judged >= f.least() && judge.PlacedAnew(c.judged, c.back)
}

// anew drives sessions whose first turn fails, and counts which come back.
type anew struct {
	r        *bench.Run
	sessions int
	seen     map[string]*cellCount
	driven   []freshSession
}

// cell is where a failure in the i-th shape counts.
func (a *anew) cell(f failure, i int) *cellCount {
	name := f.name
	if !f.rare {
		name = fmt.Sprint(name, " ", i)
	}
	if a.seen[name] == nil {
		a.seen[name] = &cellCount{}
	}
	return a.seen[name]
}

// drive sends the turns of sessions. First turns of several sessions come at once where a
// router may take 2 s to notice, then the rest of each by itself: what else is in flight
// must not decide where a second turn goes.
func (a *anew) drive(ctx context.Context, due []freshSession) {
	r := a.r
	for len(due) > 0 {
		width := 1
		if due[0].f.leave {
			width = 8
		}
		group := due[:min(width, len(due))]
		due = due[len(group):]
		r.Parallel(len(group), width, func(n int) {
			x := &group[n]
			x.first = r.Key()
			q := bench.Req{Key: x.first, Session: r.SessionID(x.number), Tokens: 1, Phase: x.f.name}.In(x.shape)
			if x.f.pin {
				at := script.At(r.Workers()[x.number%len(r.Workers())])
				q.Pin = &at
			}
			fail(ctx, r, x.f, q)
		})
		for n := range group {
			x := &group[n]
			// A few requests of others, more or fewer, keep what rotates from falling into step.
			for o := range 1 + r.Rand().IntN(2) {
				newcomer(ctx, r, 2*x.number+o)
			}
			for range r.Rand().IntN(2) {
				keyless(ctx, r)
			}
			x.second = r.Key()
			shape := r.Rand().IntN(8)
			for t := range x.turns {
				q := bench.Req{Session: r.SessionID(x.number), Turn: 1 + t, Tokens: 1, Phase: "after " + x.f.name}.In(bench.Shapes()[(shape+3*t)%8])
				if t == 0 {
					q.Key = x.second
				}
				r.Do(ctx, q)
			}
		}
		a.driven = append(a.driven, group...)
	}
}

// count counts anew, for each cell, the sessions that can be judged and those that came
// back to a worker where their first turn had been tried first or last.
func (a *anew) count() {
	tried := map[string][]string{}
	a.r.EachServed(func(key, worker string) { tried[key] = append(tried[key], worker) })
	for _, c := range a.seen {
		c.judged, c.back = 0, 0
	}
	for _, x := range a.driven {
		before, after := tried[x.first], tried[x.second]
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		x.cell.judged++
		if after[0] == before[0] || after[0] == before[len(before)-1] {
			x.cell.back++
		}
	}
}
