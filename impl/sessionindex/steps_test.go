package sessionindex

import (
	"fmt"
	"strconv"
	"testing"
)

var (
	w0 = WorkerRank{"w", 0}
	w1 = WorkerRank{"w", 1}
	v0 = WorkerRank{"v", 0}
)

// deep is an index in which the session has a plain chain of d blocks, and that chain.
func deep(t testing.TB, d int) (*Core, []Hash) {
	c, chain := newCore(t, Config{}), hashes(1, d)
	store(t, c, "s", w0, Parent{}, chain...)
	return c, chain
}

var depths = []int{1 << 4, 1 << 10, 1 << 16}

// same wants the same number of steps at every depth.
func same(t *testing.T, what string, steps func(d int) uint64) {
	t.Helper()
	want := steps(depths[0])
	for _, d := range depths[1:] {
		if got := steps(d); got != want {
			t.Errorf("%s at depth %d takes %d steps, at depth %d %d", what, d, got, depths[0], want)
		}
	}
	t.Logf("%s: %d steps", what, want)
}

func TestStepsDoNotDependOnDepth(t *testing.T) {
	same(t, "one-block append", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { store(t, c, "s", w0, Under(chain[d-1]), 1) })
	})
	same(t, "one-block replay below a deep frontier", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { store(t, c, "s", w0, Under(chain[2]), chain[3]) })
	})
	same(t, "leaf graft", func(d int) uint64 {
		c, chain := deep(t, d)
		c.Match(0, Match{Session: "t", At: w1, Block: 1})
		return spent(c, func() { store(t, c, "s", w0, Under(chain[d-1]), 1) })
	})
	same(t, "interior branch", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { store(t, c, "s", w0, Under(chain[d/2]), 1) })
	})
	same(t, "attach by another session", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { store(t, c, "t", w1, Under(chain[d-2]), chain[d-1]) })
	})
	same(t, "match of a deep block", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { c.Match(0, Match{Session: "t", At: w1, Block: chain[d-1]}) })
	})
	same(t, "removal of the tail", func(d int) uint64 {
		c, chain := deep(t, d)
		return spent(c, func() { c.Remove(0, w0, chain[d-1:]) })
	})
	same(t, "clear of a rank", func(d int) uint64 {
		c, _ := deep(t, d)
		return spent(c, func() { c.ClearRank(0, w0) })
	})
}

// A root with children above which the walk for cycles goes once is the only store
// that may see the depth, and it must not see what is below the root.
func TestASubtreeGraftSeesTheDepthAboveItOnly(t *testing.T) {
	steps := func(above, below int) uint64 {
		c, chain := deep(t, above)
		sub := hashes(2, below)
		store(t, c, "t", w1, Parent{}, sub...)
		return spent(c, func() { store(t, c, "u", v0, Under(chain[above-1]), sub[0]) })
	}
	for _, d := range depths {
		if got, limit := steps(d, 1<<12), uint64(2*d+16); got > limit {
			t.Errorf("a subtree graft at depth %d takes %d steps, want at most %d", d, got, limit)
		}
	}
	if a, b := steps(16, 1<<10), steps(16, 1<<16); a != b {
		t.Errorf("a subtree graft takes %d steps above 2^10 blocks and %d above 2^16", a, b)
	}
}

func TestManyOneBlockStoresTakeStepsInProportion(t *testing.T) {
	appends := func(c *Core, chain []Hash) uint64 {
		return spent(c, func() {
			var parent Parent
			for _, h := range chain {
				store(t, c, "s", w0, parent, h)
				parent = Under(h)
			}
		})
	}
	backwards := func(c *Core, chain []Hash) uint64 { // each block told as the parent of the one before
		return spent(c, func() {
			c.Match(0, Match{Session: "s", At: w0, Block: chain[0]})
			for i := 1; i < len(chain); i++ {
				store(t, c, "s", w0, Under(chain[i]), chain[i-1])
			}
		})
	}
	for name, run := range map[string]func(*Core, []Hash) uint64{
		"appends":               appends,
		"replay":                func(c *Core, chain []Hash) uint64 { appends(c, chain); return appends(c, chain) },
		"chains told backwards": backwards,
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1 << 8, 1 << 12, 1 << 16} {
				got := run(newCore(t, Config{}), hashes(1, n))
				t.Logf("%d stores: %d steps, %.2f each", n, got, float64(got)/float64(n))
				if limit := uint64(12 * n); got > limit {
					t.Errorf("%d stores take %d steps, want at most %d", n, got, limit)
				}
			}
		})
	}
}

