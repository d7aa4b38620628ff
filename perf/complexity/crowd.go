package complexity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites/target/component"
)

// crowd is an index with much else in it.
type crowd struct {
	*index
	trunk []string
	keys  []uint64 // as many as the size, for the control
	bare  control
	again int // how often a worker was removed, for its next incarnation
}

// newCrowd makes an index with a chain of 64 blocks of session s.
func newCrowd(ctx context.Context, b *bench, n int) (*crowd, error) {
	x, err := b.open(ctx, 1<<17, here.worker, there.worker, "u0", "u1")
	if err != nil {
		return nil, err
	}
	c := &crowd{index: x, trunk: names(b.keys(64)), keys: b.keys(n), bare: control{}}
	c.bare.insert(c.keys)
	return c, x.do(ctx, x.store("s", here, "", c.trunk...))
}

func (c *crowd) tail() string { return c.trunk[len(c.trunk)-1] }

// crowded measures trials in an index that was filled once for each size.
func crowded(b *bench, fill func(c *crowd, n int) []component.Part, plan func(c *crowd, n int) trial, grows bool) rounds {
	at := map[int]*crowd{}
	same := newSteady(b)
	return each(func(ctx context.Context, n int) (record.Sample, error) {
		c := at[n]
		if c == nil {
			var err error
			if c, err = newCrowd(ctx, b, n); err == nil {
				err = c.do(ctx, fill(c, n)...)
			}
			if err != nil {
				return record.Sample{}, err
			}
			at[n] = c
		}
		times := 1
		if n <= 1<<8 {
			times = 3
		}
		return best(times, func() (s record.Sample, err error) {
			t := plan(c, n)
			if err := c.do(ctx, t.prepare...); err != nil {
				return s, err
			}
			got, err := c.measure(ctx, t.measure...)
			if err != nil {
				return s, err
			}
			if grows {
				s = b.sample(n, t.ops, got, c.bare.look(c.keys))
			} else {
				s = b.sample(n, t.ops, got, same.work())
			}
			if err := c.do(ctx, t.undo...); err != nil {
				return s, err
			}
			return s, c.retire(ctx)
		})
	})
}

// crowdLadders double what is beside an operation, or what it sweeps away.
func crowdLadders() []*Ladder {
	nothing := func(*crowd, int) []component.Part { return nil }
	linear := func(symbol, name, title, class string, fill func(*crowd, int) []component.Part, plan func(*crowd, int) trial) *Ladder {
		return &Ladder{
			Name: symbol + "/" + name, Symbol: symbol, Title: title, Class: class,
			Steps: 1, Slack: SlackCoarse, From: 0, Short: 9, To: 12, Speed: []int{1 << 8}, Needs: needs,
			begin: func(b *bench) rounds { return crowded(b, fill, plan, true) },
		}
	}
	frontiers := linear("F", "store", "appends and matches by a session with F frontiers on the rank", "O(k + c F)",
		func(c *crowd, n int) (parts []component.Part) {
			for i, f := range names(c.bench.keys(n)) {
				parts = append(parts, c.store("s", there, c.trunk[i%60], f))
			}
			return append([]component.Part{c.store("s", there, "", c.trunk[:1]...)}, parts...)
		}, func(c *crowd, _ int) trial {
			added := names(c.bench.keys(8))
			t := trial{ops: 8, undo: []component.Part{c.remove(there, added...)}}
			for _, a := range added {
				t.measure = append(t.measure, c.store("s", there, c.trunk[60], a), c.match("s", there, c.trunk[5]))
			}
			return t
		})
	frontiers.To = 10
	sessions := &Ladder{
		Name: "S/store", Symbol: "S", Title: "appends and matches by a session beside S others on the same chain and rank", Class: "O(1) in S",
		Steps: 0, Slack: SlackCoarse, From: 0, Short: 9, To: 13, Speed: []int{1 << 8}, Needs: needs,
		begin: func(b *bench) rounds {
			return crowded(b, func(c *crowd, n int) (parts []component.Part) {
				for i, f := range names(c.bench.keys(n)) {
					if i%2 == 0 {
						parts = append(parts, c.match(another(i), here, c.tail()))
					} else {
						parts = append(parts, c.store(another(i), here, c.trunk[i%63], f))
					}
				}
				return parts
			}, func(c *crowd, _ int) trial {
				added := names(c.bench.keys(turns))
				t := trial{ops: turns, undo: []component.Part{c.clear(there)}}
				for _, a := range added {
					t.measure = append(t.measure, c.store("s", there, c.tail(), a), c.match("s", there, c.trunk[5]))
				}
				return t
			}, false)
		},
	}
	ranks := func(c *crowd, n int) (parts []component.Part) {
		for i := range n {
			parts = append(parts, c.match("s", place{fmt.Sprint("u", i%2), uint32(i)}, c.tail()))
		}
		return parts
	}
	rank := linear("w", "clear", "a clear of a rank beside w other ranks with claims", "O(w + b)", ranks,
		func(c *crowd, _ int) trial {
			pair := []component.Part{c.match("s", there, c.tail()), c.clear(there)}
			return trial{ops: turns, measure: slices.Repeat(pair, turns)}
		})
	worker := linear("w", "remove", "a worker's removal beside w ranks of others with claims", "O(w + b)", ranks,
		func(c *crowd, _ int) trial { return c.removal([]component.Part{c.match("s", there, c.tail())}) })
	bindings := linear("b", "clear", "a clear of a rank on which b sessions have claims", "O(w + b)", nothing,
		func(c *crowd, n int) (t trial) {
			for i := range n {
				t.prepare = append(t.prepare, c.match(another(i), there, c.tail()))
			}
			t.ops, t.measure = 1, []component.Part{c.clear(there)}
			return t
		})
	gone := linear("b", "remove", "a worker's removal, on whose ranks b sessions have claims", "O(w + b)", nothing,
		func(c *crowd, n int) trial {
			var claims []component.Part
			for i := range n {
				claims = append(claims, c.match(another(i), place{there.worker, uint32(i % 4)}, c.tail()))
			}
			return c.removal(claims)
		})
	worker.Needs = []component.Claim{component.ClaimBatch, component.ClaimLifecycle}
	gone.Needs = worker.Needs
	evicted := linear("B", "evict", "removal of a block that is the frontier of B sessions", "O(m + B c)", nothing,
		func(c *crowd, n int) (t trial) {
			for i := range n {
				t.prepare = append(t.prepare, c.match(another(i), here, c.tail()))
			}
			t.ops, t.measure = 1, []component.Part{c.remove(here, c.tail())}
			t.undo = []component.Part{c.clear(here), c.store("s", here, "", c.trunk...)}
			return t
		})
	removed := linear("m", "evict", "removal of the last m blocks of a chain", "O(m + B c)", nothing,
		func(c *crowd, n int) trial {
			tail := names(c.bench.keys(n))
			return trial{ops: 1, prepare: []component.Part{c.store("s", here, c.tail(), tail...)}, measure: []component.Part{c.remove(here, tail...)}}
		})
	removed.To = 16
	return []*Ladder{frontiers, sessions, rank, worker, bindings, gone, evicted, removed, idLadder()}
}

