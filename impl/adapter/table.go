package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

// table is an affinity.Table with what its callers add to it: ranks, pins, the
// liveness of workers, queries, and a line of waiters that can be watched.
type table struct {
	limits
	clock    *clock
	sessions *affinity.Table

	mu     sync.Mutex
	leases int // not over
	places map[affinity.Key]*place
}

// place is a session that is bound or being initialized.
type place struct {
	key      affinity.Key
	bound    bool
	target   target
	leases   int
	deadline time.Time // while bound without leases
	waiters  []*waiter // while being initialized
}

// waiter is an acquire behind an initializer.
type waiter struct {
	ctx  context.Context
	ask  ask
	stop func() bool
	done chan struct{} // closed once the following are set
	got  lease
	err  error
}

// grip implements lease.
type grip struct {
	of    *table
	at    *place
	under affinity.Lease
	pin   target
	home  *target // nil for an initializer
	over  bool
}

var (
	errPin       = errors.New("pin contradicts the session's binding")
	errRankAlone = errors.New("rank without worker")
	errMismatch  = errors.New("target does not fit the session's lease")
)

// kindOf says what a library's error means.
func kindOf(err error) kind {
	for _, k := range []struct {
		err  error
		kind kind
	}{
		{affinity.ErrTooLong, invalidArgument}, {errPin, invalidArgument}, {errRankAlone, invalidArgument}, {errMismatch, invalidArgument},
		{affinity.ErrCapacity, resourceExhausted}, {affinity.ErrInitWait, unavailable}, {affinity.ErrStale, stale},
	} {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return internal
}

func newCoordinator(l limits, c *clock) (coordinator, error) {
	t, err := affinity.New(affinity.Config{IdleTTL: l.idleTTL, Capacity: l.capacity, InitWait: l.initWait, Evict: l.evict}, c)
	if l.initWait == 0 {
		l.initWait = affinity.DefaultInitWait
	}
	return &table{limits: l, clock: c, sessions: t, places: map[affinity.Key]*place{}}, err
}

func (t target) String() string {
	if t.Rank == nil {
		return t.Worker
	}
	return t.Worker + " rank " + strconv.FormatUint(uint64(*t.Rank), 10)
}

// meets says whether a turn that wishes for one target may go to another.
func (t target) meets(wish target) bool {
	return wish.Worker == "" || t.Worker == wish.Worker && (wish.Rank == nil || t.Rank != nil && *t.Rank == *wish.Rank)
}

func (a ask) key() affinity.Key {
	return affinity.Key{Model: a.tenant + "\x00" + a.model, Session: a.session}
}

func (a ask) check() error {
	if n := len(a.session); n > affinity.MaxSessionBytes {
		return fmt.Errorf("%w: %d bytes", affinity.ErrTooLong, n)
	}
	if a.pin.Worker == "" && a.pin.Rank != nil {
		return errRankAlone
	}
	return nil
}

func (t *table) acquire(ctx context.Context, a ask) (lease, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	got, w, err := t.try(ctx, a)
	t.mu.Unlock()
	if w == nil {
		return got, err
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.leave(w) {
			t.decide(w, nil, ctx.Err())
		}
	}
	return w.got, w.err
}

// holds finds the session, unless its binding has lapsed or died; the lock is held.
func (t *table) holds(k affinity.Key) *place {
	p := t.places[k]
	if p != nil && p.bound && (p.leases == 0 && !p.deadline.After(t.clock.Now()) || !t.live(p.target)) {
		return nil
	}
	return p
}

// try acquires as far as it goes without waiting; the lock is held.
func (t *table) try(ctx context.Context, a ask) (lease, *waiter, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	p := t.holds(a.key())
	switch {
	case p == nil:
	case !p.bound:
		w := &waiter{ctx: ctx, ask: a, done: make(chan struct{})}
		w.stop = t.clock.AfterFunc(t.initWait, func() { t.expire(w) })
		p.waiters = append(p.waiters, w)
		t.waiting(ctx, true)
		return nil, w, nil
	case !p.target.meets(a.pin):
		return nil, nil, fmt.Errorf("%w: it is bound to %v, %v is asked for", errPin, p.target, a.pin)
	}
	if old := t.places[a.key()]; p == nil && old != nil && (old.leases > 0 || old.deadline.After(t.clock.Now())) {
		if l, err := t.sessions.Acquire(ctx, affinity.Ask{Key: a.key()}); err == nil { // it has not lapsed: its worker is dead
			l.Invalidate()
		}
	}
	under, err := t.sessions.Acquire(ctx, affinity.Ask{Key: a.key()})
	if err != nil {
		return nil, nil, err
	}
	t.leases++
	if p == nil {
		p = &place{key: a.key()}
		t.places[a.key()] = p
		t.trim()
	}
	g := &grip{of: t, at: p, under: under, pin: a.pin}
	if p.bound {
		p.leases++
		g.home = &p.target
	}
	return g, nil, nil
}

// trim forgets the sessions that the table has made room of: those idle for longest.
func (t *table) trim() {
	for len(t.places) > t.sessions.Stats().Sessions {
		var oldest *place
		for _, p := range t.places {
			if p.bound && p.leases == 0 && (oldest == nil || p.deadline.Before(oldest.deadline)) {
				oldest = p
			}
		}
		if oldest == nil {
			return
		}
		delete(t.places, oldest.key)
	}
}

// decide ends the waiting of one; the lock is held.
func (t *table) decide(w *waiter, got lease, err error) {
	w.stop()
	w.got, w.err = got, err
	close(w.done)
	t.waiting(w.ctx, false)
}

// serve lets waiters go on as far as that goes; the lock is held.
func (t *table) serve(waiters []*waiter) {
	for _, w := range waiters {
		if p := t.holds(w.ask.key()); p != nil && !p.bound {
			p.waiters = append(p.waiters, w)
			continue
		}
		got, _, err := t.try(w.ctx, w.ask)
		t.decide(w, got, err)
	}
}

// leave takes a waiter out of the line and says whether he was in it; the lock is held.
func (t *table) leave(w *waiter) bool {
	p := t.places[w.ask.key()]
	if p == nil {
		return false
	}
	n := slices.Index(p.waiters, w)
	if n >= 0 {
		p.waiters = slices.Delete(p.waiters, n, n+1)
	}
	return n >= 0
}

func (t *table) expire(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leave(w) {
		t.decide(w, nil, fmt.Errorf("%w: %v", affinity.ErrInitWait, t.initWait))
	}
}

func (t *table) query(a ask) (target, bool, error) {
	if err := a.check(); err != nil {
		return target{}, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.holds(a.key())
	if p == nil || !p.bound {
		return target{}, false, nil
	}
	if !p.target.meets(a.pin) {
		return target{}, false, fmt.Errorf("%w: it is bound to %v, %v is asked for", errPin, p.target, a.pin)
	}
	return p.target, true, nil
}

func (t *table) count() (sessions, leases int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions.Stats().Sessions, t.leases
}

func (g *grip) bound() (target, bool) {
	if g.home == nil {
		return target{}, false
	}
	return *g.home, true
}

func (g *grip) commit(to target) error {
	t := g.of
	t.mu.Lock()
	defer t.mu.Unlock()
	wish := g.pin
	if g.home != nil {
		wish = *g.home
	}
	switch {
	case g.over:
		return affinity.ErrStale
	case to.Worker == "" || !to.meets(wish):
		return fmt.Errorf("%w: it is for %v, not for %v", errMismatch, wish, to)
	case g.home != nil:
		return nil
	}
	if err := g.under.Commit(affinity.Target{Worker: to.String()}); err != nil {
		return err
	}
	p := g.at
	p.bound, p.target, p.leases, g.home = true, to, 1, &to
	waiters := p.waiters
	p.waiters = nil
	t.serve(waiters)
	return nil
}

func (g *grip) release()    { g.end(false) }
func (g *grip) invalidate() { g.end(true) }

func (g *grip) end(binding bool) {
	t, p := g.of, g.at
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.over {
		return
	}
	g.over = true
	t.leases--
	if binding {
		g.under.Invalidate()
	} else {
		g.under.Release()
	}
	switch {
	case t.places[p.key] != p: // replaced
	case !p.bound, binding:
		delete(t.places, p.key)
		t.serve(p.waiters)
	default:
		if p.leases--; p.leases == 0 {
			p.deadline = t.clock.Now().Add(t.idleTTL)
		}
	}
}
