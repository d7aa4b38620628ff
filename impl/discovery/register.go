package discovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// attemptWait bounds one attempt to register, so that a store which hangs is
	// tried again.
	attemptWait = 5 * time.Second
	// leaveWait bounds how long a registration that ends, or was lost, tries to
	// take its record back; what remains expires.
	leaveWait = 2 * time.Second
)

// Registration keeps one worker's record in a store for as long as it lives.
type Registration struct {
	store  Store
	prefix string
	given  Worker
	ttl    time.Duration
	log    *slog.Logger
	stop   context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	current Worker
	present bool
	changed chan struct{}
	err     error // why it has ended
	left    error // why the record could not be taken back
}

// Register puts a worker's record below the prefix and keeps it alive until ctx
// ends or Stop is called. A store that is out of reach is tried again, at the start
// as later, with jittered pauses of up to a second; so only a worker that Validate
// refuses, a bad prefix or a time to live out of range is an error here.
//
// When the record is lost while the process lives (its lease ended, or somebody
// swept it), the worker is registered again as a new incarnation, for whoever saw it
// leave must not take it for the old one. The first incarnation is the worker's own,
// or one is made up if that is "".
//
// A record under the same key with other content is not overwritten: the
// registration ends, and Err and the log say so. With the same content it is taken
// over.
func Register(ctx context.Context, store Store, prefix string, w Worker, ttl time.Duration, log *slog.Logger) (*Registration, error) {
	if _, err := EncodeRecord(w); err != nil {
		return nil, err
	}
	if err := errors.Join(CheckPrefix(prefix), CheckTTL(ttl)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Registration{
		store: store, prefix: prefix, given: w, ttl: ttl, log: log.With("worker", w.ID),
		stop: cancel, ended: make(chan struct{}), current: w, changed: make(chan struct{}),
	}
	go r.run(ctx)
	return r, nil
}

// Current returns the worker as it is or was last registered, whether it is so now
// as far as is known, and a channel that is closed when this has changed.
func (r *Registration) Current() (w Worker, registered bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current, r.present, r.changed
}

// Ready waits until the worker is registered. It returns Err if the registration
// ended instead, and ctx's error if that ended.
func (r *Registration) Ready(ctx context.Context) error {
	for {
		_, registered, changed := r.Current()
		if registered {
			return nil
		}
		select {
		case <-changed:
		case <-r.ended:
			if err := r.Err(); err != nil {
				return err
			}
			return fmt.Errorf("worker %q: its registration was stopped", r.given.ID)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Done is closed when the registration has ended.
func (r *Registration) Done() <-chan struct{} { return r.ended }

// Err returns why the registration ended by itself, or nil.
func (r *Registration) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Stop takes the record back and ends the registration. It returns an error if that
// could not be done in time, in which case the record expires. It may be called
// again, and after the record is gone.
func (r *Registration) Stop(ctx context.Context) error {
	r.stop()
	select {
	case <-r.ended:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.left
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Registration) run(ctx context.Context) {
	defer close(r.ended)
	defer r.stop()
	var pause Backoff
	var failing string // the failure that was logged last
	incarnation, seen := r.given.Incarnation, []string{}
	for ctx.Err() == nil {
		w, lease, err := r.enter(ctx, incarnation, seen)
		incarnation = w.Incarnation // an attempt whose outcome is not known is repeated as it was
		switch {
		case err == nil:
			failing = ""
			began := time.Now()
			r.set(w, true)
			r.log.Info("registered", "incarnation", w.Incarnation, "url", w.URL, "ttl", lease.TTL())
			select {
			case <-lease.Lost():
				r.set(w, false)
				r.log.Warn("registration lost; registering again as a new incarnation", "incarnation", w.Incarnation)
				incarnation, seen = "", append(seen[:0], w.Incarnation)
			case <-ctx.Done():
				r.set(w, false)
			}
			r.leave(ctx, lease)
			if time.Since(began) > maxPause {
				pause.Reset()
			}
			pause.Wait(ctx) // or somebody who sweeps all the time would keep us busy
		case errors.Is(err, ErrExists), errors.Is(err, ErrInvalid), errors.Is(err, ErrClosed):
			if errors.Is(err, ErrExists) {
				err = fmt.Errorf("worker %q, incarnation %q: another process registered it with other content; give each worker an id of its own: %w", w.ID, w.Incarnation, err)
			}
			r.mu.Lock()
			r.err = err
			r.mu.Unlock()
			r.log.Error("registration ended", "error", err.Error())
			return
		case ctx.Err() == nil:
			if failing != err.Error() {
				failing = err.Error()
				r.log.Warn("not registered; trying again", "error", failing)
			}
			pause.Wait(ctx)
		}
	}
}

// enter makes one attempt: a lease, and the record under it. Without an incarnation
// it makes one that is newer than those given and those in the store. The worker it
// returns has the incarnation that was tried.
func (r *Registration) enter(ctx context.Context, incarnation string, seen []string) (Worker, Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	w := r.given
	w.Incarnation = incarnation
	lease, err := r.store.Grant(ctx, r.ttl)
	if err != nil {
		return w, nil, err
	}
	if incarnation == "" {
		others, err := r.store.List(ctx, join(r.prefix, segment(w.ID)))
		if err != nil {
			r.leave(ctx, lease)
			return w, nil, err
		}
		for _, e := range others {
			if other, err := DecodeRecord(e.Value); err == nil {
				seen = append(seen, other.Incarnation)
			}
		}
		w.Incarnation = nextIncarnation(r.given.Incarnation, time.Now(), seen)
	}
	value, err := EncodeRecord(w)
	if err == nil {
		err = r.store.Create(ctx, join(r.prefix, segment(w.ID)+"/"+segment(w.Incarnation)), value, lease)
	}
	if err != nil {
		r.leave(ctx, lease)
		return w, nil, err
	}
	return w, lease, nil
}

// leave closes a lease, for a short while even if ctx has ended. What it could not
// do is what Stop has to tell, until a later lease was closed well.
func (r *Registration) leave(ctx context.Context, lease Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
	defer cancel()
	err := lease.Close(ctx)
	if err != nil {
		err = fmt.Errorf("worker %q: its record could not be removed and expires within %v: %w", r.given.ID, lease.TTL(), err)
		r.log.Warn("record left behind", "error", err.Error())
	}
	r.mu.Lock()
	r.left = err
	r.mu.Unlock()
}

func (r *Registration) set(w Worker, present bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.present = w, present
	close(r.changed)
	r.changed = make(chan struct{})
}
