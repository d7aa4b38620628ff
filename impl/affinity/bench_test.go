package affinity

import (
	"strconv"
	"testing"
	"time"
)

// cold is how many sessions it takes that no cache holds them all: the default
// capacity.
const cold = DefaultCapacity

// filled is a table with idle bindings of the keys.
func filled(t testing.TB, keys []Key) *Table {
	table := newTable(t, Config{IdleTTL: time.Hour})
	for _, k := range keys {
		l := acquire(t, table, Ask{Key: k})
		commit(t, l, worker("worker-"+strconv.Itoa(len(k.Session)%8)))
		l.Release()
	}
	return table
}

func use(b *testing.B, table *Table, k Key) {
	l, err := table.Acquire(b.Context(), Ask{Key: k})
	if err != nil {
		b.Fatal(err)
	}
	l.Release()
}

func BenchmarkBoundHot(b *testing.B) {
	keys := randomKeys(1)
	table := filled(b, keys)
	b.ReportAllocs()
	for b.Loop() {
		use(b, table, keys[0])
	}
}

func BenchmarkBoundCold(b *testing.B) {
	keys := randomKeys(cold)
	table, order := filled(b, keys), shuffled(keys)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		use(b, table, order[i%cold])
	}
}

func BenchmarkControlHot(b *testing.B) {
	keys := randomKeys(1)
	c := newControl(b, keys)
	b.ReportAllocs()
	for b.Loop() {
		c.use(&keys[0])
	}
}

func BenchmarkControlCold(b *testing.B) {
	keys := randomKeys(cold)
	c, order := newControl(b, keys), shuffled(keys)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.use(&order[i%cold])
	}
}

// Run it with -cpu 1,2: throughput must rise with the cores.
func BenchmarkBoundColdParallel(b *testing.B) {
	keys := randomKeys(cold)
	table, order := filled(b, keys), shuffled(keys)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			use(b, table, order[i%cold])
		}
	})
}

func BenchmarkNewSession(b *testing.B) {
	for _, full := range []bool{false, true} {
		b.Run(map[bool]string{false: "forgotten", true: "evicting"}[full], func(b *testing.B) {
			table := newTable(b, Config{IdleTTL: time.Hour, Evict: true})
			keys := randomKeys(2 * cold)
			if full {
				for _, k := range keys[cold:] {
					l := acquire(b, table, Ask{Key: k})
					commit(b, l, worker("w"))
					l.Release()
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l := acquire(b, table, Ask{Key: keys[i%len(keys)]})
				if _, bound := l.Bound(); bound {
					b.Fatal("the session is not new")
				}
				commit(b, l, worker("w"))
				if full {
					l.Release()
				} else {
					l.Invalidate()
				}
			}
		})
	}
}
