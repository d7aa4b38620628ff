package complexity

import (
	"context"
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites/target/component"
)

// turns is how many operations a sample of a depth ladder has; one would be too short
// for a clock, and a few would show how cold the caches are after a line was read.
const turns = 64

// hotTurns is the same where the operation is the same each time: what is repeated needs
// no room, and a sample of 20 microseconds is as long as what disturbs it.
const hotTurns = 512

// trial is what is done at one depth, again and again.
type trial struct {
	ops     int
	hot     bool // the operation is the same each time, and all it meets is in the caches
	prepare []component.Part
	measure []component.Part
	undo    []component.Part
}

// depthLadders double d, the depth of the chain that an operation meets.
func depthLadders() []*Ladder {
	ladder := func(name, title string, plan func(*known) trial) *Ladder {
		return &Ladder{
			Name: "d/" + name, Symbol: "d", Title: title, Class: "O(1) in d",
			Steps: 0, Slack: SlackFlat, From: 0, Short: 12, To: 18, Speed: []int{1 << 8, 1 << 12}, Needs: needs,
			begin: func(b *bench) rounds { return depths(b, plan, false) },
		}
	}
	subtree := &Ladder{
		Name: "d/subtree", Symbol: "d", Title: "a root with a child gets its place at the end of a chain of d", Class: "O(d) time, O(1) memory",
		Steps: 1, Memory: exponent(0), Slack: SlackCoarse, From: 0, Short: 12, To: 18, Speed: []int{1 << 8}, Needs: needs,
		begin: func(b *bench) rounds { return depths(b, subtreeGraft, true) },
	}
	return []*Ladder{
		ladder("append", "an append of one block to a chain of d", func(k *known) trial {
			added := names(k.keysFor(turns))
			t := trial{ops: turns, undo: []component.Part{k.remove(k.home, added[0])}}
			parent := k.tail()
			for _, a := range added {
				t.measure = append(t.measure, k.store(k.session, k.home, parent, a))
				parent = a
			}
			return t
		}),
		ladder("replay", "the last block of a chain of d is stored again", func(k *known) trial {
			return trial{ops: hotTurns, hot: true, measure: slices.Repeat([]component.Part{k.store(k.session, k.home, k.above(), k.tail())}, hotTurns)}
		}),
		ladder("match", "a match of the last block of a chain of d", func(k *known) trial {
			return trial{ops: hotTurns, hot: true, measure: slices.Repeat([]component.Part{k.match(k.session, k.home, k.tail())}, hotTurns)}
		}),
		ladder("leaf", "a lone root gets its place at the end of a chain of d", func(k *known) trial {
			lone := names(k.keysFor(turns))
			t := trial{ops: turns, undo: []component.Part{k.remove(k.home, lone...), k.clear(there)}}
			for _, r := range lone {
				t.prepare = append(t.prepare, k.match("u", there, r))
				t.measure = append(t.measure, k.store(k.session, k.home, k.tail(), r))
			}
			return t
		}),
		subtree,
		ladder("branch", "a new block branches off in the middle of a chain of d", func(k *known) trial {
			side := names(k.keysFor(turns))
			t := trial{ops: turns, undo: []component.Part{k.remove(k.home, side...)}}
			for _, n := range side {
				t.measure = append(t.measure, k.store(k.session, k.home, k.blocks[(len(k.blocks)-1)/2], n))
			}
			return t
		}),
		ladder("attach", "another session stores the last block of a chain of d", func(k *known) trial {
			t := trial{ops: turns, undo: []component.Part{k.clear(there)}}
			for i := range turns {
				t.measure = append(t.measure, k.store(another(i), there, k.above(), k.tail()))
			}
			return t
		}),
		ladder("evict", "the last block of a chain of d is removed, and stored again", func(k *known) trial {
			pair := []component.Part{k.remove(k.home, k.tail()), k.store(k.session, k.home, k.above(), k.tail())}
			return trial{ops: hotTurns, hot: true, measure: slices.Repeat(pair, hotTurns)}
		}),
	}
}

// subtreeGraft walks the chain for cycles once for each graft, so it does a few only.
func subtreeGraft(k *known) trial {
	const grafts = 2
	t := trial{ops: grafts}
	roots := names(k.keysFor(2 * grafts))
	for i := range grafts {
		t.prepare = append(t.prepare, k.store("u", there, "", roots[2*i:2*i+2]...))
		t.measure = append(t.measure, k.store(k.session, k.home, k.tail(), roots[2*i]))
	}
	t.undo = []component.Part{k.remove(k.home, roots...), k.clear(there)}
	return t
}

func (k *known) keysFor(n int) []uint64 { return k.bench.keys(n) }

func (k *known) tail() string { return k.blocks[len(k.blocks)-1] }

// above is the parent of the tail, none if that is a root.
func (k *known) above() string {
	if len(k.blocks) < 2 {
		return ""
	}
	return k.blocks[len(k.blocks)-2]
}

// deep is an index that holds chains of all depths side by side, each of a session and
// on a rank of its own. So at each depth an operation meets as many blocks in the same
// memory, and nothing but the depth of its own chain differs.
type deep struct {
	*index
	keys  []uint64 // of all chains
	bare  control
	at    map[int]*known
	rungs int
}

// chainOf returns the chain of depth n, which it makes the first time.
func (d *deep) chainOf(ctx context.Context, n int) (*known, error) {
	if k := d.at[n]; k != nil {
		return k, nil
	}
	d.rungs++
	keys := d.bench.keys(n)
	k := &known{index: d.index, session: fmt.Sprint("s", d.rungs), home: place{here.worker, uint32(d.rungs)}, keys: keys, blocks: names(keys)}
	d.at[n], d.keys = k, append(d.keys, keys...)
	d.bare.insert(keys)
	return k, d.do(ctx, d.chain(k.session, k.home, k.blocks)...)
}

// control is a thousand lookups, at each depth among the same keys; of a few of them
// where the operation meets the same few things each time, so that what slows caches down
// slows neither; or, where the operation itself grows with the depth, as many as the chain
// has.
func (d *deep) control(k *known, grows, hot bool) int64 {
	if grows {
		return d.bare.look(k.keys)
	}
	const lookups, few = 1 << 10, 1 << 4
	some := make([]uint64, lookups)
	for i := range some {
		some[i] = d.keys[d.rng.IntN(len(d.keys))]
		if hot && i >= few {
			some[i] = some[i-few]
		}
	}
	return d.bare.look(some)
}

// depths measures a trial at chains of several depths.
func depths(b *bench, plan func(*known) trial, grows bool) rounds {
	var d *deep
	return each(func(ctx context.Context, n int) (record.Sample, error) {
		if d == nil {
			x, err := b.open(ctx, 1<<13, here.worker, there.worker)
			if err != nil {
				return record.Sample{}, err
			}
			d = &deep{index: x, bare: control{}, at: map[int]*known{}}
		}
		k, err := d.chainOf(ctx, n)
		if err != nil {
			return record.Sample{}, err
		}
		return best(5, func() (s record.Sample, err error) {
			t := plan(k)
			if err := d.do(ctx, t.prepare...); err != nil {
				return s, err
			}
			c, err := d.measure(ctx, t.measure...)
			if err != nil {
				return s, err
			}
			s = b.sample(n, t.ops, c, d.control(k, grows, t.hot))
			if err := d.do(ctx, t.undo...); err != nil {
				return s, err
			}
			return s, d.retire(ctx)
		})
	})
}
