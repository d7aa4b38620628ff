package sessionindex

import (
	"context"
	"errors"
	"sync"
)

// DefaultLane is how many events of one rank may wait, where nothing else is said.
const DefaultLane = 1 << 16

// Errors of taking in.
var (
	ErrLaneFull = errors.New("too many events of this rank wait: this one was dropped")
	ErrClosed   = errors.New("the index is closed: it takes nothing in any more")
)

// lanes hold what an Index has taken in and not yet done, a lane for each rank. A lane
// has a goroutine only while something waits in it, and holds a limited number of events.
// Stores and matches that do not fit are dropped: credit is lost, nothing false is
// believed. An eviction must not be lost; one that does not fit, and all that waits with it,
// ends all claims on the rank instead.
type lanes struct {
	limit int
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu     sync.Mutex
	busy   map[WorkerRank]*lane // in which something waits, or takes effect
	closed bool
	stats  LaneStats
	failed error // the first failure since the last flush
}

// LaneStats counts what was taken in since the beginning.
type LaneStats struct {
	Taken   uint64 // events
	Dropped uint64 // of them, for want of room
	Refused uint64 // stores that cannot be
	Failed  uint64 // clears whose lower tiers failed
	Busy    int    // ranks of which something waits or takes effect now
}

type lane struct{ waiting []waiting }

// waiting is what stands in a lane.
type waiting struct {
	what    errand
	ticket  Ticket
	evicted []Hash
	version uint64           // of a clear
	done    func(int, error) // if not nil, told how many frontiers were lost, and what failed
}

type errand uint8

const (
	passing  errand = iota // does nothing, but when its turn has come
	applying               // of a ticket
	evicting
	forgetting // whatever the rank has
	clearing   // that, and the lower tiers
)

