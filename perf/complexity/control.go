package complexity

import (
	"runtime"
	"time"
)

// control is a bare Go map, with which everything is compared.
type control map[uint64]int32

// insert puts the keys in and returns the nanoseconds.
func (c control) insert(keys []uint64) int64 {
	began := time.Now()
	for i, k := range keys {
		c[k] = int32(i)
	}
	return max(1, time.Since(began).Nanoseconds())
}

// look finds the keys and returns the nanoseconds.
func (c control) look(keys []uint64) int64 {
	var sum int32
	began := time.Now()
	for _, k := range keys {
		sum += c[k]
	}
	spent := time.Since(began)
	runtime.KeepAlive(sum) // so that the lookups are not left out
	return max(1, spent.Nanoseconds())
}

// steady is a control whose work is the same at each size: a thousand lookups among
// four thousand keys.
type steady struct {
	control
	keys []uint64
}

func newSteady(b *bench) steady {
	s := steady{control{}, b.keys(1 << 12)}
	s.insert(s.keys)
	return s
}

func (s steady) work() int64 { return s.look(s.keys[:1<<10]) }
