package book

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// record is one key and the loop that keeps it alive.
type record[H any] struct {
	book  *Book[H]
	every time.Duration
	born  time.Time
	ctx   context.Context // the loop's
	end   context.CancelFunc
	loop  sync.WaitGroup

	// turn is full while somebody works on the record: a round of the loop, or a
	// call. What follows it belongs to whoever has the turn.
	turn  chan struct{}
	entry registrar.Entry
	kept  H    // written under mu too
	lost  bool // found gone, and not put again yet

	mu     sync.Mutex
	frozen bool
	over   bool               // the loop has ended by itself, or was told to
	gone   bool               // it has ended by itself: the record was lost
	begun  bool               // it was put
	halt   context.CancelFunc // ends the round under way
}

// newRecord is a record whose turn the caller has.
func newRecord[H any](b *Book[H], e registrar.Entry) *record[H] {
	r := &record[H]{book: b, every: e.TTL / 3, born: time.Now(), turn: make(chan struct{}, 1), entry: e}
	r.ctx, r.end = context.WithCancel(context.Background())
	r.turn <- struct{}{}
	return r
}

func (r *record[H]) acquire(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *record[H]) release() { <-r.turn }

// start begins the loop, unless the record was ended while it was being put. The
// caller has the turn.
func (r *record[H]) start(hold H) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.kept, r.begun = hold, true
	r.loop.Go(r.run)
	return true
}

func (r *record[H]) run() {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
		if r.acquire(r.ctx) != nil {
			return
		}
		if !r.paused() && r.ctx.Err() == nil {
			r.timedRound()
		}
		r.release()
		if r.ended() {
			return
		}
	}
}

// timedRound is a round that gives up when the next one is due.
func (r *record[H]) timedRound() {
	ctx, cancel := context.WithTimeout(r.ctx, r.every)
	defer cancel()
	r.mu.Lock()
	r.halt = cancel
	frozen := r.frozen
	r.mu.Unlock()
	if !frozen {
		r.round(ctx) // the log has its error
	}
}

// round refreshes once and does what has to be done about a record that has gone.
// The caller has the turn.
func (r *record[H]) round(ctx context.Context) (lapse registrar.Lapse, err error) {
	b, key := r.book, r.entry.Key
	if r.ended() {
		return registrar.Gone, nil
	}
	began := time.Now()
	if !r.lost {
		lapse, err = b.store.Refresh(ctx, r.entry, r.kept)
		switch {
		case err != nil:
			b.log.Add(began, registrar.Missed, key, "", err)
			return lapse, err
		case lapse != registrar.Gone:
			detail := ""
			if lapse == registrar.Expired {
				detail = "it had expired"
			}
			b.log.Add(began, registrar.Refreshed, key, detail, nil)
			return lapse, nil
		}
		b.log.Add(began, registrar.Lapsed, key, "", nil)
		r.lost = true
	}
	if !b.again {
		r.mu.Lock()
		r.gone = true
		r.mu.Unlock()
		r.cancel()
		return registrar.Gone, nil
	}
	began = time.Now()
	hold, detail, err := b.store.Put(ctx, r.entry)
	b.log.Add(began, registrar.Registered, key, detail, err)
	if err != nil {
		return registrar.Gone, fmt.Errorf("put again: %w", err)
	}
	r.mu.Lock()
	r.kept, r.lost = hold, false
	r.mu.Unlock()
	return registrar.Gone, nil
}

// cancel ends the loop without waiting for it.
func (r *record[H]) cancel() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.end()
}

// stop ends the loop and waits for it: at most as long as the store takes to
// notice that its context has ended.
func (r *record[H]) stop() {
	r.cancel()
	r.loop.Wait()
}

func (r *record[H]) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

func (r *record[H]) lapsed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

func (r *record[H]) paused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.frozen
}

// pause lets no further round begin and ends the one under way.
func (r *record[H]) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = true
	if r.halt != nil {
		r.halt()
	}
}

func (r *record[H]) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = false
}

// holding is the hold, if there is one.
func (r *record[H]) holding() (h H, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept, r.begun
}