func TestStoreAndMatchDoNotDependOnOtherSessions(t *testing.T) {
	steps := func(sessions int) (stored, matched uint64) {
		c, chain := deep(t, 64)
		for i := range sessions {
			store(t, c, strconv.Itoa(i), w0, Under(chain[i%63]), Hash(1000+i))
			c.Match(0, Match{Session: strconv.Itoa(i), At: w1, Block: chain[63]})
		}
		stored = spent(c, func() { store(t, c, "s", w0, Under(chain[63]), 1) })
		matched = spent(c, func() { c.Match(0, Match{Session: "s", At: w1, Block: chain[63]}) })
		return stored, matched
	}
	stored, matched := steps(1)
	for _, n := range []int{100, 10000} {
		if s, m := steps(n); s != stored || m != matched {
			t.Errorf("beside %d sessions a store takes %d steps and a match %d, beside one %d and %d", n, s, m, stored, matched)
		}
	}
}

func TestAPlainStoreTakesStepsInProportionToItsBlocks(t *testing.T) {
	for _, k := range []int{1, 16, 1024, 1 << 16} {
		c, chain := deep(t, 100)
		suffix := hashes(2, k)
		for _, what := range []string{"new", "known"} {
			if got := spent(c, func() { store(t, c, "s", w0, Under(chain[99]), suffix...) }); got > uint64(k+8) {
				t.Errorf("%d %s blocks take %d steps, want at most %d", k, what, got, k+8)
			}
		}
	}
}

// Frontiers on branches cost a step for each, and one for each run above them.
func TestStoreAndMatchTakeStepsForTheFrontiersOfTheirOwnRank(t *testing.T) {
	for _, f := range []int{1, 64, 4096} {
		c, trunk := deep(t, 1<<10)
		for i := range f {
			store(t, c, "s", w1, Under(trunk[i%1000]), Hash(i+1))
		}
		own := spent(c, func() { c.Match(0, Match{Session: "s", At: w1, Block: trunk[5]}) })
		if limit := uint64(4*f + 16); own > limit {
			t.Errorf("with %d frontiers a match takes %d steps, want at most %d", f, own, limit)
		}
		if other := spent(c, func() { c.Match(0, Match{Session: "s", At: v0, Block: trunk[5]}) }); other > 16 {
			t.Errorf("with %d frontiers on another rank a match takes %d steps", f, other)
		}
	}
}

func TestClearsAndRemovalsTakeStepsForWhatIsThere(t *testing.T) {
	for _, n := range []int{16, 256, 4096} {
		build := func() (*Core, []Hash) {
			c, trunk := deep(t, 1<<10)
			for i := range n {
				at := WorkerRank{fmt.Sprintf("w%d", i%2), uint32(i)}
				c.Match(0, Match{Session: strconv.Itoa(i), At: at, Block: trunk[1000]})
				c.Match(0, Match{Session: strconv.Itoa(i), At: v0, Block: trunk[1000]})
			}
			return c, trunk
		}
		c, trunk := build()
		if got, limit := spent(c, func() { c.ClearWorker(0, "w0") }), uint64(4*n+16); got > limit {
			t.Errorf("a worker's clear over %d ranks takes %d steps, want at most %d", n, got, limit)
		}
		if got, limit := spent(c, func() { c.Remove(0, v0, trunk[512:]) }), uint64(512+8*n+16); got > limit {
			t.Errorf("a removal over %d frontiers takes %d steps, want at most %d", n, got, limit)
		}
		if got, limit := spent(c, func() { c.Remove(0, WorkerRank{"nobody", 0}, trunk) }), uint64(1<<10); got > limit {
			t.Errorf("a removal on an empty rank takes %d steps, want at most %d", got, limit)
		}
	}
}
