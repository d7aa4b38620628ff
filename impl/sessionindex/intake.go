package sessionindex

import (
	"context"
	"errors"
	"sync"
)

// DefaultLane is how many events of one rank may wait, where nothing else is said.
const DefaultLane = 1 << 16

// Errors of an Intake.
var (
	ErrLaneFull = errors.New("too many events of this rank wait: this one was dropped")
	ErrClosed   = errors.New("the intake is closed")
)

// Intake takes events in for an Index without waiting for it: each rank has a lane, in
// which its events wait and take effect in their order. An event is admitted when it is
// taken in, so removals and registrations, which go to the Index itself, overtake lanes
// and still bar what they must. A rank's events go through an intake or through tickets,
// not through both.
//
// A lane has a goroutine only while something waits in it, and holds a limited number of
// events. Stores and matches that do not fit are dropped: credit is lost, nothing false
// is believed. An eviction must not be lost; one that does not fit turns all that waits
// into a clear of the rank.
type Intake struct {
	index *Index
	limit int
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu     sync.Mutex
	lanes  map[WorkerRank]*lane // in which something waits, or takes effect
	closed bool
	stats  IntakeStats
	failed error // the first failure since the last flush
}

// IntakeStats counts since the beginning.
type IntakeStats struct {
	Taken   uint64 // events
	Dropped uint64 // of them, for want of room
	Refused uint64 // stores that cannot be
	Failed  uint64 // clears whose lower tiers failed
}

type lane struct{ waiting []waiting }

// waiting is an event, or a flush that waits for those before it.
type waiting struct {
	ticket  Ticket // of a store or a match, if it has a grip
	evicted []Hash // of an eviction, if not nil
	version uint64 // of an eviction or a clear
	flushed *flushing
}

// flushing counts the lanes that a flush still waits for.
type flushing struct {
	left int
	done chan struct{}
}

// NewIntake returns an intake whose lanes hold that many events each (0: DefaultLane).
// Close it.
func NewIntake(x *Index, limit int) *Intake {
	if limit <= 0 {
		limit = DefaultLane
	}
	in := &Intake{index: x, limit: limit, lanes: map[WorkerRank]*lane{}}
	in.ctx, in.stop = context.WithCancel(context.Background())
	return in
}

// Store takes a store in; its blocks must stay as they are. Errors: ErrLaneFull,
// ErrClosed.
func (in *Intake) Store(s Store) error {
	return in.take(s.At, func() Ticket { return in.index.AdmitStore(s) })
}

// Match takes a match in that was admitted before its rank's blocks were looked up: so
// it cannot miss an eviction in between. Errors: ErrLaneFull, ErrClosed.
func (in *Intake) Match(at WorkerRank, t Ticket) error {
	return in.take(at, func() Ticket { return t })
}

// Remove takes an eviction in; the blocks must stay as they are. Error: ErrClosed.
func (in *Intake) Remove(at WorkerRank, blocks []Hash) error {
	if len(blocks) == 0 {
		return nil
	}
	return in.must(at, waiting{evicted: blocks})
}

// Clear takes a clear in: what came before it is discarded, what comes after it is not.
// Error: ErrClosed.
func (in *Intake) Clear(at WorkerRank) error { return in.must(at, waiting{}) }

// take puts an event that may be dropped into its lane.
func (in *Intake) take(at WorkerRank, admit func() Ticket) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrClosed
	}
	in.stats.Taken++
	if l := in.lanes[at]; l != nil && len(l.waiting) >= in.limit {
		in.stats.Dropped++
		return ErrLaneFull
	}
	in.put(at, waiting{ticket: admit()})
	return nil
}

// must puts an eviction or a clear into its lane.
func (in *Intake) must(at WorkerRank, w waiting) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrClosed
	}
	in.stats.Taken++
	w.version = in.index.life.evict(at)
	if l := in.lanes[at]; l != nil && len(l.waiting) >= in.limit {
		in.stats.Dropped += l.collapse(w.version)
		return nil
	}
	in.put(at, w)
	return nil
}

// collapse turns the events that wait into one clear, and says how many they were. Who
// waits for a flush waits for the clear.
func (l *lane) collapse(version uint64) (dropped uint64) {
	kept := []waiting{{version: version}}
	for _, w := range l.waiting {
		if w.flushed != nil {
			kept = append(kept, w)
		} else {
			dropped++
		}
	}
	l.waiting = kept
	return dropped
}

// put lets an event wait; the lock is held.
func (in *Intake) put(at WorkerRank, w waiting) {
	l := in.lanes[at]
	if l == nil {
		l = &lane{}
		in.lanes[at] = l
		in.work.Go(func() { in.drain(at, l) })
	}
	l.waiting = append(l.waiting, w)
}

// drain applies what waits in a lane until nothing does.
func (in *Intake) drain(at WorkerRank, l *lane) {
	var batch []waiting
	for {
		clear(batch)
		in.mu.Lock()
		batch, l.waiting = l.waiting, batch[:0]
		if len(batch) == 0 {
			delete(in.lanes, at)
			in.mu.Unlock()
			return
		}
		in.mu.Unlock()
		for _, w := range batch {
			in.apply(at, w)
		}
	}
}

func (in *Intake) apply(at WorkerRank, w waiting) {
	x := in.index
	var err error
	switch {
	case w.flushed != nil:
		in.mu.Lock()
		defer in.mu.Unlock()
		if w.flushed.left--; w.flushed.left == 0 {
			close(w.flushed.done)
		}
		return
	case w.ticket.Grip != nil:
		_, err = w.ticket.Apply(in.ctx)
	case w.evicted != nil:
		x.mu.Lock()
		x.core.Remove(x.now(), at, w.evicted)
		x.mu.Unlock()
	default:
		x.mu.Lock()
		x.clear(at, w.version)
		x.mu.Unlock()
		err = x.clearLowerTiers(in.ctx, at)
	}
	if err == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var refused *BlockError
	if errors.As(err, &refused) {
		in.stats.Refused++
		return
	}
	in.stats.Failed++
	if in.failed == nil {
		in.failed = err
	}
}

// Flush returns when all that was taken in before has taken effect, and the physical
// index has caught up. An error says that this is not known: the context's, the
// barrier's, or the first of what has failed since the last flush.
func (in *Intake) Flush(ctx context.Context) error {
	in.mu.Lock()
	f := &flushing{left: len(in.lanes), done: make(chan struct{})}
	if f.left == 0 {
		close(f.done)
	}
	for _, l := range in.lanes {
		l.waiting = append(l.waiting, waiting{flushed: f})
	}
	in.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	in.mu.Lock()
	failed := in.failed
	in.failed = nil
	in.mu.Unlock()
	return errors.Join(failed, in.index.Flush(ctx))
}

// Close takes nothing in any more and returns when all that was taken in has taken
// effect, or, with its error, when the context has ended and what still waited is
// dropped.
func (in *Intake) Close(ctx context.Context) error {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	cut := context.AfterFunc(ctx, in.stop)
	in.work.Wait()
	in.stop()
	if cut() {
		return nil
	}
	return ctx.Err()
}

// Stats counts now.
func (in *Intake) Stats() IntakeStats {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.stats
}

// Lanes is how many ranks have something that waits or takes effect.
func (in *Intake) Lanes() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.lanes)
}