// removal is a trial that removes the worker there. Each time it is another
// incarnation, for a name is used once.
func (c *crowd) removal(claims []component.Part) trial {
	c.again++
	next := fmt.Sprint("again-", c.again)
	for i := range claims {
		args := claims[i].Args.(component.MatchArgs)
		args.Incarnation = next
		claims[i].Args = args
	}
	return trial{
		ops: 1, prepare: append(c.register(there.worker, next), claims...),
		measure: []component.Part{{Op: component.OpWorkerRemove, Args: component.MemberArgs{Instance: c.id, Worker: there.worker}}},
	}
}

// idLadder doubles L, the bytes of session ids. What is kept of them is what matters:
// memory is the growth of the heap.
func idLadder() *Ladder {
	const sessions = 1 << 11
	return &Ladder{
		Name: "L/ids", Symbol: "L", Title: "matches by 2048 new sessions whose ids have L bytes; the memory that stays", Class: "O(1) steps, O(L) memory",
		Steps: 0, Memory: exponent(1), Slack: SlackCoarse, From: 3, Short: 8, To: 8, Speed: []int{1 << 6}, Needs: needs,
		begin: func(b *bench) rounds {
			return each(func(ctx context.Context, n int) (record.Sample, error) {
				x, err := b.open(ctx, 1<<13, here.worker)
				if err != nil {
					return record.Sample{}, err
				}
				block := names(b.keys(1))[0]
				var parts []component.Part
				ids := make([]string, sessions)
				for i := range ids {
					ids[i] = fmt.Sprintf("%05d", i) + strings.Repeat("x", n-5)
					parts = append(parts, x.match(ids[i], here, block))
				}
				if err := x.do(ctx, x.match("s", here, block)); err != nil {
					return record.Sample{}, err
				}
				var before uint64
				if b.local {
					before = live()
				}
				c, err := x.run(ctx, parts)
				if err != nil {
					return record.Sample{}, err
				}
				if b.local {
					after := live()
					c.bytes = max(1, after-min(before, after))
				}
				bare := map[string]int{}
				began := time.Now()
				for i, id := range ids {
					bare[id] = i
				}
				s := b.sample(n, sessions, c, max(1, time.Since(began).Nanoseconds()))
				return s, x.close(ctx)
			})
		},
	}
}
