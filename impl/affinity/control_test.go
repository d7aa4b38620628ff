package affinity

import (
	"encoding/hex"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"testing"
)

// control is what any table of sessions must do for a request: read the clock
// twice, hash, lock a shard, look the id up, count. It has no rules.
type control struct {
	table  *Table // for the same clock and the same hash
	shards [shardCount]struct {
		mu    sync.Mutex
		slots map[string]*controlSlot
		_     [64]byte
	}
}

type controlSlot struct {
	leases   int
	deadline int64
}

func newControl(t testing.TB, keys []Key) *control {
	c := &control{table: newTable(t, Config{})}
	for _, k := range keys {
		s := &c.shards[c.hash(&k)]
		if s.slots == nil {
			s.slots = make(map[string]*controlSlot)
		}
		s.slots[k.Session] = &controlSlot{}
	}
	return c
}

func (c *control) hash(k *Key) uint64 { return maphash.Comparable(c.table.seed, *k) % shardCount }

func (c *control) use(k *Key) {
	now := c.table.now()
	s := &c.shards[c.hash(k)]
	s.mu.Lock()
	slot := s.slots[k.Session]
	slot.leases++
	slot.deadline = max(now, c.table.now())
	slot.leases--
	s.mu.Unlock()
}

// randomKeys are n sessions of one model with ids of 32 bytes.
func randomKeys(n int) []Key {
	rng := rand.NewChaCha8([32]byte{1})
	keys := make([]Key, n)
	for i := range keys {
		var b [16]byte
		_, _ = rng.Read(b[:])
		keys[i] = key(hex.EncodeToString(b[:]))
	}
	return keys
}

// shuffled returns the keys in another order, so that neighbours in time are none
// in memory.
func shuffled(keys []Key) []Key {
	out := make([]Key, len(keys))
	for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(len(keys)) {
		out[i] = keys[j]
	}
	return out
}
