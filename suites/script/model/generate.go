package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

// Generator makes up a conversation, step by step as it goes: what it asks next depends
// on what was answered, so that most steps meet something. It uses what an adapter
// claims, and nothing else.
type Generator struct {
	rnd     *rand.Rand
	claims  []string
	config  script.Config
	asks    []script.Ask // the few sessions that it is about
	ids     []string     // of workers
	n       int          // steps so far
	batches int
	plan    []func(state, *script.Step) // what comes next, if it makes sense then
}

// NewGenerator begins a conversation with an adapter that makes the given claims.
func NewGenerator(rnd *rand.Rand, claims []string) *Generator {
	g := &Generator{rnd: rnd, claims: claims, ids: []string{"w1", "w2", "w3"}}
	g.config = script.Config{IdleTTL: pick(rnd, time.Second, 10*time.Second), InitWait: pick(rnd, time.Second, 4*time.Second, 0)}
	if rnd.IntN(3) > 0 {
		g.config.Capacity, g.config.AtCapacity = 1+rnd.IntN(3), pick(rnd, "refuse", "unpinned", "evict")
	}
	families := alike()
	some := families[rnd.IntN(len(families))]
	for _, a := range some {
		if (a.Tenant == "" || g.can("tenant")) && (a.Phase == "" || g.can("phases")) {
			g.asks = append(g.asks, a)
		}
	}
	for len(g.asks) < 1+rnd.IntN(4) {
		g.asks = append(g.asks, script.S(fmt.Sprintf("s%d", len(g.asks))))
	}
	return g
}

// alike are keys that a careless table takes for one.
func alike() [][]script.Ask {
	long := strings.Repeat("x", 255)
	return [][]script.Ask{
		nil, nil, nil, // most conversations are about plain ids
		{script.S("s"), script.S("S")},
		{script.S("s"), script.S("s ")},
		{script.S("s"), script.S("s").Of("n")},
		{script.S("s").Of("nm"), script.S("s").By("n")},
		{script.S("s"), script.S("s").By("t"), script.S("s").By("u")},
		{script.S("s").In("prefill"), script.S("s").In("decode")},
		{script.S(long + "0"), script.S(long + "1"), script.S(strings.Repeat("é", 129))},
	}
}

func pick[T any](rnd *rand.Rand, from ...T) T { return from[rnd.IntN(len(from))] }

func (g *Generator) can(claim string) bool { return slices.Contains(g.claims, claim) }

// Config is what the instance is made with.
func (g *Generator) Config() script.Config { return g.config }

// Next makes the next step, alone.
func (g *Generator) Next(m *Model) []*script.Step {
	st := &script.Step{}
	if g.n == 0 {
		st = &script.Step{Op: script.SetWorkers, Workers: g.workers(true)}
	}
	for st.Op == "" {
		g.choose(m.states[0], st)
	}
	return []*script.Step{g.name(st)}
}

func (g *Generator) name(st *script.Step) *script.Step {
	g.n++
	st.Name = fmt.Sprintf("%s #%d", st.Op, g.n)
	if st.Op == script.Acquire {
		st.Name = fmt.Sprintf("turn %d", g.n)
	}
	return st
}

// choose fills in a step, if what it picks makes sense now.
func (g *Generator) choose(s state, st *script.Step) {
	for len(g.plan) > 0 && st.Op == "" {
		next := g.plan[0]
		g.plan = g.plan[1:]
		next(s, st)
	}
	if st.Op != "" {
		return
	}
	switch n := g.rnd.IntN(100); {
	case n < 30:
		st.Op, st.Ask = script.Acquire, g.ask(s)
	case n < 48:
		g.commit(s, st)
	case n < 62:
		g.end(s, st, script.Release)
	case n < 67:
		g.end(s, st, script.Invalidate)
	case n < 77:
		st.Op, st.Ask = script.Query, g.ask(s)
	case n < 91:
		if g.can("clock") {
			st.Op, st.By = script.Advance, g.by(s)
		}
	case n < 94:
		switch { // mostly of one that waits; of one that is answered it does nothing
		case len(s.waiting) > 0 && g.rnd.IntN(4) > 0:
			st.Op, st.Ref = script.Cancel, pick(g.rnd, s.waiting...).name
		case len(s.leases) > 0 && g.rnd.IntN(2) == 0:
			st.Op, st.Ref = script.Cancel, pick(g.rnd, s.leases...).name
		}
	case n < 96:
		st.Op, st.Workers = script.SetWorkers, g.workers(false)
	case n < 97:
		st.Op, st.Config = script.Create, g.settings()
	default:
		if g.can("count") {
			st.Op, st.Needs = script.Count, "count"
		}
	}
}

