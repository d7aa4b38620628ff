package sessionindex

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// Each benchmark here has a bare map over the same keys as its control; ns/block and
// steps/block are what the ratios are taken from.

const (
	eventBlocks = 1024
	benchBlocks = 1 << 20
)

// perBlock reports what one block cost.
func perBlock(b *testing.B, spent time.Duration, steps uint64, blocks int) {
	b.ReportMetric(float64(spent.Nanoseconds())/float64(blocks), "ns/block")
	if steps > 0 {
		b.ReportMetric(float64(steps)/float64(blocks), "steps/block")
	}
	b.ReportMetric(0, "ns/op")
}

// fill stores the keys as chains of eventBlocks blocks.
func fill(b testing.TB, c *Core, keys []Hash) {
	for ; len(keys) > 0; keys = keys[eventBlocks:] {
		store(b, c, "s", w0, Parent{}, keys[:eventBlocks]...)
		c.ClearRank(0, w0) // so that frontiers do not pile up
	}
}

func BenchmarkNewBlocks(b *testing.B) {
	keys := hashes(1, benchBlocks)
	var spent time.Duration
	var steps uint64
	for range b.N {
		c := newCore(b, Config{})
		begin := time.Now()
		fill(b, c, keys)
		spent += time.Since(begin)
		steps += c.Steps()
	}
	perBlock(b, spent, steps, b.N*benchBlocks)
}

func BenchmarkNewBlocksControl(b *testing.B) {
	keys := hashes(1, benchBlocks)
	var spent time.Duration
	for range b.N {
		m := map[Hash]nodeID{}
		begin := time.Now()
		for i, h := range keys {
			m[h] = nodeID(i)
		}
		spent += time.Since(begin)
	}
	perBlock(b, spent, 0, b.N*benchBlocks)
}

func BenchmarkKnownBlocks(b *testing.B) {
	keys := hashes(1, benchBlocks)
	c := newCore(b, Config{})
	fill(b, c, keys)
	before := c.Steps()
	begin := time.Now()
	for range b.N {
		fill(b, c, keys)
	}
	perBlock(b, time.Since(begin), c.Steps()-before, b.N*benchBlocks)
}

func BenchmarkKnownBlocksControl(b *testing.B) {
	keys := hashes(1, benchBlocks)
	m := map[Hash]nodeID{}
	for i, h := range keys {
		m[h] = nodeID(i)
	}
	var sum nodeID
	begin := time.Now()
	for range b.N {
		for _, h := range keys {
			sum += m[h]
		}
	}
	perBlock(b, time.Since(begin), 0, b.N*benchBlocks)
	runtime.KeepAlive(sum)
}

func BenchmarkOneBlockAppends(b *testing.B) {
	keys := hashes(1, benchBlocks)
	var spent time.Duration
	var steps uint64
	for range b.N {
		c := newCore(b, Config{})
		begin := time.Now()
		var parent Parent
		for i := range keys {
			if _, err := c.Store(0, Store{Session: "s", At: w0, Parent: parent, Blocks: keys[i : i+1]}); err != nil {
				b.Fatal(err)
			}
			parent = Under(keys[i])
		}
		spent += time.Since(begin)
		steps += c.Steps()
	}
	perBlock(b, spent, steps, b.N*benchBlocks)
}

func TestABlockTakesFewBytesBesideItsMapEntry(t *testing.T) {
	if got := unsafe.Sizeof(node{}) + unsafe.Sizeof(run{}); got > 96 {
		t.Errorf("a block with a run of its own takes %d bytes, want at most 96", got)
	}
}
