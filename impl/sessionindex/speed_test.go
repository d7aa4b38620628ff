package sessionindex

import (
	"slices"
	"testing"
	"time"
)

// The whole call is compared with a bare map over the same keys, a few events of the one
// and then of the other, so that a noisy machine disturbs both alike. The bounds are those
// that the index is built to; a quarter of the rounds may show them, for a busy machine
// disturbs the others.
func TestABlockCostsLittleMoreThanAMapEntry(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement")
	}
	const rounds, total, slice = 9, 1 << 18, 1 << 14
	type side func(keys []Hash, first int)
	compare := func(name string, limit float64, sides func() (ours, control side)) {
		var a, b []time.Duration
		var ratios []float64
		for round := range rounds {
			ours, control := sides()
			keys := hashes(round+1, total)
			var spentOurs, spentControl time.Duration
			for i := 0; i < total; i += slice {
				begin := time.Now()
				ours(keys[i:i+slice], i)
				middle := time.Now()
				control(keys[i:i+slice], i)
				spentOurs += middle.Sub(begin)
				spentControl += time.Since(middle)
			}
			a, b = append(a, spentOurs), append(b, spentControl)
			ratios = append(ratios, float64(spentOurs)/float64(spentControl))
		}
		slices.Sort(a)
		slices.Sort(b)
		slices.Sort(ratios)
		t.Logf("%s: %d ns a block, bare map %d ns, ratio %.2f (medians of %d rounds; ratios from %.2f to %.2f)", name,
			a[rounds/2].Nanoseconds()/total, b[rounds/2].Nanoseconds()/total, ratios[rounds/2], rounds, ratios[0], ratios[rounds-1])
		if ratios[rounds/4] > limit {
			t.Errorf("%s costs %.2f times a bare map or more in three rounds of four, want at most %.1f", name, ratios[rounds/4], limit)
		}
	}
	insert := func(m map[Hash]nodeID) side {
		return func(keys []Hash, first int) {
			for i, h := range keys {
				m[h] = nodeID(first + i)
			}
		}
	}
	events := func(c *Core) side {
		return func(keys []Hash, _ int) {
			for ; len(keys) > 0; keys = keys[eventBlocks:] {
				if _, err := c.Store(0, Store{Session: "s", At: w0, Parent: Parent{}, Blocks: keys[:eventBlocks]}); err != nil {
					t.Fatal(err)
				}
				c.ClearRank(0, w0) // so that frontiers do not pile up
			}
		}
	}
	compare("a new block in an event of 1024", 2, func() (ours, control side) {
		return events(newCore(t, Config{})), insert(map[Hash]nodeID{})
	})
	round := 0
	var sum nodeID
	compare("a known block in an event of 1024", 2, func() (ours, control side) {
		round++
		c, m, keys := newCore(t, Config{}), map[Hash]nodeID{}, hashes(round, total)
		events(c)(keys, 0)
		insert(m)(keys, 0)
		return events(c), func(keys []Hash, _ int) {
			for _, h := range keys {
				sum += m[h]
			}
		}
	})
	compare("an append of one new block", 6, func() (ours, control side) {
		c := newCore(t, Config{})
		var parent Parent
		return func(keys []Hash, _ int) {
			for i := range keys {
				if _, err := c.Store(0, Store{Session: "s", At: w0, Parent: parent, Blocks: keys[i : i+1]}); err != nil {
					t.Fatal(err)
				}
				parent = Under(keys[i])
			}
		}, insert(map[Hash]nodeID{})
	})
	compare("an append of one new block through the index", 8, func() (ours, control side) {
		r := newRig(t, Config{})
		r.register(whole("w"), "first")
		ctx := t.Context()
		var parent Parent
		return func(keys []Hash, _ int) {
			for i := range keys {
				e := Store{Session: "s", At: w0, Incarnation: "first", Parent: parent, Blocks: keys[i : i+1]}
				if _, err := r.AdmitStore(e).Apply(ctx); err != nil {
					t.Fatal(err)
				}
				parent = Under(keys[i])
			}
		}, insert(map[Hash]nodeID{})
	})
}
