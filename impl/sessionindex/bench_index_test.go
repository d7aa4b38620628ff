package sessionindex

import (
	"testing"
)

// What a call costs through Index beside what it costs of the Core alone.

func benchRig(b *testing.B) (*indexRig, []Hash) {
	r, chain := newRig(b, Config{}), hashes(1, 1<<10)
	r.register(whole("w"), "first")
	r.apply("the chain", r.admit("s", w0, "first", chain...), counts)
	b.ReportAllocs()
	b.ResetTimer()
	return r, chain
}

func BenchmarkIndexStoreKnown(b *testing.B) {
	r, chain := benchRig(b)
	ctx := b.Context()
	for i := range b.N {
		n := i % 1023
		if _, err := r.AdmitStore(Store{Session: "s", At: w0, Incarnation: "first", Parent: Under(chain[n]), Blocks: chain[n+1 : n+2]}).Apply(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCoreStoreKnown(b *testing.B) {
	c, chain := deep(b, 1<<10)
	b.ReportAllocs()
	for i := range b.N {
		n := i % 1023
		store(b, c, "s", w0, Under(chain[n]), chain[n+1:n+2]...)
	}
}

// The new blocks: appends to one chain. What memory they cost is the blocks'.
func BenchmarkIndexStoreNew(b *testing.B) {
	r, _ := benchRig(b)
	ctx, keys := b.Context(), hashes(2, b.N+1)
	b.ResetTimer()
	var parent Parent
	for i := range b.N {
		if _, err := r.AdmitStore(Store{Session: "t", At: w0, Incarnation: "first", Parent: parent, Blocks: keys[i : i+1]}).Apply(ctx); err != nil {
			b.Fatal(err)
		}
		parent = Under(keys[i])
	}
}

func BenchmarkIndexMatch(b *testing.B) {
	r, chain := benchRig(b)
	ctx := b.Context()
	for i := range b.N {
		if _, err := r.AdmitMatch(Match{Session: "s", At: w0, Incarnation: "first", Block: chain[i%1024]}).Apply(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCoreMatch(b *testing.B) {
	c, chain := deep(b, 1<<10)
	b.ReportAllocs()
	for i := range b.N {
		c.Match(0, Match{Session: "s", At: w0, Block: chain[i%1024]})
	}
}

func BenchmarkIndexAdmit(b *testing.B) {
	r, chain := benchRig(b)
	for i := range b.N {
		n := i % 1023
		t := r.AdmitStore(Store{Session: "s", At: w0, Incarnation: "first", Parent: Under(chain[n]), Blocks: chain[n+1 : n+2]})
		r.tickets.Put(t.Grip)
	}
}

func BenchmarkIndexFrontiers(b *testing.B) {
	r, _ := benchRig(b)
	for range b.N {
		r.Frontiers("s")
	}
}

// One goroutine in eight writes, the others read.
func BenchmarkReadsBesideWrites(b *testing.B) {
	r, chain := benchRig(b)
	ctx := b.Context()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			if n := i % 1023; n%8 == 0 {
				_, _ = r.AdmitStore(Store{Session: "s", At: w0, Incarnation: "first", Parent: Under(chain[n]), Blocks: chain[n+1 : n+2]}).Apply(ctx)
			} else {
				r.Frontiers("s")
			}
		}
	})
}
