package affinity

import (
	"context"
	"fmt"
)

// waiter is one caller behind an initializer. The core decides its fate; the
// rest belongs to the shell, which closes ready when that has happened.
type waiter struct {
	entry  *entry
	pin    Target
	answer answer // leased, elected or refused; 0 while undecided

	shard *shard
	ctx   context.Context // of the caller
	limit *limit
	ready chan struct{}
	lease Lease
	bound Target // that refused

	prev, next *waiter
}

// waiters are those behind one entry, in order of arrival: a ring, known by
// the one that has waited for longest.
type waiters struct{ longest *waiter }

func (q *waiters) first() *waiter { return q.longest }

func (q *waiters) add(w *waiter) {
	if q.longest == nil {
		w.prev, w.next, q.longest = w, w, w
		return
	}
	w.prev, w.next = q.longest.prev, q.longest
	w.prev.next, w.next.prev = w, w
}

func (q *waiters) remove(w *waiter) {
	if q.longest == w {
		q.longest = w.next
	}
	if q.longest == w {
		q.longest = nil
	} else {
		w.prev.next, w.next.prev = w.next, w.prev
	}
	w.prev, w.next = nil, nil
}

// takeAll empties the line; those who were in it stay linked through next.
func (q *waiters) takeAll() *waiter {
	w := q.longest
	q.longest = nil
	if w != nil {
		w.prev.next = nil
	}
	return w
}

// tell says that the waiting begins, or that it is over; the lock is held.
func (w *waiter) tell(waits bool) {
	if f := w.shard.table.cfg.Waiting; f != nil {
		f(w.ctx, waits)
	}
}

// wake hands those who have an answer what it means; the lock is held.
func (s *shard) wake(e *entry, w *waiter) {
	for w != nil {
		next := w.next
		if w.answer == refused {
			w.bound = e.seat.value.target
		} else {
			w.lease = s.hand(e, w.pin)
		}
		w.tell(false)
		close(w.ready)
		w = next
	}
}

// limit ends a caller's waiting, over all the times that it must wait for one
// lease. All but stop belongs to the shard's lock.
type limit struct {
	stop   func() bool
	waits  *waiter // for which the caller waits now, or did last
	passed bool
}

// newLimit starts the time; the lock is held. Who is too late has left before
// the clock's call returns.
func (s *shard) newLimit() *limit {
	l := &limit{}
	l.stop = s.table.clock.AfterFunc(s.table.cfg.InitWait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.passed = true
		if w := l.waits; w != nil && w.answer == 0 {
			s.core.leave(w.entry, w)
			w.answer = late
			w.tell(false)
			close(w.ready)
		}
	})
	return l
}

func (t *Table) tooLate() error {
	return fmt.Errorf("%w: no binding after %v: try again, or raise initWait", ErrInitWait, t.cfg.InitWait)
}

// wait blocks until the waiter has its answer or may wait no longer.
func (t *Table) wait(ctx context.Context, a Ask, w *waiter) (Lease, error) {
	limit := w.limit
	defer limit.stop()
	for {
		select {
		case <-w.ready:
		case <-ctx.Done():
		}
		ans, left := w.shard.leave(w), ctx.Err()
		switch {
		case left != nil: // whoever has left must not dispatch
			w.lease.Release()
			return Lease{}, left
		case ans == refused:
			return Lease{}, pinError(a.Key.Session, w.bound, a.Pin)
		case ans == late:
			return Lease{}, t.tooLate()
		case ans == leased || ans == elected:
			return w.lease, nil // be it in the moment in which the wait ended
		}
		var err error
		var l Lease // vacant: bound for us, but invalidated before we woke
		if l, w, err = t.try(ctx, &a, limit); w == nil {
			return l, err
		}
	}
}

// leave ends the waiting and returns the answer: 0 if there is none, vacant if
// the binding that was the answer has ended.
func (s *shard) leave(w *waiter) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.answer == 0 {
		s.core.leave(w.entry, w)
		w.answer = vacant // nobody may take it out again
		w.tell(false)
		return 0
	}
	if h, ok := w.lease.holder.(*handle); ok && h.revision != w.entry.revision {
		s.retire(h)
		return vacant
	}
	return w.answer
}
