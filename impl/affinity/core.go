package affinity

import (
	"math"
	"strings"
)

// An entry is absent, initializing, bound, or bound and ended: expired, or its
// worker no longer live. The latter still occupies its slot until it is
// reclaimed or initialized again.
type phase uint8

const (
	initializing phase = iota + 1
	bound
)

// entry is one session. Its revision changes whenever what a lease refers to is
// replaced, and becomes 0 when the entry leaves the table: whoever holds an
// older revision can do nothing to it.
type entry struct {
	session  string
	scope    *shared[scope]
	seat     *shared[seat] // while bound
	revision uint64
	deadline int64 // meaningful while bound without leases
	leases   int32 // in flight, while bound
	phase    phase
	queued   bool // in the idle queue, by this deadline or an earlier one
	hash     uint64
	chained  *entry  // the next one with this hash
	waiters  waiters // while initializing
}

// scope is the part of a key that many sessions have in common.
type scope struct{ model, tenant string }

// seat is where sessions of a model are bound.
type seat struct {
	model  string
	target Target
}

// answer is what the core says to an acquire.
type answer uint8

const (
	vacant  answer = iota + 1 // no entry: find a slot, then insert
	leased                    // bound, one lease more
	elected                   // the caller initializes
	busy                      // somebody else initializes: wait
	refused                   // bound, and the pin contradicts
	late                      // waited for as long as one may
)

// core holds the rules for the sessions of one shard. It has no clock, no lock of
// its own and no goroutine: times come in as arguments, and those who must be
// woken come back as results.
type core struct {
	*common
	entries  map[uint64]*entry // by the hash of the whole key
	idle     idleQueue
	revision uint64 // the latest handed out
	latest   int64  // time seen
	steps    uint64 // entries visited, and places in the idle queue

	sessions, initializing, waiting int
}

// common is what the cores of one table share; its pools have locks.
type common struct {
	ttl    int64 // nanoseconds
	live   func(model string, t Target) bool
	scopes pool[scope]
	seats  pool[seat]
}

func newCore(c *common) core { return core{common: c, entries: make(map[uint64]*entry)} }

func (c *core) nextRevision() uint64 {
	c.revision++
	return c.revision
}

// find returns the entry of the key, or nil.
func (c *core) find(hash uint64, k *Key) *entry {
	c.steps++ // one that is absent is looked for, too
	e := c.entries[hash]
	for e != nil && (e.session != k.Session || e.scope.value.model != k.Model || e.scope.value.tenant != k.Tenant) {
		e = e.chained
		c.steps++
	}
	return e
}

// holds says whether a bound entry's binding still counts.
func (c *core) holds(e *entry, now int64) bool {
	return (e.leases > 0 || e.deadline > now) && c.isLive(e.seat.value)
}

func (c *core) isLive(s seat) bool { return c.live == nil || c.live(s.model, s.target) }

// acquire looks the session up.
func (c *core) acquire(now int64, hash uint64, a *Ask) (*entry, answer) {
	c.latest = max(c.latest, now)
	e := c.find(hash, &a.Key)
	switch {
	case e == nil:
		return nil, vacant
	case e.phase == initializing:
		return e, busy
	case !c.holds(e, c.latest):
		c.restart(e)
		return e, elected
	case !e.seat.value.target.meets(a.Pin):
		return e, refused
	}
	e.leases++
	return e, leased
}

// query looks the session up and changes nothing.
func (c *core) query(now int64, hash uint64, k *Key) (Target, bool) {
	e := c.find(hash, k)
	if e == nil || e.phase == initializing || !c.holds(e, max(c.latest, now)) {
		return Target{}, false
	}
	return e.seat.value.target, true
}

// insert makes the entry that acquire found vacant. The caller owns a slot for it.
func (c *core) insert(hash uint64, k *Key) *entry {
	e := &entry{
		session: strings.Clone(k.Session), // it outlives the request, whose buffers it must not keep alive
		scope:   c.scopes.take(scope{k.Model, k.Tenant}, scope.clone),
		phase:   initializing, revision: c.nextRevision(),
		hash: hash, chained: c.entries[hash],
	}
	c.entries[hash] = e
	c.sessions++
	c.initializing++
	return e
}

// restart ends a binding and makes its entry initializing again.
func (c *core) restart(e *entry) {
	c.seats.drop(e.seat)
	e.seat, e.leases = nil, 0
	e.phase, e.revision = initializing, c.nextRevision()
	c.initializing++
}

