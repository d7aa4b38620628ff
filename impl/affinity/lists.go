package affinity

import "math"

// idleList holds the bound entries without leases, earliest deadline first.
type idleList struct{ first, last *entry }

// insert puts e in its place. The TTL is one for all and clocks rarely go back,
// so that place is nearly always the end.
func (l *idleList) insert(e *entry) {
	after := l.last
	for after != nil && after.deadline > e.deadline {
		after = after.prev
	}
	e.prev = after
	if after == nil {
		e.next, l.first = l.first, e
	} else {
		e.next, after.next = after.next, e
	}
	if e.next == nil {
		l.last = e
	} else {
		e.next.prev = e
	}
}

func (l *idleList) remove(e *entry) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

// earliest returns the first deadline, or the far future.
func (l *idleList) earliest() int64 {
	if l.first == nil {
		return math.MaxInt64
	}
	return l.first.deadline
}

// waiter is one caller behind an initializer. The core decides its fate; ready
// belongs to the shell, which closes it when that has happened.
type waiter struct {
	ready    chan struct{}
	granted  bool
	revision uint64 // of the entry, once granted

	prev, next *waiter
}

func (w *waiter) grant(revision uint64) { w.granted, w.revision = true, revision }

// queue holds waiters in order of arrival.
type queue struct{ first, last *waiter }

func (q *queue) add(w *waiter) {
	w.prev = q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
}

func (q *queue) takeFirst() *waiter {
	w := q.first
	if w != nil {
		q.remove(w)
	}
	return w
}

// takeAll empties the queue; the waiters stay linked through next.
func (q *queue) takeAll() *waiter {
	w := q.first
	q.first, q.last = nil, nil
	return w
}
