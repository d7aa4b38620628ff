package complexity

import (
	"context"
	"iter"
	"slices"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
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
		Steps: 1, Slack: SlackScale, From: 4, Short: 11, To: 16, Speed: []int{1 << 6, 1 << 10}, Needs: needs,
		begin: func(b *bench) rounds {
			return each(func(ctx context.Context, n int) (record.Sample, error) { return chains(ctx, b, n, false) })
		},
	}, {
		Name: "k/known", Symbol: "k", Title: "a store of k known blocks under a chain of 64", Class: "O(k)",
		Steps: 1, Slack: SlackScale, From: 4, Short: 11, To: 16, Speed: []int{1 << 6, 1 << 10}, Needs: needs,
		begin: func(b *bench) rounds {
			return each(func(ctx context.Context, n int) (record.Sample, error) { return chains(ctx, b, n, true) })
		},
	}}
}

// chains measures stores of n blocks in a fresh index. Short events are measured
// several at a time, each for a session of its own.
func chains(ctx context.Context, b *bench, n int, known bool) (record.Sample, error) {
	events := max(1, 1<<11/n)
	times := 1
	if n <= 1<<12 {
		times = 2
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

// quietGrowth are lengths whose last two thousand blocks make no map of Go's grow, the
// control neither (its tables split when 7/8 of a power of two is reached): in which of a
// few chunks that happens hangs on the map's own seed, and it trebles the chunk's time.
var quietGrowth = []int{6 << 10, 12 << 10}

// growthLadders double N, the one-block events of a session.
func growthLadders() []*Ladder {
	return []*Ladder{{
		Name: "N/append", Symbol: "N", Title: "N appends of one block to one chain, the whole call", Class: "O(N)",
		Steps: 1, Total: true, Slack: SlackScale, From: 8, Short: 12, To: 18, Speed: quietGrowth, Needs: needs,
		begin: appends,
	}, {
		Name: "N/replay", Symbol: "N", Title: "replay of a chain of N blocks, one block at a time (of long ones, eight stretches)", Class: "O(N)",
		Steps: 1, Total: true, Slack: SlackScale, From: 8, Short: 12, To: 18, Speed: quietGrowth, Needs: needs,
		begin: replays,
	}}
}

// chunk is how many one-block events are timed at once. A rung has many chunks, and the
// median of theirs counts: whatever else the machine does meanwhile hits few of them.
const chunk = 1 << 8

// chunks collects the costs of one rung.
type chunks struct {
	ns, control []float64
	ops         int
	steps       *int64
}

func (r *chunks) add(c cost, control int64, ops int) {
	r.ns, r.control, r.ops = append(r.ns, float64(c.ns)/float64(ops)), append(r.control, float64(control)/float64(ops)), r.ops+ops
	if c.steps != nil {
		if r.steps == nil {
			r.steps = new(int64)
		}
		*r.steps += *c.steps
	}
}

func (r *chunks) sample(n int) record.Sample {
	all := func(each []float64) int64 { return max(1, int64(stats.Median(each)*float64(r.ops))) }
	return record.Sample{N: n, Ops: r.ops, NS: all(r.ns), Control: all(r.control), Steps: r.steps}
}

// appender lets one chain grow, and a map with it.
type appender struct {
	*index
	bare   control
	parent string
	has    int
}

// grow appends block by block and measures it.
func (a *appender) grow(ctx context.Context, to int, r *chunks) error {
	for a.has < to {
		n := min(chunk, to-a.has)
		keys := a.keys(n)
		parts := make([]component.Part, n)
		for i, block := range names(keys) {
			parts[i] = a.store("s", here, a.parent, block)
			a.parent = block
		}
		c, err := a.measure(ctx, parts...)
		if err != nil {
			return err
		}
		r.add(c, a.bare.insert(keys), n)
		a.has += n
	}
	return nil
}

// skip appends at once what is not measured.
func (a *appender) skip(ctx context.Context, to int) error {
	for a.has < to {
		n := min(maxBlocks, to-a.has)
		keys := a.keys(n)
		blocks := names(keys)
		if err := a.do(ctx, a.store("s", here, a.parent, blocks...)); err != nil {
			return err
		}
		a.bare.insert(keys)
		a.parent, a.has = blocks[n-1], a.has+n
	}
	return nil
}

// appends measures, for each size, the second half of so many appends: what the last
// doubling has cost. Only the first round does them all; in later ones all but the last
// few thousand of each size are stored at once.
func appends(b *bench) rounds {
	first := true
	return func(ctx context.Context, sizes []int) iter.Seq2[record.Sample, error] {
		sizes = slices.Sorted(slices.Values(sizes)) // a chain can only grow
		whole := first
		first = false
		return func(yield func(record.Sample, error) bool) {
			x, err := b.open(ctx, 1<<13, here.worker)
			if err != nil {
				yield(record.Sample{}, err)
				return
			}
			a := &appender{index: x, bare: control{}}
			for _, n := range sizes {
				from := n / 2
				if !whole {
					from = max(from, n-8*chunk)
				}
				var r chunks
				err := a.skip(ctx, from)
				if err == nil {
					err = a.grow(ctx, n, &r)
				}
				if err != nil {
					yield(record.Sample{}, err)
					return
				}
				if !yield(r.sample(n), nil) {
					return
				}
			}
			if err := x.close(ctx); err != nil {
				yield(record.Sample{}, err)
			}
		}
	}
}

// known is an index that holds a chain of a session on a rank.
type known struct {
	*index
	session string
	home    place
	keys    []uint64
	blocks  []string
}

// replays measures one-block stores of chains that are known, in stretches that are
// spread evenly over the chain.
func replays(b *bench) rounds {
	type chain struct {
		*known
		bare control
	}
	at := map[int]chain{}
	return each(func(ctx context.Context, n int) (s record.Sample, err error) {
		c, ok := at[n]
		if !ok {
			x, err := b.open(ctx, 1<<13, here.worker)
			if err != nil {
				return s, err
			}
			keys := b.keys(n)
			c = chain{&known{x, "s", here, keys, names(keys)}, control{}}
			c.bare.insert(keys)
			if err := x.do(ctx, x.chain("s", here, c.blocks)...); err != nil {
				return s, err
			}
			at[n] = c
		}
		var r chunks
		for begin := 0; begin < n; begin += max(chunk, n/8) {
			var parts []component.Part
			for i := begin; i < min(n, begin+chunk); i++ {
				parent := ""
				if i > 0 {
					parent = c.blocks[i-1]
				}
				parts = append(parts, c.store(c.session, c.home, parent, c.blocks[i]))
			}
			got, err := c.measure(ctx, parts...)
			if err != nil {
				return s, err
			}
			r.add(got, c.bare.look(c.keys[begin:begin+len(parts)]), len(parts))
		}
		return r.sample(n), nil
	})
}
