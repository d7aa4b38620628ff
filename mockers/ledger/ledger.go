package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Ledger is an append-only list of attempts, all on one monotonic clock. The
// zero value is not usable; call New. All methods are safe for concurrent use.
type Ledger struct {
	origin time.Time

	mu      sync.Mutex
	entries []*Entry
	changed chan struct{} // closed at the next change; nil while nobody waits
}

// New returns an empty ledger whose clock starts at zero now.
func New() *Ledger { return &Ledger{origin: time.Now()} }

// Now is the time since the ledger's origin. It is the one clock of a run:
// clients and judges stamp with it too. It never goes backward.
func (l *Ledger) Now() time.Duration { return time.Since(l.origin) }

// Entry is the handle of an attempt that is being recorded. Once Finish has
// been called every method leaves the attempt as it is.
type Entry struct {
	ledger  *Ledger
	attempt Attempt
}

// Begin appends an attempt and returns its handle. It assigns Seq, stamps
// Arrived with the present unless the caller has already set it, and clears
// everything that only later calls may say (status, times, bytes, end). The
// ledger takes over a.Header, a.Body and a.Handoff: the caller must not change them.
func (l *Ledger) Begin(a Attempt) *Entry {
	e := &Entry{ledger: l, attempt: a}
	n := &e.attempt
	n.Status, n.BytesSent, n.SentSHA256, n.Events = 0, 0, "", nil
	n.HeadersAt, n.AbortSeen, n.Ended, n.End = Unset, Unset, Unset, Running
	if n.Arrived <= 0 {
		n.Arrived = l.Now()
	}
	l.mu.Lock()
	n.Seq = len(l.entries)
	l.entries = append(l.entries, e)
	l.wake()
	l.mu.Unlock()
	return e
}

// wake tells every waiter to look again. The caller holds the lock, so a waiter
// either sees the change or has left its channel here: no wake-up is lost.
func (l *Ledger) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Len is the number of attempts so far.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Snapshot returns deep copies of the attempts from index from on, in the order
// of arrival. A negative from counts as 0; one past the end gives none.
func (l *Ledger) Snapshot(from int) []Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = min(max(from, 0), len(l.entries))
	out := make([]Attempt, 0, len(l.entries)-from)
	for _, e := range l.entries[from:] {
		out = append(out, clone(&e.attempt))
	}
	return out
}

func clone(a *Attempt) Attempt {
	c := *a
	c.Body = slices.Clone(a.Body)
	c.Events = slices.Clone(a.Events)
	c.Header = maps.Clone(a.Header)
	for name, values := range c.Header {
		c.Header[name] = slices.Clone(values)
	}
	if a.Handoff != nil {
		h := *a.Handoff
		c.Handoff = &h
	}
	return c
}

// View is read access to the ledger without copying, for the length of one
// predicate call. Neither it nor an attempt seen through it may be kept.
type View struct{ entries []*Entry }

// Len is the number of attempts.
func (v View) Len() int { return len(v.entries) }

// Each calls f with the attempts from index from on, in the order of arrival,
// until f returns false. f must not change the attempt.
func (v View) Each(from int, f func(*Attempt) bool) {
	for _, e := range v.entries[min(max(from, 0), len(v.entries)):] {
		if !f(&e.attempt) {
			return
		}
	}
}

// Wait returns nil as soon as holds is true, and an error that wraps ctx.Err()
// if the context ends first. holds is called under the ledger's lock, once at
// the start and after every change: it must be quick and must not call the
// ledger. It is asked a last time when the context ends.
func (l *Ledger) Wait(ctx context.Context, holds func(View) bool) error {
	for {
		l.mu.Lock()
		n := len(l.entries)
		if holds(View{l.entries[:n:n]}) {
			l.mu.Unlock()
			return nil
		}
		if err := ctx.Err(); err != nil {
			l.mu.Unlock()
			return fmt.Errorf("ledger: the awaited condition did not hold in time (%d attempts recorded): %w", n, err)
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
