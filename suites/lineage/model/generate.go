package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// Generator makes up a conversation, step by step.
type Generator struct {
	rnd      *rand.Rand
	claims   []string
	config   lineage.Config
	lives    bool // workers are registered and removed
	sessions []string
	places   []place
	tree     []int // of blocks 1 to len(tree)-1, in an ideal world: each one's parent, 0 of a root
	made     int   // names so far
	dumped   bool  // nothing was written since the latest dump
}

// Ids that may hold at most a limit of bytes, not of characters.
var (
	longest = strings.Repeat("é", lineage.MaxSessionBytes/2)
	tooLong = longest + "x"
)

// NewGenerator makes one. Only what the claims allow is asked.
func NewGenerator(rnd *rand.Rand, claims []string) *Generator {
	g := &Generator{
		rnd: rnd, claims: claims, dumped: true, sessions: []string{"s", "t", "u", "", longest, tooLong},
		places: []place{{"w1", 0}, {"w1", 1}, {"w2", 0}}, tree: make([]int, 15),
	}
	for i := 2; i < len(g.tree); i++ {
		g.tree[i] = pick(rnd, i-1, i-1, i-1, rnd.IntN(i))
	}
	if n := pick(rnd, 0, 0, 1, 2, 3); n > 0 {
		g.config = lineage.Holding(n)
	}
	if rnd.IntN(2) == 0 {
		g.config = g.config.Keeping(pick(rnd, time.Millisecond, time.Second))
	}
	g.lives = g.can("lifecycle") && rnd.IntN(2) == 0
	return g
}

// Config is what the instance must be made with.
func (g *Generator) Config() lineage.Config { return g.config }

func (g *Generator) can(claim string) bool { return slices.Contains(g.claims, claim) }

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// Next makes up the next step, one that the model can follow.
func (g *Generator) Next(m *Model) *lineage.Step {
	if !g.dumped && g.can("dump") {
		if st := (&lineage.Step{Op: lineage.Dump}); m.Asks(st) {
			g.dumped = true
			return st
		}
	}
	for range 20 {
		if st := g.step(m); st != nil && m.Asks(st) {
			g.dumped = st.Op == lineage.Frontiers || st.Op == lineage.Lineages || st.Op == lineage.Size
			return st
		}
	}
	return &lineage.Step{Op: lineage.Create, Config: &lineage.Config{}}
}

func (g *Generator) step(m *Model) *lineage.Step {
	for _, w := range []string{"w1", "w2"} {
		if g.lives && m.moment < 2 && m.workers[w] == "" {
			st := g.member(lineage.Register, place{w, -1})
			st.Incarnation = g.name("life")
			return st
		}
	}
	if len(m.removals) > 0 && g.rnd.IntN(2) == 0 {
		return &lineage.Step{Op: lineage.RemoveAwait, Ref: pick(g.rnd, slices.Sorted(maps.Keys(m.removals))...)}
	}
	if (m.barrier || m.lowerTier) && g.rnd.IntN(5) == 0 {
		return &lineage.Step{Op: lineage.PhysicalFail}
	}
	if len(m.going) > 0 && len(m.removals) == 0 && !m.barrier && g.rnd.IntN(2) == 0 {
		return g.member(lineage.WorkerRemove, m.going[0])
	}
	if g.lives && g.rnd.IntN(3) == 0 {
		return g.life(m)
	}
	switch n := g.rnd.IntN(78); {
	case n < 34:
		return g.event(m, lineage.Store)
	case n < 46:
		return g.event(m, lineage.Match)
	case n < 58:
		return g.on(&lineage.Step{Op: lineage.Remove, Blocks: g.some()})
	case n < 61:
		return g.on(&lineage.Step{Op: lineage.Clear})
	case n < 64:
		return &lineage.Step{Op: lineage.Frontiers, Session: pick(g.rnd, g.sessions...)}
	case n < 68:
		st := g.on(&lineage.Step{Op: lineage.Lineages, Session: pick(g.rnd, g.sessions...)})
		st.Block = pick(g.rnd, "", g.block())
		return st
	case n < 70:
		return &lineage.Step{Op: lineage.Size}
	case g.can("clock"):
		return &lineage.Step{Op: lineage.Advance, By: g.time(m)}
	}
	return g.event(m, lineage.Store)
}

