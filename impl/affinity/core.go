package affinity

import (
	"math"
	"strings"
)

// An entry is absent, initializing, bound, or bound and expired. The latter
// still occupies its slot until it is reclaimed or initialized again.
type phase uint8

const (
	initializing phase = iota + 1
	bound
)

// entry is one session. Its revision changes whenever what a lease refers to is
// replaced, and becomes 0 when the entry leaves the table: whoever holds an
// older revision can do nothing to it.
type entry struct {
	key      Key
	phase    phase
	revision uint64
	worker   string
	leases   int   // in flight, while bound
	deadline int64 // meaningful while bound without leases
	waiters  queue // while initializing

	prev, next *entry // neighbours among the idle, by deadline
}

// answer is what the core says to an acquire.
type answer uint8

const (
	vacant  answer = iota + 1 // no entry: find a slot, then insert
	leased                    // bound, one lease more
	elected                   // the caller initializes
	busy                      // somebody else initializes: wait
)

// core holds the rules for the sessions of one shard. It has no clock, no lock
// and no goroutine: times come in as arguments, and those who must be woken
// come back as results.
type core struct {
	ttl      int64 // nanoseconds
	entries  map[Key]*entry
	idle     idleList
	revision uint64 // the latest handed out
}

func newCore(ttl int64) core {
	return core{ttl: ttl, entries: make(map[Key]*entry)}
}

func (c *core) nextRevision() uint64 {
	c.revision++
	return c.revision
}

// acquire looks the session up.
func (c *core) acquire(now int64, key Key) (*entry, answer) {
	e := c.entries[key]
	switch {
	case e == nil:
		return nil, vacant
	case e.phase == initializing:
		return e, busy
	case e.leases == 0 && e.deadline <= now:
		c.idle.remove(e)
		e.phase, e.worker, e.revision = initializing, "", c.nextRevision()
		return e, elected
	}
	if e.leases == 0 {
		c.idle.remove(e)
	}
	e.leases++
	return e, leased
}

// insert makes the entry that acquire found vacant. The caller owns a slot for it.
func (c *core) insert(key Key) *entry {
	// The key outlives the request: it must not keep the request's buffers alive.
	key = Key{Model: strings.Clone(key.Model), Session: strings.Clone(key.Session)}
	e := &entry{key: key, phase: initializing, revision: c.nextRevision()}
	c.entries[key] = e
	return e
}

// commit binds an initializing entry and leases it to the initializer and to
// everybody who waits; those are returned, granted.
func (c *core) commit(e *entry, revision uint64, worker string) (wake *waiter, ok bool) {
	if e.revision != revision || e.phase != initializing {
		return nil, false
	}
	e.phase, e.worker, e.leases = bound, worker, 1
	wake = e.waiters.takeAll()
	for w := wake; w != nil; w = w.next {
		w.grant(revision)
		e.leases++
	}
	return wake, true
}

// abandon gives up initializing. The longest waiter, if any, becomes the
// initializer under a new revision and is returned; else the entry goes.
func (c *core) abandon(e *entry, revision uint64) (heir *waiter, removed bool) {
	if e.revision != revision || e.phase != initializing {
		return nil, false
	}
	heir = e.waiters.takeFirst()
	if heir == nil {
		c.remove(e)
		return nil, true
	}
	e.revision = c.nextRevision()
	heir.grant(e.revision)
	return heir, false
}

// release ends one lease on a binding; its idle time starts again.
func (c *core) release(e *entry, revision uint64, now int64) {
	if e.revision != revision || e.phase != bound || e.leases == 0 {
		return
	}
	e.leases--
	if e.leases == 0 {
		e.deadline = now + c.ttl
		if e.deadline < now { // far future, beyond what fits
			e.deadline = math.MaxInt64
		}
		c.idle.insert(e)
	}
}

// invalidate removes the binding, whoever else holds leases on it.
func (c *core) invalidate(e *entry, revision uint64) (removed bool) {
	if e.revision != revision || e.phase != bound {
		return false
	}
	if e.leases == 0 {
		c.idle.remove(e)
	}
	c.remove(e)
	return true
}

// reclaim removes the binding that has been idle for longest, if its deadline
// has come by the given time.
func (c *core) reclaim(by int64) (removed bool) {
	e := c.idle.first
	if e == nil || e.deadline > by {
		return false
	}
	c.idle.remove(e)
	c.remove(e)
	return true
}

func (c *core) remove(e *entry) {
	delete(c.entries, e.key)
	e.revision = 0
}
