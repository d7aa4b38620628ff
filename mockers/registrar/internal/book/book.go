// Package book is what the registrars have in common: which keys are kept alive,
// by one loop each, and how that is paused, ended and written down. The stores
// below it only put, refresh and take away.
package book

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// Store is what a book needs of a store. H is a hold on one record, such as a lease.
type Store[H any] interface {
	// Put writes the record anew; detail goes into the log.
	Put(ctx context.Context, e registrar.Entry) (h H, detail string, err error)
	// Refresh begins the record's life anew. Gone is no error; everything that
	// leaves it unknown whether the record lives is one.
	Refresh(ctx context.Context, e registrar.Entry, h H) (registrar.Lapse, error)
	// Update replaces the value within the hold.
	Update(ctx context.Context, e registrar.Entry, h H) error
	// Remove takes the record and the hold away; a missing record is no error.
	Remove(ctx context.Context, e registrar.Entry, h H) error
}

// closing bounds what Close asks of the store.
const closing = 3 * time.Second

// Book keeps records of a store alive. Make one with New.
type Book[H any] struct {
	store Store[H]
	log   *registrar.Log
	again bool

	mu      sync.Mutex
	records map[string]*record[H]
	closed  bool
}

// New is an empty book. With again, a record that is found gone is put again, as
// an owner does that registers as a new incarnation; else its keep-alive ends.
func New[H any](store Store[H], log *registrar.Log, again bool) *Book[H] {
	return &Book[H]{store: store, log: log, again: again, records: map[string]*record[H]{}}
}

// Register is registrar.Registrar's.
func (b *Book[H]) Register(ctx context.Context, e registrar.Entry) error {
	if err := registrar.Check(e); err != nil {
		return err
	}
	e.Value = slices.Clone(e.Value)
	r := newRecord(b, e)
	if err := b.enter(r); err != nil {
		return fmt.Errorf("registrar: register %q: %w", e.Key, err)
	}
	defer r.release()
	began := time.Now()
	hold, detail, err := b.store.Put(ctx, e)
	b.log.Add(began, registrar.Registered, e.Key, detail, err)
	if err != nil {
		b.drop(r)
		return fmt.Errorf("registrar: register %q: %w", e.Key, err)
	}
	if r.start(hold) {
		return nil
	}
	// Somebody ended it while it was being put.
	began = time.Now()
	err = b.store.Remove(ctx, e, hold)
	b.log.Add(began, registrar.Unregistered, e.Key, "", err)
	return fmt.Errorf("registrar: register %q: it was ended at once: %w", e.Key, errors.Join(registrar.ErrUnowned, err))
}

// enter takes the key for a record. One that was found gone gives way; one that
// is just being taken away does not.
func (b *Book[H]) enter(r *record[H]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return registrar.ErrClosed
	}
	if old := b.records[r.entry.Key]; old != nil && !old.lapsed() {
		return registrar.ErrOwned
	}
	b.records[r.entry.Key] = r
	return nil
}

// drop gives the key free, if the record still has it.
func (b *Book[H]) drop(r *record[H]) {
	r.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.records[r.entry.Key] == r {
		delete(b.records, r.entry.Key)
	}
}

// find is the record of a key.
func (b *Book[H]) find(what, key string) (*record[H], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := registrar.ErrUnowned
	if b.closed {
		err = registrar.ErrClosed
	}
	if r := b.records[key]; r != nil && !b.closed {
		return r, nil
	}
	return nil, fmt.Errorf("registrar: %s %q: %w", what, key, err)
}

// hold is find, with the record held: no round of its loop is under way. The
// caller releases it.
func (b *Book[H]) hold(ctx context.Context, what, key string) (*record[H], error) {
	r, err := b.find(what, key)
	if err != nil {
		return nil, err
	}
	if err := r.acquire(ctx); err != nil {
		return nil, fmt.Errorf("registrar: %s %q: %w", what, key, err)
	}
	return r, nil
}

// Update is registrar.Registrar's.
func (b *Book[H]) Update(ctx context.Context, key string, value []byte) error {
	r, err := b.hold(ctx, "update", key)
	if err != nil {
		return err
	}
	defer r.release()
	if r.ended() {
		return fmt.Errorf("registrar: update %q: its record has gone: %w", key, registrar.ErrUnowned)
	}
	e := r.entry
	e.Value = slices.Clone(value)
	began := time.Now()
	err = b.store.Update(ctx, e, r.kept)
	b.log.Add(began, registrar.Updated, key, "", err)
	if err != nil {
		return fmt.Errorf("registrar: update %q: %w", key, err)
	}
	r.entry = e
	return nil
}

