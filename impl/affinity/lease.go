package affinity

import "fmt"

// lease is a Lease; its fields belong to the shard's lock.
type lease struct {
	shard    *shard
	entry    *entry
	revision uint64
	worker   string // "" for an initializer
	open     bool
}

// Bound implements Lease.
func (l *lease) Bound() string {
	l.shard.mu.Lock()
	defer l.shard.mu.Unlock()
	return l.worker
}

// Commit implements Lease.
func (l *lease) Commit(worker string) error {
	if worker == "" {
		return fmt.Errorf("cannot bind session %q to a worker without a name", l.entry.key.Session)
	}
	s := l.shard
	s.mu.Lock()
	defer s.unlock()
	switch {
	case !l.open:
		return ErrStale
	case l.worker == worker:
		return nil
	case l.worker != "":
		return fmt.Errorf("%w: bound to %q, cannot commit %q", ErrStale, l.worker, worker)
	}
	wake, ok := s.core.commit(l.entry, l.revision, worker)
	if !ok {
		return ErrStale
	}
	l.worker = worker
	for w := wake; w != nil; {
		next := w.next
		close(w.ready)
		w = next
	}
	return nil
}

// Abandon implements Lease.
func (l *lease) Abandon() {
	l.shard.mu.Lock()
	defer l.shard.unlock()
	if l.open && l.worker == "" {
		l.open = false
		l.abandon()
	}
}

// Release implements Lease.
func (l *lease) Release() {
	now := l.shard.table.now()
	l.shard.mu.Lock()
	defer l.shard.unlock()
	if !l.open {
		return
	}
	l.open = false
	if l.worker == "" {
		l.abandon()
		return
	}
	l.shard.core.release(l.entry, l.revision, now)
}

// Invalidate implements Lease.
func (l *lease) Invalidate() {
	l.shard.mu.Lock()
	defer l.shard.unlock()
	if !l.open {
		return
	}
	l.open = false
	if l.worker == "" {
		l.abandon()
		return
	}
	if l.shard.core.invalidate(l.entry, l.revision) {
		l.shard.table.used.Add(-1)
	}
}

// abandon hands initializing over or frees the slot; the lock is held.
func (l *lease) abandon() {
	heir, removed := l.shard.core.abandon(l.entry, l.revision)
	if removed {
		l.shard.table.used.Add(-1)
	}
	if heir != nil {
		close(heir.ready)
	}
}
