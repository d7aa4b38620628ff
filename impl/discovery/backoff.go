package discovery

import (
	"context"
	"math/rand/v2"
	"time"
)

// Bounds of a Backoff's pauses.
const (
	minPause = 50 * time.Millisecond
	maxPause = time.Second
)

// Backoff makes pauses between attempts: doubled with each, up to a second, and
// each drawn from its upper half, so that a fleet that lost its store does not come
// back in step. The zero value is ready.
type Backoff struct{ attempts int }

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	d := min(minPause<<min(b.attempts, 10), maxPause)
	b.attempts++
	return d/2 + rand.N(d/2)
}

// Reset begins again with the shortest pause.
func (b *Backoff) Reset() { b.attempts = 0 }

// Wait makes the next pause. It returns false if ctx ended meanwhile.
func (b *Backoff) Wait(ctx context.Context) bool {
	t := time.NewTimer(b.Next())
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