// Adopt has a key's refreshes go on with a value that was written behind the book's
// back. A key that nobody keeps alive is none of its business.
func (b *Book[H]) Adopt(ctx context.Context, key string, value []byte) error {
	if _, ok := b.Kept(key); !ok {
		return nil
	}
	r, err := b.hold(ctx, "adopt", key)
	if err != nil {
		return err
	}
	defer r.release()
	r.entry.Value = slices.Clone(value)
	return nil
}

// Unregister is registrar.Registrar's. When it fails the keep-alive has ended all
// the same, so that the record runs out.
func (b *Book[H]) Unregister(ctx context.Context, key string) error {
	r, err := b.find("unregister", key)
	if err != nil {
		return err
	}
	if r.ended() {
		b.drop(r)
		return nil
	}
	r.stop()
	defer b.drop(r)
	if err := r.acquire(ctx); err != nil {
		return fmt.Errorf("registrar: unregister %q: %w", key, err)
	}
	defer r.release()
	return b.remove(ctx, r, "")
}

// remove takes a record away whose loop has ended. The caller has the turn.
func (b *Book[H]) remove(ctx context.Context, r *record[H], detail string) error {
	hold, ok := r.holding()
	if !ok {
		return nil
	}
	began := time.Now()
	err := b.store.Remove(ctx, r.entry, hold)
	b.log.Add(began, registrar.Unregistered, r.entry.Key, detail, err)
	if err != nil {
		return fmt.Errorf("registrar: unregister %q: %w", r.entry.Key, err)
	}
	return nil
}

// Abandon is registrar.Registrar's.
func (b *Book[H]) Abandon(key string) error {
	r, err := b.find("abandon", key)
	if err != nil {
		return err
	}
	began := time.Now()
	r.stop()
	b.drop(r)
	b.log.Add(began, registrar.Abandoned, key, "", nil)
	return nil
}

// Freeze is registrar.Registrar's.
func (b *Book[H]) Freeze(ctx context.Context, key string) error {
	r, err := b.find("freeze", key)
	if err != nil {
		return err
	}
	began := time.Now()
	r.pause()
	if err := r.acquire(ctx); err != nil {
		return fmt.Errorf("registrar: freeze %q: %w", key, err)
	}
	r.release()
	b.log.Add(began, registrar.Frozen, key, "", nil)
	return nil
}

// Thaw is registrar.Registrar's. Where the store cannot be asked, the error says
// so and the keep-alive goes on all the same.
func (b *Book[H]) Thaw(ctx context.Context, key string) (registrar.Lapse, error) {
	r, err := b.hold(ctx, "thaw", key)
	if err != nil {
		return registrar.Gone, err
	}
	defer r.release()
	r.resume()
	began := time.Now()
	lapse, err := r.round(ctx)
	b.log.Add(began, registrar.Thawed, key, lapse.String(), err)
	if err != nil {
		return lapse, fmt.Errorf("registrar: thaw %q: %w", key, err)
	}
	return lapse, nil
}

// Kept is the hold on a record that is kept alive, frozen ones included.
func (b *Book[H]) Kept(key string) (h H, ok bool) {
	b.mu.Lock()
	r := b.records[key]
	b.mu.Unlock()
	if r == nil || r.ended() {
		return h, false
	}
	return r.holding()
}

// Closed says whether Close was called.
func (b *Book[H]) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// Close is registrar.Registrar's. The second call does nothing.
func (b *Book[H]) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	all := slices.SortedFunc(maps.Values(b.records), func(x, y *record[H]) int { return x.born.Compare(y.born) })
	b.mu.Unlock()
	tidy := slices.DeleteFunc(slices.Clone(all), func(r *record[H]) bool { return r.ended() || r.paused() })
	for _, r := range all {
		r.cancel()
	}
	for _, r := range all {
		r.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var failed []error
	for _, r := range tidy {
		err := r.acquire(ctx)
		if err == nil {
			err = b.remove(ctx, r, "close")
			r.release()
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("registrar: close: %d of %d records could not be taken away and will run out: %w", len(failed), len(tidy), failed[0])
	}
	return nil
}
