package sessionindex

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrApplied is a ticket that was used before.
var ErrApplied = errors.New("the ticket was applied before: admit the event again")

// confirmations is how often a match is confirmed whose rank goes on losing blocks. One
// that never gets through is discarded: less is known then, but nothing wrong.
const confirmations = 4

// ticket is a TicketGrip for one admitted event at a time. Who applies it owns it until
// the index takes it back; the generation tells whoever comes too late.
type ticket struct {
	index   *Index
	gen     atomic.Uint64
	isMatch bool
	store   Store // of a match: without parent and blocks
	block   Hash
	stay    *stay // nil if the incarnation was not open
	stamp   uint64
}

// AdmitStore implements Indexer.
func (x *Index) AdmitStore(s Store) Ticket {
	t := x.ticket()
	t.store, t.isMatch = s, false
	t.stay, t.stamp = x.life.admit(s.At, s.Incarnation)
	return Ticket{t, t.gen.Load()}
}

// AdmitMatch implements Indexer.
func (x *Index) AdmitMatch(m Match) Ticket {
	t := x.ticket()
	t.store = Store{Session: m.Session, At: m.At, Incarnation: m.Incarnation}
	t.block, t.isMatch = m.Block, true
	t.stay, t.stamp = x.life.admit(m.At, m.Incarnation)
	return Ticket{t, t.gen.Load()}
}

func (x *Index) ticket() *ticket { return x.tickets.Get().(*ticket) }

// Apply implements TicketGrip.
func (t *ticket) Apply(ctx context.Context, gen uint64) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if !t.gen.CompareAndSwap(gen, gen+1) {
		return Result{}, ErrApplied
	}
	x := t.index
	r, err := t.apply(ctx)
	t.store, t.stay = Store{}, nil // neither may be kept alive by a spare
	x.tickets.Put(t)
	return r, err
}

func (t *ticket) apply(ctx context.Context) (r Result, err error) {
	x := t.index
	for asked := 0; ; asked++ {
		x.mu.Lock()
		x.looked++
		verdict, version := x.life.judge(t.stay, t.stamp, t.isMatch)
		switch {
		case verdict == fresh && t.isMatch:
			r.Changed = x.core.Match(x.now(), Match{Session: t.store.Session, At: t.store.At, Block: t.block})
		case verdict == fresh:
			r.Changed, err = x.core.Store(x.now(), t.store)
		case verdict == late || asked == confirmations:
			r.Discarded = true
			x.discarded++
		default:
			x.mu.Unlock()
			if !t.confirm(ctx) {
				asked = confirmations - 1
				continue
			}
			t.stamp = version
			continue
		}
		x.mu.Unlock()
		return r, err
	}
}

// confirm asks the physical index whether a match still holds. No lock is held.
func (t *ticket) confirm(ctx context.Context) bool {
	if t.index.physical == nil {
		return false
	}
	holds, err := t.index.physical.Holds(ctx, t.store.At, t.block)
	return holds && err == nil
}
