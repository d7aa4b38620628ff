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

// updating enqueues stores and evictions of another rank, some at a time, until it is told
// to stop, and says how many those were.
func updating(b *testing.B, r *indexRig, chain []Hash) (stop func() int) {
	b.Helper()
	over, count := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			for range 64 {
				at := n % 1023
				if n++; n%8 == 0 {
					_ = r.EnqueueRemove(w1, chain[at:at+1])
				} else {
					_ = r.EnqueueStore(Store{Session: "t", At: w1, Incarnation: "first", Parent: Under(chain[at]), Blocks: chain[at+1 : at+2]})
				}
			}
			_ = r.Flush(b.Context())
			select {
			case <-over:
				count <- n
				return
			default:
			}
		}
	}()
	return func() int {
		close(over)
		return <-count
	}
}

// Matches of many requests, alone and beside the events of another rank, which come in
// through its lane. What is allocated is the updates'.
func BenchmarkMatchesAtOnce(b *testing.B) {
	for name, beside := range map[string]bool{"alone": false, "beside updates": true} {
		b.Run(name, func(b *testing.B) {
			r, chain := benchRig(b)
			ctx := b.Context()
			stop := func() int { return 0 }
			if beside {
				stop = updating(b, r, chain)
			}
			b.RunParallel(func(p *testing.PB) {
				for i := 0; p.Next(); i++ {
					if _, err := r.AdmitMatch(Match{Session: "s", At: w0, Incarnation: "first", Block: chain[i%1024]}).Apply(ctx); err != nil {
						b.Error(err)
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(stop())/float64(b.N), "updates/op")
			if err := r.Close(ctx); err != nil {
				b.Error(err)
			}
		})
	}
}

// An event that comes in through a lane, with a flush for each 64 of them.
func BenchmarkLane(b *testing.B) {
	r, chain := benchRig(b)
	for i := range b.N {
		n := i % 1023
		if err := r.EnqueueStore(Store{Session: "s", At: w0, Incarnation: "first", Parent: Under(chain[n]), Blocks: chain[n+1 : n+2]}); err != nil {
			b.Fatal(err)
		}
		if i%64 == 63 {
			if err := r.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := r.Close(b.Context()); err != nil {
		b.Error(err)
	}
}
