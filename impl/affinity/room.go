package affinity

import (
	"fmt"
	"math"
)

// insert finds a slot and makes the entry. The lock is held on entry and on
// return, but not in between: when the table is full, slots come from other
// shards, and no two shards are ever locked at once.
func (s *shard) insert(now int64, hash uint64, a *Ask) (*entry, answer, error) {
	t := s.table
	for range 2 { // more than one for each arrival, or the expired would never become fewer
		if s.core.idle.earliest.Load() <= now && s.core.reclaim(now) {
			t.used.Add(-1)
		}
	}
	if t.takeSlot() {
		return s.core.insert(hash, &a.Key), elected, nil
	}
	s.mu.Unlock()
	ok := t.reclaimSlot(now) || t.bury() && t.takeSlot() || t.cfg.Evict && t.reclaimSlot(math.MaxInt64-1)
	s.mu.Lock()
	e, ans := s.core.acquire(now, hash, a)
	switch {
	case ans != vacant: // somebody else brought it meanwhile
		if ok {
			t.used.Add(-1)
		}
		return e, ans, nil
	case !ok && !t.takeSlot():
		return nil, 0, fmt.Errorf("%w: all %d sessions are held and none has expired: try again later, raise the capacity, or shorten the idle TTL",
			ErrCapacity, t.cfg.Capacity)
	}
	return s.core.insert(hash, &a.Key), elected, nil
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
			if d := t.shards[i].core.idle.earliest.Load(); d < earliest {
				from, earliest = &t.shards[i], d
			}
		}
		if from == nil || earliest > by {
			return false
		}
		from.mu.Lock()
		// A shard may promise an earlier deadline than it has: then look around again.
		removed := from.core.reclaim(earliest)
		from.mu.Unlock()
		if removed {
			return true
		}
	}
}

// bury removes every binding whose worker is no longer live and says whether
// there was one. Each place where sessions are bound is asked about once, so that
// a full table of the living is refused without a look at its sessions.
func (t *Table) bury() bool {
	if t.common.live == nil {
		return false
	}
	dead := t.common.seats.those(func(s seat) bool { return !t.common.live(s.model, s.target) })
	if dead == nil {
		return false
	}
	removed := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		removed += s.core.bury(dead)
		s.mu.Unlock()
	}
	t.used.Add(-int64(removed))
	return removed > 0
}
