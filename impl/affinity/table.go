package affinity

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shardCount = 64
	leaseSlab  = 16 // leases allocated at a time
)

// Table is the Coordinator of one router process. Sessions live in shards, each
// with its own lock; an idle session costs memory only, no goroutine and no
// timer. Expired bindings are reclaimed a few at a time when new sessions
// arrive, and all of them count before a new session is refused.
type Table struct {
	cfg    Config
	clock  Clock
	origin time.Time
	seed   maphash.Seed
	used   atomic.Int64 // slots taken, never above cfg.Capacity
	shards [shardCount]shard
}

type shard struct {
	table *Table
	mu    sync.Mutex
	core  core
	slab  []lease
	// oldest mirrors the core's earliest idle deadline, so that whoever looks for
	// something to reclaim need not lock every shard.
	oldest atomic.Int64
	_      [64]byte // keeps neighbours' locks off this cache line
}

var _ Coordinator = (*Table)(nil)

// New makes an empty table. The error names the setting that is out of range.
func New(cfg Config, clock Clock) (*Table, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Table{cfg: cfg, clock: clock, origin: clock.Now(), seed: maphash.MakeSeed()}
	for i := range t.shards {
		s := &t.shards[i]
		s.table, s.core = t, newCore(int64(cfg.IdleTTL))
		s.oldest.Store(math.MaxInt64)
	}
	return t, nil
}

// Len returns the number of slots taken: sessions bound, being initialized, and
// expired but not yet reclaimed. It never exceeds the capacity.
func (t *Table) Len() int { return int(t.used.Load()) }

func (t *Table) now() int64 { return int64(t.clock.Now().Sub(t.origin)) }

// Acquire implements Coordinator.
func (t *Table) Acquire(ctx context.Context, key Key) (Lease, error) {
	if n := len(key.Session); n > MaxSessionBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLong, n, MaxSessionBytes)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := t.now()
	s := &t.shards[maphash.String(t.seed, key.Session)%shardCount]
	s.mu.Lock()
	e, ans := s.core.acquire(now, key)
	if ans == vacant {
		var err error
		if e, ans, err = s.insert(now, key); err != nil {
			s.unlock()
			return nil, err
		}
	}
	if ans != busy {
		l := s.lease(e)
		s.unlock()
		return l, nil
	}
	w := &waiter{ready: make(chan struct{})}
	e.waiters.add(w)
	s.unlock()
	return s.wait(ctx, e, w)
}

// insert finds a slot and makes the entry. The lock is held on entry and on
// return, but not in between: when the table is full, slots come from other
// shards, and no two shards are ever locked at once.
func (s *shard) insert(now int64, key Key) (*entry, answer, error) {
	t := s.table
	for range 2 { // more than one for each arrival, or the expired would never become fewer
		if s.core.reclaim(now) {
			t.used.Add(-1)
		}
	}
	if t.takeSlot() {
		return s.core.insert(key), elected, nil
	}
	s.unlock()
	ok := t.reclaimSlot(now)
	if !ok && t.cfg.Evict {
		ok = t.reclaimSlot(math.MaxInt64 - 1)
	}
	s.mu.Lock()
	e, ans := s.core.acquire(now, key)
	switch {
	case ans != vacant: // somebody else brought it meanwhile
		if ok {
			t.used.Add(-1)
		}
		return e, ans, nil
	case !ok && !t.takeSlot():
		return nil, 0, fmt.Errorf("%w: %d sessions are held and none has expired", ErrCapacity, t.cfg.Capacity)
	}
	return s.core.insert(key), elected, nil
}

func (t *Table) takeSlot() bool {
	for {
		n := t.used.Load()
		if n >= int64(t.cfg.Capacity) {
			return false
		}
		if t.used.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// reclaimSlot takes over the slot of the binding that has been idle for longest,
// if its deadline has come by the given time.
func (t *Table) reclaimSlot(by int64) bool {
	for {
		var from *shard
		earliest := int64(math.MaxInt64)
		for i := range t.shards {
			if d := t.shards[i].oldest.Load(); d < earliest {
				from, earliest = &t.shards[i], d
			}
		}
		if from == nil || earliest > by {
			return false
		}
		from.mu.Lock()
		removed := from.core.reclaim(by)
		from.unlock()
		if removed {
			return true
		}
	}
}

// wait blocks until the waiter is granted the entry or may wait no longer.
func (s *shard) wait(ctx context.Context, e *entry, w *waiter) (Lease, error) {
	late := make(chan struct{})
	limit := s.table.cfg.InitWait
	stop := s.table.clock.AfterFunc(limit, func() { close(late) })
	defer stop()
	var err error
	select {
	case <-w.ready:
		err = ctx.Err() // whoever has left must not dispatch
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = fmt.Errorf("%w: no binding after %v", ErrInitWait, limit)
	}
	s.mu.Lock()
	if !w.granted {
		e.waiters.remove(w)
		s.unlock()
		return nil, err
	}
	if w.revision != e.revision { // bound for us, but invalidated before we woke
		key := e.key
		s.unlock()
		return s.table.Acquire(ctx, key)
	}
	l := s.lease(e)
	s.unlock()
	if ctx.Err() != nil {
		l.Release()
		return nil, ctx.Err()
	}
	return l, nil // granted in the moment in which the wait ended
}

// lease makes a handle; the lock is held. Handles cannot be recycled, because a
// second Release of an old one must do nothing, so they come in slabs instead:
// one allocation for several requests.
func (s *shard) lease(e *entry) *lease {
	if len(s.slab) == 0 {
		s.slab = make([]lease, leaseSlab)
	}
	l := &s.slab[0]
	s.slab = s.slab[1:]
	*l = lease{shard: s, entry: e, revision: e.revision, open: true}
	if e.phase == bound {
		l.worker = e.worker
	}
	return l
}

// unlock publishes what changed and releases the lock.
func (s *shard) unlock() {
	if d := s.core.idle.earliest(); d != s.oldest.Load() {
		s.oldest.Store(d)
	}
	s.mu.Unlock()
}
