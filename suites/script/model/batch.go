package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/script"
)

// largest is the most operations of a batch.
const largest = 8

// Batch makes a batch that begins with a step, now and then: what follows in it is made
// up before anything is answered, as if each step went in the first way that it may. A
// step that cannot be in a batch stays alone, and one that wakes somebody is the last of
// its batch: whether who is woken goes on before the rest of a batch is the adapter's
// business.
func (g *Generator) Batch(m *Model, first []*script.Step) []*script.Step {
	if !batchable(first[0]) || g.rnd.IntN(3) == 0 {
		return first
	}
	g.batches++
	steps, s := []*script.Step{first[0]}, m.states[0]
	first[0].Batch = g.batches
	for range g.rnd.IntN(largest) {
		last := steps[len(steps)-1]
		ways := s.step(last)
		if slices.ContainsFunc(ways, func(w Way) bool { return w.wakes(last.Name) }) {
			break
		}
		if len(ways) > 0 {
			s = ways[0].next
		}
		st := &script.Step{}
		for tries := 0; tries < largest && !batchable(st); tries++ {
			*st = script.Step{}
			g.choose(s, st)
		}
		if !batchable(st) {
			break
		}
		ends := st.Op == script.Commit || st.Op == script.Release || st.Op == script.Invalidate
		if g.name(st); ends && g.rnd.IntN(12) == 0 {
			st.Ref = pick(g.rnd, append(slices.Clone(steps), st)...).Name // which may have given no lease
		}
		st.Batch = g.batches
		steps = append(steps, st)
	}
	return steps
}

// wakes says whether somebody else is answered, too.
func (w Way) wakes(own string) bool {
	return slices.ContainsFunc(w.Wants, func(x script.Want) bool { return x.Name != own })
}

// batchable says whether a step may be in a batch.
func batchable(st *script.Step) bool {
	switch st.Op {
	case script.Acquire, script.Query, script.Commit, script.Release, script.Invalidate, script.Count:
		return true
	}
	return false
}
