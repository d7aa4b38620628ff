package complexity

import (
	"context"
	"iter"
	"slices"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Ladders are all of them, in the order in which they are measured.
func Ladders() []*Ladder {
	return slices.Concat(chainLadders(), growthLadders(), depthLadders(), crowdLadders())
}

// each is a round that measures one size after the other.
func each(one func(ctx context.Context, n int) (record.Sample, error)) rounds {
	return func(ctx context.Context, sizes []int) iter.Seq2[record.Sample, error] {
		return func(yield func(record.Sample, error) bool) {
			for _, n := range sizes {
				if s, err := one(ctx, n); !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

// best repeats a measurement and keeps the least of each figure: what disturbs only
// ever adds.
func best(times int, one func() (record.Sample, error)) (record.Sample, error) {
	least, err := one()
	for range times - 1 {
		var s record.Sample
		if err == nil {
			s, err = one()
		}
		if err != nil {
			return least, err
		}
		least.NS, least.Control = min(least.NS, s.NS), min(least.Control, s.Control)
		if s.Bytes != nil {
			*least.Bytes = min(*least.Bytes, *s.Bytes)
		}
	}
	return least, err
}

// sample is what one batch of so many operations came to.
func (b *bench) sample(n, ops int, c cost, control int64) record.Sample {
	s := record.Sample{N: n, Ops: ops, NS: c.ns, Control: control, Steps: c.steps}
	if b.local {
		s.Bytes = &c.bytes
	}
	return s
}

func exponent(e float64) *float64 { return &e }

var needs = []component.Claim{component.ClaimBatch}

// chainLadders double k, the blocks of one event.
func chainLadders() []*Ladder {
	return []*Ladder{{
		Name: "k/new", Symbol: "k", Title: "a store of k new blocks under a chain of 64", Class: "O(k)",
		Steps: 1, Slack: SlackScale, From: 4, Short: 11, To: 16, Speed: []int{6, 10}, Needs: needs,
		begin: func(b *bench) rounds {
			return each(func(ctx context.Context, n int) (record.Sample, error) { return chains(ctx, b, n, false) })
		},
	}, {
		Name: "k/known", Symbol: "k", Title: "a store of k known blocks under a chain of 64", Class: "O(k)",
		Steps: 1, Slack: SlackScale, From: 4, Short: 11, To: 16, Speed: []int{6, 10}, Needs: needs,
		begin: func(b *bench) rounds {
			return each(func(ctx context.Context, n int) (record.Sample, error) { return chains(ctx, b, n, true) })
		},
	}}
}

// chains measures stores of n blocks in a fresh index. Short events are measured
// several at a time, each for a session of its own.
func chains(ctx context.Context, b *bench, n int, known bool) (record.Sample, error) {
	events := max(1, 1<<12/n)
	times := 1
	if n <= 1<<12 {
		times = 3
	}
	return best(times, func() (s record.Sample, err error) {
		x, err := b.open(ctx, 1<<13, here.worker)
		if err != nil {
			return s, err
		}
		trunk, keys := names(b.keys(64)), b.keys(events*n)
		blocks := names(keys)
		parts := make([]component.Part, events)
		for i := range parts {
			parts[i] = x.store(another(i), here, trunk[63], blocks[i*n:(i+1)*n]...)
		}
		if err := x.do(ctx, x.store("s", here, "", trunk...)); err != nil {
			return s, err
		}
		bare := control{}
		if known {
			bare.insert(keys)
			if err := x.do(ctx, parts...); err != nil {
				return s, err
			}
		}
		c, err := x.measure(ctx, parts...)
		if err != nil {
			return s, err
		}
		if known {
			s = b.sample(n, events, c, bare.look(keys))
		} else {
			s = b.sample(n, events, c, bare.insert(keys))
		}
		return s, x.close(ctx)
	})
}

// growthLadders double N, the one-block events of a session.
func growthLadders() []*Ladder {
	return []*Ladder{{
		Name: "N/append", Symbol: "N", Title: "N appends of one block to one chain, the whole call", Class: "O(N)",
		Steps: 1, Total: true, Slack: SlackScale, From: 8, Short: 12, To: 18, Speed: []int{10, 12}, Needs: needs,
		begin: func(b *bench) rounds {
			return func(ctx context.Context, sizes []int) iter.Seq2[record.Sample, error] {
				return func(yield func(record.Sample, error) bool) { appends(ctx, b, sizes, yield) }
			}
		},
	}, {
		Name: "N/replay", Symbol: "N", Title: "replay of a chain of N blocks, one block at a time (at most 4096 of them are measured)", Class: "O(N)",
		Steps: 1, Total: true, Slack: SlackScale, From: 8, Short: 12, To: 18, Speed: []int{10, 12}, Needs: needs,
		begin: func(b *bench) rounds {
			at := map[int]*known{}
			return each(func(ctx context.Context, n int) (record.Sample, error) {
				if at[n] == nil {
					k, err := newKnown(ctx, b, n)
					if err != nil {
						return record.Sample{}, err
					}
					at[n] = k
				}
				return at[n].replay(ctx)
			})
		},
	}}
}

// appends lets one chain grow block by block, and measures what each doubling has
// cost. The map grows with it, a few thousand keys behind each batch.
func appends(ctx context.Context, b *bench, sizes []int, yield func(record.Sample, error) bool) {
	sizes = slices.Sorted(slices.Values(sizes)) // a chain can only grow
	x, err := b.open(ctx, 1<<13, here.worker)
	if err != nil {
		yield(record.Sample{}, err)
		return
	}
	bare, parent, has := control{}, "", 0
	grow := func(to int) (s record.Sample, err error) {
		s = record.Sample{N: to, Ops: to - has}
		for has < to {
			n := min(maxOps, to-has)
			keys := b.keys(n)
			blocks := names(keys)
			parts := make([]component.Part, n)
			for i := range parts {
				parts[i] = x.store("s", here, parent, blocks[i])
				parent = blocks[i]
			}
			c, err := x.measure(ctx, parts...)
			if err != nil {
				return s, err
			}
			s.NS += c.ns
			s.Control += bare.insert(keys)
			if c.steps != nil {
				sum := *c.steps
				if s.Steps != nil {
					sum += *s.Steps
				}
				s.Steps = &sum
			}
			has += n
		}
		return s, nil
	}
	_, err = grow(sizes[0] / 2)
	for _, n := range sizes {
		var s record.Sample
		if err == nil {
			s, err = grow(n)
		}
		if !yield(s, err) || err != nil {
			return
		}
	}
	if err := x.close(ctx); err != nil {
		yield(record.Sample{}, err)
	}
}

// known is an index that holds a chain of one session, and a map that holds it, too.
type known struct {
	*index
	keys   []uint64
	blocks []string
	bare   control
}

func newKnown(ctx context.Context, b *bench, n int) (*known, error) {
	x, err := b.open(ctx, 1<<13, here.worker, there.worker)
	if err != nil {
		return nil, err
	}
	keys := b.keys(n)
	k := &known{x, keys, names(keys), control{}}
	k.bare.insert(keys)
	return k, x.do(ctx, x.chain("s", here, k.blocks)...)
}

// replay measures one-block stores of what is known, evenly over the chain.
func (k *known) replay(ctx context.Context) (record.Sample, error) {
	stride := max(1, len(k.keys)/(1<<12))
	var parts []component.Part
	var some []uint64
	for i := 0; i < len(k.keys); i += stride {
		parent := ""
		if i > 0 {
			parent = k.blocks[i-1]
		}
		parts, some = append(parts, k.store("s", here, parent, k.blocks[i])), append(some, k.keys[i])
	}
	c, err := k.measure(ctx, parts...)
	if err != nil {
		return record.Sample{}, err
	}
	return k.sample(len(k.keys), len(parts), c, k.bare.look(some)), nil
}