func newLanes(limit int) *lanes {
	l := &lanes{limit: limit, busy: map[WorkerRank]*lane{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// EnqueueStore takes a store in, as new as this moment; its blocks must stay as they
// are. Errors: ErrLaneFull, ErrClosed.
func (x *Index) EnqueueStore(s Store) error {
	return x.enqueue(s.At, func() Ticket { return x.AdmitStore(s) })
}

// EnqueueMatch takes a match in that was admitted before its rank's blocks were looked
// up: so it cannot miss an eviction in between. Errors: ErrLaneFull, ErrClosed.
func (x *Index) EnqueueMatch(at WorkerRank, t Ticket) error {
	return x.enqueue(at, func() Ticket { return t })
}

// EnqueueRemove takes an eviction in; the blocks must stay as they are. Error: ErrClosed.
func (x *Index) EnqueueRemove(at WorkerRank, blocks []Hash) error {
	if len(blocks) == 0 {
		return nil
	}
	return x.must(at, waiting{what: evicting, evicted: blocks})
}

// EnqueueClear takes a clear in: what came before it is discarded, what comes after it
// is not. Error: ErrClosed.
func (x *Index) EnqueueClear(at WorkerRank) error {
	return x.must(at, waiting{what: clearing})
}

// enqueue puts an event that may be dropped into its lane.
func (x *Index) enqueue(at WorkerRank, admit func() Ticket) error {
	l := x.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.stats.Taken++
	if r := l.busy[at]; r != nil && len(r.waiting) >= l.limit {
		l.stats.Dropped++
		return ErrLaneFull
	}
	x.put(at, waiting{what: applying, ticket: admit()})
	return nil
}

// must puts an eviction or a clear into its lane.
func (x *Index) must(at WorkerRank, w waiting) error {
	l := x.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.stats.Taken++
	w.version = x.life.evict(at)
	if r := l.busy[at]; r != nil && len(r.waiting) >= l.limit {
		l.stats.Dropped += r.collapse(w)
		return nil
	}
	x.put(at, w)
	return nil
}

// collapse lets an eviction or a clear end all claims on the rank in place of what waits,
// and says how many events that were. Who waits for one of them waits for this.
func (r *lane) collapse(last waiting) (dropped uint64) {
	kept := []waiting{{what: max(forgetting, last.what), version: last.version}}
	for _, w := range r.waiting {
		kept[0].what = max(kept[0].what, w.what)
		if w.what != passing {
			dropped++
		}
		if w.done != nil {
			kept = append(kept, waiting{done: w.done})
		}
	}
	r.waiting = kept
	return dropped
}

// put lets something wait; the lock of the lanes is held.
func (x *Index) put(at WorkerRank, w waiting) {
	l := x.lanes
	r := l.busy[at]
	if r == nil {
		r = &lane{}
		l.busy[at] = r
		l.work.Go(func() { x.drain(at, r) })
	}
	r.waiting = append(r.waiting, w)
}

// behind lets an errand wait for its turn where the rank's lane is busy, and says whether
// it did. Whoever asked waits for it, as long as the context lasts; the errand is done
// all the same.
func (x *Index) behind(ctx context.Context, at WorkerRank, w waiting) (waited bool, lost int, err error) {
	l := x.lanes
	l.mu.Lock()
	r := l.busy[at]
	if r == nil {
		l.mu.Unlock()
		return false, 0, nil
	}
	w.version = x.life.evict(at)
	done := make(chan struct{})
	var came int
	var failed error
	w.done = func(n int, err error) {
		came, failed = n, err
		close(done)
	}
	r.waiting = append(r.waiting, w)
	l.mu.Unlock()
	select {
	case <-done:
		return true, came, failed
	case <-ctx.Done():
		return true, 0, ctx.Err()
	}
}

// drain does what waits in a lane until nothing does.
func (x *Index) drain(at WorkerRank, r *lane) {
	l := x.lanes
	var batch []waiting
	for {
		clear(batch)
		l.mu.Lock()
		batch, r.waiting = r.waiting, batch[:0]
		if len(batch) == 0 {
			delete(l.busy, at)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for _, w := range batch {
			lost, err := x.run(at, w)
			if w.done != nil {
				w.done(lost, err)
			} else if err != nil {
				l.note(err)
			}
		}
	}
}

// run does an errand whose turn has come.
func (x *Index) run(at WorkerRank, w waiting) (lost int, err error) {
	switch w.what {
	case applying:
		_, err = w.ticket.Apply(x.lanes.ctx)
	case evicting:
		x.mu.Lock()
		lost = x.core.Remove(x.now(), at, w.evicted)
		x.mu.Unlock()
	case forgetting, clearing:
		x.mu.Lock()
		lost = x.clear(at, w.version)
		x.mu.Unlock()
		if w.what == clearing {
			err = x.clearLowerTiers(x.lanes.ctx, at)
		}
	}
	return lost, err
}

// note keeps a failure that nobody waits for until the next flush.
func (l *lanes) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var refused *BlockError
	if errors.As(err, &refused) {
		l.stats.Refused++
		return
	}
	l.stats.Failed++
	if l.failed == nil {
		l.failed = err
	}
}

// flush returns when all that was taken in before has taken effect, or was dropped. An
// error is the context's, or the first of what has failed since the last flush.
func (l *lanes) flush(ctx context.Context) error {
	l.mu.Lock()
	left := len(l.busy)
	passed := make(chan struct{}, left)
	for _, r := range l.busy {
		r.waiting = append(r.waiting, waiting{done: func(int, error) { passed <- struct{}{} }})
	}
	l.mu.Unlock()
	for range left {
		select {
		case <-passed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	failed := l.failed
	l.failed = nil
	return failed
}

// Close takes nothing in any more and returns when all that was taken in has taken
// effect, or, with its error, when the context has ended and what still waited is
// dropped. An index into which nothing was enqueued need not be closed.
func (x *Index) Close(ctx context.Context) error {
	l := x.lanes
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	cut := context.AfterFunc(ctx, l.stop)
	l.work.Wait()
	l.stop()
	if cut() {
		return nil
	}
	return ctx.Err()
}

// Lanes counts now.
func (x *Index) Lanes() LaneStats {
	x.lanes.mu.Lock()
	defer x.lanes.mu.Unlock()
	stats := x.lanes.stats
	stats.Busy = len(x.lanes.busy)
	return stats
}
