package affinity

import "fmt"

// maxSpare is how many handles a shard keeps for the next leases.
const maxSpare = 256

// handle is a Holder for one lease at a time. Its fields belong to the shard's
// lock, except shard, which never changes. A shard uses its handles again, so
// that leases cost no memory; the generation tells an old lease from the
// present one.
type handle struct {
	shard    *shard
	gen      uint64
	entry    *entry
	revision uint64
	bound    bool
	target   Target  // bound: to what; else the pin
	next     *handle // among the spare
}

// hand makes a lease on the entry; the lock is held.
func (s *shard) hand(e *entry, pin Target) Lease {
	h := s.spare
	if h == nil {
		h = &handle{shard: s}
	} else {
		s.spare = h.next
		s.spares--
	}
	s.open++
	h.entry, h.revision, h.bound, h.target = e, e.revision, e.phase == bound, pin
	if h.bound {
		h.target = e.seat.value.target
	}
	return Lease{h, h.gen}
}

// retire ends the handle's lease; the lock is held.
func (s *shard) retire(h *handle) {
	s.open--
	h.gen++
	h.entry, h.target = nil, Target{} // neither may be kept alive by a spare
	if s.spares < maxSpare {
		h.next, s.spare = s.spare, h
		s.spares++
	}
}

// Bound implements Holder.
func (h *handle) Bound(gen uint64) (Target, bool) {
	h.shard.mu.Lock()
	defer h.shard.mu.Unlock()
	if h.gen != gen || !h.bound {
		return Target{}, false
	}
	return h.target, true
}

// Commit implements Holder.
func (h *handle) Commit(gen uint64, t Target) error {
	s := h.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case h.gen != gen:
		return ErrStale
	case t.Worker == "" || !t.meets(h.target):
		return h.mismatch(t)
	case h.bound:
		return nil
	}
	wake, ok := s.core.commit(h.entry, h.revision, t)
	if !ok {
		return ErrStale
	}
	h.bound, h.target = true, t
	s.wake(h.entry, wake)
	return nil
}

// mismatch refuses a target; the lock is held.
func (h *handle) mismatch(t Target) error {
	session := h.entry.session
	if h.bound {
		return fmt.Errorf("%w: session %q is bound to %v, but the dispatch went to %v: cancel it there", ErrMismatch, session, h.target, t)
	}
	err := fmt.Errorf("%w: session %q cannot be bound to %v: name a worker", ErrMismatch, session, t)
	if h.target.Worker != "" {
		err = fmt.Errorf("%w: session %q asks for %v, but the dispatch went to %v: cancel it there", ErrMismatch, session, h.target, t)
	}
	h.abandon()
	return err
}

// Release implements Holder.
func (h *handle) Release(gen uint64) {
	s := h.shard
	now := s.table.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.gen != gen {
		return
	}
	if !h.bound {
		h.abandon()
		return
	}
	s.core.release(h.entry, h.revision, now)
	s.retire(h)
}

// Invalidate implements Holder.
func (h *handle) Invalidate(gen uint64) {
	s := h.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.gen != gen {
		return
	}
	if !h.bound {
		h.abandon()
		return
	}
	if s.core.invalidate(h.entry, h.revision) {
		s.table.used.Add(-1)
	}
	s.retire(h)
}

// abandon hands initializing over or frees the slot; the lock is held.
func (h *handle) abandon() {
	s, e := h.shard, h.entry
	heir, removed := s.core.abandon(e, h.revision)
	if removed {
		s.table.used.Add(-1)
	}
	s.retire(h)
	s.wake(e, heir)
}
