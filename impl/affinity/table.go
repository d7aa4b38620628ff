package affinity

import (
	"context"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const shardCount = 64

// Table is the Coordinator of one router process. Sessions live in shards, each
// with its own lock; an idle session costs memory only, no goroutine and no
// timer. Expired bindings are reclaimed a few at a time when new sessions
// arrive, and all of them count before a new session is refused.
type Table struct {
	cfg    Config
	clock  Clock
	origin time.Time
	seed   maphash.Seed
	common common
	used   atomic.Int64 // slots taken, never above cfg.Capacity
	shards []shard
}

type shard struct {
	table  *Table
	mu     sync.Mutex
	core   core
	spare  *handle // for the next leases
	spares int
	open   int      // leases that are not over
	_      [64]byte // keeps neighbours' locks off this cache line
}

var _ Coordinator = (*Table)(nil)

// New makes an empty table. The error names the setting that is out of range.
func New(cfg Config, clock Clock) (*Table, error) { return newSharded(cfg, clock, shardCount) }

func newSharded(cfg Config, clock Clock, shards int) (*Table, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Table{cfg: cfg, clock: clock, origin: clock.Now(), seed: maphash.MakeSeed(), shards: make([]shard, shards)}
	t.common.ttl, t.common.live = int64(cfg.IdleTTL), cfg.Live
	for i := range t.shards {
		s := &t.shards[i]
		s.table, s.core = t, newCore(&t.common)
		s.core.idle.earliest.Store(math.MaxInt64)
	}
	return t, nil
}

func (t *Table) now() int64 { return int64(t.clock.Now().Sub(t.origin)) }

// shard finds the key's. The hash covers the whole key: whoever could choose
// tenants or models freely would else pile sessions up behind one id.
func (t *Table) shard(k *Key) (s *shard, hash uint64) {
	hash = maphash.Comparable(t.seed, *k)
	return &t.shards[hash%uint64(len(t.shards))], hash
}

// Acquire implements Coordinator.
func (t *Table) Acquire(ctx context.Context, a Ask) (Lease, error) {
	if err := a.check(); err != nil {
		return Lease{}, err
	}
	if err := ctx.Err(); err != nil {
		return Lease{}, err
	}
	l, w, err := t.try(ctx, &a, nil)
	if w != nil {
		return t.wait(ctx, a, w)
	}
	return l, err
}

// try acquires as far as it goes without waiting; the waiter is nil if it went.
// Who has waited before has a limit already.
func (t *Table) try(ctx context.Context, a *Ask, l *limit) (Lease, *waiter, error) {
	s, hash := t.shard(&a.Key)
	now := t.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ans := s.core.acquire(now, hash, a)
	if ans == vacant {
		var err error
		if e, ans, err = s.insert(now, hash, a); err != nil {
			return Lease{}, nil, err
		}
	}
	switch ans {
	case refused:
		return Lease{}, nil, pinError(a.Key.Session, e.seat.value.target, a.Pin)
	case busy:
		if l == nil {
			l = s.newLimit() // before anybody can see that the caller waits, and move the clock
		}
		if l.passed {
			return Lease{}, nil, t.tooLate()
		}
		w := &waiter{entry: e, pin: a.Pin, shard: s, ctx: ctx, ready: make(chan struct{}), limit: l}
		l.waits = w
		s.core.join(e, w)
		w.tell(true)
		return Lease{}, w, nil
	}
	return s.hand(e, a.Pin), nil, nil
}

// Query implements Coordinator.
func (t *Table) Query(a Ask) (target Target, bound bool, err error) {
	if err := a.check(); err != nil {
		return Target{}, false, err
	}
	s, hash := t.shard(&a.Key)
	now := t.now()
	s.mu.Lock()
	target, bound = s.core.query(now, hash, &a.Key)
	s.mu.Unlock()
	if bound && !target.meets(a.Pin) {
		return Target{}, false, pinError(a.Key.Session, target, a.Pin)
	}
	return target, bound, nil
}