// crowd is how many wait in a conversation at most: each more is a way more in which
// others may inherit.
const crowd = 4

func (g *Generator) ask(s state) *script.Ask {
	a := pick(g.rnd, g.asks...)
	if i := s.place(keyOf(&a)); len(s.waiting) >= crowd && i >= 0 && !s.places[i].bound {
		a = script.S(fmt.Sprintf("s%d", g.rnd.IntN(6)))
	}
	i := s.place(keyOf(&a))
	if initializing := i >= 0 && !s.places[i].bound; initializing && g.rnd.IntN(2) > 0 || !initializing && g.rnd.IntN(4) > 0 {
		return &a // who waits is pinned more often: its pin must outlive what it waits for
	}
	pin := g.where(s)
	if i := s.place(keyOf(&a)); i >= 0 && s.places[i].bound && g.rnd.IntN(2) == 0 {
		pin = g.near(s.places[i].at)
	}
	if g.can("ranks") && g.rnd.IntN(12) == 0 {
		zero := g.rnd.IntN(2)
		pin = script.Where{Rank: &zero}
	}
	a.Pin = &pin
	return &a
}

// where is a place that mostly lives.
func (g *Generator) where(s state) script.Where {
	w := script.At(pick(g.rnd, g.ids...))
	if len(s.workers) > 0 && g.rnd.IntN(10) > 0 {
		w = script.At(pick(g.rnd, s.workers...).ID)
	}
	if g.can("ranks") && g.rnd.IntN(2) == 0 {
		w = script.On(w.Worker, g.rnd.IntN(2))
	}
	return w
}

// near is a place, or one beside it.
func (g *Generator) near(w script.Where) script.Where {
	if !g.can("ranks") {
		return w
	}
	switch g.rnd.IntN(4) {
	case 0:
		return script.At(w.Worker)
	case 1:
		return script.On(w.Worker, g.rnd.IntN(2))
	}
	return w
}

func (g *Generator) commit(s state, st *script.Step) {
	if len(s.leases) == 0 {
		return
	}
	l := pick(g.rnd, s.leases...)
	var first []lease
	for _, x := range s.leases {
		if i := s.of(x.life); i >= 0 && !s.places[i].bound && !x.over {
			first = append(first, x)
		}
	}
	if len(first) > 0 && g.rnd.IntN(6) > 0 {
		l = pick(g.rnd, first...)
	}
	at := g.where(s)
	if agreed := l.pin; g.rnd.IntN(5) > 0 {
		if i := s.of(l.life); i >= 0 && s.places[i].bound {
			agreed = &s.places[i].at
		}
		if agreed != nil {
			at = *agreed
			if at.Rank == nil && g.can("ranks") && g.rnd.IntN(2) == 0 {
				at = script.On(at.Worker, g.rnd.IntN(2))
			}
		}
	}
	st.Op, st.Ref, st.At = script.Commit, l.name, &at
}

// end ends a lease: mostly one in flight, now and then one that is over.
func (g *Generator) end(s state, st *script.Step, op string) {
	open := slices.DeleteFunc(slices.Clone(s.leases), func(l lease) bool { return l.over })
	old := slices.DeleteFunc(slices.Clone(open), func(l lease) bool { return s.of(l.life) >= 0 })
	switch {
	case len(old) > 0 && g.rnd.IntN(3) == 0:
		open = old
	case len(open) == 0 || g.rnd.IntN(6) == 0:
		open = s.leases
	}
	if len(open) > 0 {
		st.Op, st.Ref = op, pick(g.rnd, open...).name
	}
}

// workers are all, or some, with ranks that come and go.
func (g *Generator) workers(all bool) (live []script.Worker) {
	for _, id := range g.ids {
		w := script.Worker{ID: id, Ranks: 1}
		if g.can("ranks") {
			w.Ranks = pick(g.rnd, 2, 2, 2, 1)
		}
		if all || g.rnd.IntN(4) > 0 {
			live = append(live, w)
		}
	}
	return live
}
