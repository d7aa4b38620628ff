package adapter

import (
	"slices"
	"sync"
	"time"
)

// clock stands still until it is moved. It is the time of one instance.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer // by due time, then in the order in which they were set
}

type timer struct {
	due time.Time
	f   func()
}

func newClock() *clock { return &clock{now: time.Unix(0, 0)} }

// Now implements the libraries' clock.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements the libraries' clock. f runs within advance, one at a time:
// what it did is done when advance returns.
func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), f}
	at := len(c.timers)
	for at > 0 && c.timers[at-1].due.After(t.due) {
		at--
	}
	c.timers = slices.Insert(c.timers, at, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.timers, t)
		if at < 0 {
			return false
		}
		c.timers = slices.Delete(c.timers, at, at+1)
		return true
	}
}

// advance moves the time, and runs what comes due by then, each at its time.
func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	end := c.now.Add(by)
	for len(c.timers) > 0 && !c.timers[0].due.After(end) {
		t := c.timers[0]
		c.timers = slices.Delete(c.timers, 0, 1)
		if t.due.After(c.now) {
			c.now = t.due
		}
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}