// commit binds an initializing entry and leases it to the initializer and to
// everybody who waits, unless his pin contradicts; those are returned, each with
// his answer. If the worker has died meanwhile, the first who waits finds a
// dead binding, as acquire would, and initializes; the others wait on.
func (c *core) commit(e *entry, revision uint64, t Target) (wake *waiter, ok bool) {
	c.steps++
	if e.revision != revision || e.phase != initializing {
		return nil, false
	}
	s := seat{e.scope.value.model, t}
	e.seat = c.seats.take(s, seat.clone)
	e.phase, e.leases = bound, 1
	c.initializing--
	if e.waiters.first() != nil && !c.isLive(s) {
		c.restart(e)
		return c.elect(e), true
	}
	wake = e.waiters.takeAll()
	for w := wake; w != nil; w = w.next {
		c.waiting--
		if !t.meets(w.pin) {
			w.answer = refused
			continue
		}
		w.answer = leased
		e.leases++
	}
	return wake, true
}

// abandon gives up initializing. The longest waiter, if any, becomes the
// initializer under a new revision and is returned; else the entry goes.
func (c *core) abandon(e *entry, revision uint64) (heir *waiter, removed bool) {
	c.steps++
	if e.revision != revision || e.phase != initializing {
		return nil, false
	}
	if e.waiters.first() == nil {
		c.remove(e)
		return nil, true
	}
	e.revision = c.nextRevision()
	return c.elect(e), false
}

// elect makes the longest waiter the initializer.
func (c *core) elect(e *entry) *waiter {
	w := e.waiters.first()
	c.leave(e, w)
	w.answer = elected
	return w
}

// join makes the caller wait for an initializing entry.
func (c *core) join(e *entry, w *waiter) {
	e.waiters.add(w)
	c.waiting++
}

// leave takes a waiter who has no answer yet out of the line.
func (c *core) leave(e *entry, w *waiter) {
	e.waiters.remove(w)
	c.waiting--
}

// release ends one lease on a binding; its idle time starts again.
func (c *core) release(e *entry, revision uint64, now int64) {
	c.steps++
	c.latest = max(c.latest, now)
	if e.revision != revision || e.phase != bound || e.leases == 0 {
		return
	}
	e.leases--
	if e.leases > 0 {
		return
	}
	e.deadline = c.latest + c.ttl
	if e.deadline < c.latest { // far future, beyond what fits
		e.deadline = math.MaxInt64
	}
	if !e.queued {
		c.idle.add(e)
	}
}

// invalidate removes the binding, whoever else holds leases on it.
func (c *core) invalidate(e *entry, revision uint64) (removed bool) {
	c.steps++
	if e.revision != revision || e.phase != bound {
		return false
	}
	c.remove(e)
	return true
}

// reclaim removes the binding that has been idle for longest, if its deadline
// has come by the given time.
func (c *core) reclaim(by int64) (removed bool) {
	e := c.idle.take(by)
	if e == nil {
		return false
	}
	c.remove(e)
	return true
}

// bury removes the bindings in the given seats and returns how many there were.
func (c *core) bury(dead map[*shared[seat]]bool) (removed int) {
	for _, e := range c.entries {
		for ; e != nil; e = e.chained {
			c.steps++
			if e.seat != nil && dead[e.seat] {
				c.remove(e)
				removed++
			}
		}
	}
	return removed
}

func (c *core) remove(e *entry) {
	first := c.entries[e.hash]
	switch {
	case first != e:
		for first.chained != e {
			first = first.chained
			c.steps++
		}
		first.chained = e.chained
	case e.chained != nil:
		c.entries[e.hash] = e.chained
	default:
		delete(c.entries, e.hash)
	}
	c.sessions--
	if e.phase == initializing {
		c.initializing--
	}
	if e.seat != nil {
		c.seats.drop(e.seat)
		e.seat = nil
	}
	c.scopes.drop(e.scope)
	e.revision = 0
	if e.queued {
		c.idle.forget()
	}
}

func (s scope) clone() scope { return scope{strings.Clone(s.model), strings.Clone(s.tenant)} }

func (s seat) clone() seat {
	s.model, s.target.Worker = strings.Clone(s.model), strings.Clone(s.target.Worker)
	return s
}
