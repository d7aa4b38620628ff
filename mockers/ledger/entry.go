package ledger

import "time"

// update applies f unless the attempt is over.
func (e *Entry) update(f func(*Attempt)) {
	e.ledger.mu.Lock()
	defer e.ledger.mu.Unlock()
	if e.attempt.End != Running {
		return
	}
	f(&e.attempt)
	e.ledger.wake()
}

// Seq is the attempt's index in the ledger.
func (e *Entry) Seq() int { return e.attempt.Seq }

// Headers records that the response headers with this status were written now.
func (e *Entry) Headers(status int) { e.HeadersAt(status, e.ledger.Now()) }

// HeadersAt is Headers with a time taken before the write, so that no client
// can have seen the headers earlier than the ledger says. First call only.
func (e *Entry) HeadersAt(status int, at time.Duration) {
	e.update(func(a *Attempt) {
		if a.HeadersAt == Unset {
			a.Status, a.HeadersAt = status, at
		}
	})
}

// SentHeader records the response headers; the ledger takes the map over.
func (e *Entry) SentHeader(h map[string][]string) {
	e.update(func(a *Attempt) { a.SentHeader = h })
}

// Handoff records what became of the attempt's hand-off; the ledger copies it.
func (e *Entry) Handoff(h Handoff) {
	e.update(func(a *Attempt) { a.Handoff = &h })
}

// Event records one server-sent event, written now.
func (e *Entry) Event() { e.EventAt(e.ledger.Now(), 0) }

// EventAt records one server-sent event of n body bytes whose write began at
// the time given.
func (e *Entry) EventAt(at time.Duration, n int) {
	// Spelled out instead of calling update: a closure here would cost every
	// streamed token an allocation.
	e.ledger.mu.Lock()
	defer e.ledger.mu.Unlock()
	if e.attempt.End != Running {
		return
	}
	e.attempt.Events = append(e.attempt.Events, at)
	e.attempt.BytesSent += int64(n)
	e.ledger.wake()
}

// Sent records n more bytes of the response body as written.
func (e *Entry) Sent(n int) {
	e.update(func(a *Attempt) { a.BytesSent += int64(n) })
}

// Abort records that the peer was seen to leave, now. First call only.
func (e *Entry) Abort() {
	e.update(func(a *Attempt) {
		if a.AbortSeen == Unset {
			a.AbortSeen = e.ledger.Now()
		}
	})
}

// Finish ends the attempt, now; sha256 is the hex digest of the body bytes that
// were sent, empty if no headers were. Later calls change nothing. Finish with
// Running is ignored: it is not an end.
func (e *Entry) Finish(end End, sha256 string) {
	if end == Running {
		return
	}
	e.update(func(a *Attempt) {
		a.End, a.SentSHA256, a.Ended = end, sha256, e.ledger.Now()
	})
}