// life is a step of a conversation in which workers come and go.
func (g *Generator) life(m *Model) *lineage.Step {
	who := pick(g.rnd, g.places...)
	if g.rnd.IntN(2) == 0 {
		who.rank = -1
	}
	switch n := g.rnd.IntN(40); {
	case n < 3:
		st := g.member(lineage.Register, who)
		st.Incarnation = g.name("life")
		return st
	case n < 5:
		return g.member(lineage.WorkerRemove, who)
	case n < 16 && g.can("admission"):
		st := g.event(m, pick(g.rnd, lineage.StoreAdmit, lineage.StoreAdmit, lineage.MatchAdmit))
		st.Name = g.name("event")
		return st
	case n < 28 && g.can("admission") && len(m.tickets) > 0:
		name := pick(g.rnd, slices.Sorted(maps.Keys(m.tickets))...)
		return &lineage.Step{Op: applies[m.tickets[name].step.Op], Ref: name}
	case n < 30 && g.can("admission"):
		st := g.member(lineage.RemoveBegin, who)
		st.Name = g.name("removal")
		return st
	case n < 33 && g.can("physical"):
		return g.on(&lineage.Step{Op: lineage.PhysicalSet, Blocks: append(g.some(), g.some()...)})
	case n < 37 && g.can("barrier"):
		barrier := g.rnd.IntN(2) == 0
		return &lineage.Step{Op: lineage.PhysicalFail, Barrier: barrier, LowerTier: !barrier}
	case g.can("barrier"):
		return &lineage.Step{Op: lineage.Flush}
	}
	return nil
}

func (g *Generator) name(of string) string { g.made++; return fmt.Sprintf("%s %d", of, g.made) }

func (g *Generator) on(st *lineage.Step) *lineage.Step {
	w := pick(g.rnd, g.places...).where()
	st.At = &w
	return st
}

func (g *Generator) member(op string, who place) *lineage.Step {
	w := script.At(who.worker)
	if who.rank >= 0 {
		w = who.where()
	}
	return &lineage.Step{Op: op, At: &w}
}

// event is a store or a match: mostly of what the ideal world holds, by an incarnation
// that is open.
func (g *Generator) event(m *Model, op string) *lineage.Step {
	st := g.on(&lineage.Step{Op: op, Session: pick(g.rnd, g.sessions...)})
	if g.lives {
		st.Incarnation = m.open(at(st.At))
		if st.Incarnation == "" || g.rnd.IntN(6) == 0 {
			st.Incarnation = fmt.Sprintf("life %d", g.rnd.IntN(g.made+1)) // of whomever, or of nobody
		}
	}
	if op == lineage.Match || op == lineage.MatchAdmit {
		st.Block = g.block()
		return st
	}
	if g.rnd.IntN(5) == 0 {
		for range 1 + g.rnd.IntN(3) {
			st.Blocks = append(st.Blocks, g.block())
		}
		st.Parent = pick(g.rnd, "", g.block())
		return st
	}
	b := 1 + g.rnd.IntN(len(g.tree)-1)
	for range 1 + g.rnd.IntN(4) {
		if b > 0 {
			st.Blocks = append([]string{lineage.B(uint64(b))}, st.Blocks...)
			b = g.tree[b]
		}
	}
	if b > 0 && g.rnd.IntN(8) > 0 {
		st.Parent = lineage.B(uint64(b))
	}
	if g.rnd.IntN(40) == 0 {
		st.Blocks = nil
	}
	return st
}

func (g *Generator) block() string { return lineage.B(uint64(1 + g.rnd.IntN(len(g.tree)))) } // one of them nowhere in the tree

func (g *Generator) some() (blocks []string) {
	for range pick(g.rnd, 1, 1, 2, 3) {
		blocks = append(blocks, g.block())
	}
	return blocks
}

// time is one shortly before, at or after the moment at which a block is forgotten, or
// any other.
func (g *Generator) time(m *Model) time.Duration {
	if len(m.idle) == 0 || g.rnd.IntN(4) == 0 {
		return pick(g.rnd, 0, time.Millisecond, (m.retention / 3).Truncate(time.Millisecond), m.retention)
	}
	since := m.idle[pick(g.rnd, slices.Sorted(maps.Keys(m.idle))...)]
	return max(0, m.retention-(m.now-since)+pick(g.rnd, -time.Millisecond, 0, 0, time.Millisecond))
}
