package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	askEvery = time.Second             // how long a watch is silent before it is asked for a sign of life
	askWait  = 1500 * time.Millisecond // how long that may take
	steady   = 2 * time.Second         // a watch that held so long is taken up again at once
)

// What ends a watch, besides errors of etcd.
var (
	errBroken = errors.New("a connection ended")
	errSilent = fmt.Errorf("no sign of life within %v", askWait)
	errEnded  = errors.New("etcd ended it")
)

// watch is one call of Watch.
type watch struct {
	store   *Store
	prefix  string
	out     chan discovery.Event
	pause   discovery.Backoff
	skipped map[string]int64 // etcd keys that are no keys, and the revision that was logged
}

// Watch implements discovery.Store.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan discovery.Event, error) {
	if err := discovery.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(s.ctx, cancel)
	w := &watch{store: s, prefix: prefix, out: make(chan discovery.Event), skipped: make(map[string]int64)}
	go func() {
		defer s.work.Done()
		defer cancel()
		defer unhook()
		defer close(w.out)
		w.run(ctx)
	}()
	return w.out, nil
}

func (w *watch) run(ctx context.Context) {
	failing := ""
	for {
		began := time.Now()
		err := w.follow(ctx, func() { failing = "" })
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > steady {
			w.pause.Reset()
		}
		if failing != err.Error() {
			failing = err.Error()
			w.store.log.Warn("watch interrupted; what was known stays, and a snapshot will follow", "error", failing)
		}
		if !w.pause.Wait(ctx) {
			return
		}
	}
}

// follow gives a snapshot and then the changes, until something ends it. It calls
// reached when it has the snapshot.
func (w *watch) follow(ctx context.Context, reached func()) error {
	s := w.store
	broken := s.links.broken()
	entries, revision, err := s.list(ctx, w.prefix, w.skip)
	if err != nil {
		return err
	}
	reached()
	if !w.send(ctx, discovery.Event{Kind: discovery.Snapshot, Entries: entries}) {
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	asked := time.Now()
	unanswered := time.AfterFunc(callWait, cancel) // Watch returns when the server has agreed
	// From the snapshot's own revision, not the next one: as long as a watch begins in
	// the future, etcd gives no sign of life. What is told twice is left out below.
	changes := s.client.Watch(ctx, s.below(w.prefix), clientv3.WithPrefix(), clientv3.WithRev(revision))
	if !unanswered.Stop() {
		s.links.cut(asked)
		return errSilent
	}
	ask := time.NewTimer(askEvery)
	defer ask.Stop()
	waiting := false // for a sign of life
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-broken:
			return errBroken
		case resp, ok := <-changes:
			if !ok {
				return errEnded
			}
			if err := resp.Err(); err != nil {
				return err
			}
			for _, e := range resp.Events {
				if e.Kv.ModRevision > revision && !w.change(ctx, e) {
					return ctx.Err()
				}
			}
			waiting = false
			ask.Reset(askEvery)
		case <-ask.C:
			if waiting {
				s.links.cut(asked)
				return errSilent
			}
			asked, waiting = time.Now(), true
			limited, cancel := context.WithTimeout(ctx, askWait)
			err := s.client.RequestProgress(limited)
			cancel()
			if err != nil && ctx.Err() == nil {
				s.links.cut(asked)
				return err
			}
			ask.Reset(askWait)
		}
	}
}

// change tells one change.
func (w *watch) change(ctx context.Context, e *clientv3.Event) bool {
	entry, ok := w.store.entry(e.Kv)
	switch {
	case !ok && e.Type == mvccpb.DELETE:
		delete(w.skipped, string(e.Kv.Key))
		return true
	case !ok:
		w.skip(e.Kv.Key, e.Kv.ModRevision)
		return true
	case e.Type == mvccpb.DELETE:
		entry.Value = nil
		return w.send(ctx, discovery.Event{Kind: discovery.Delete, Entry: entry})
	}
	return w.send(ctx, discovery.Event{Kind: discovery.Put, Entry: entry})
}

// skip counts a key that is none, and logs it once for each change.
func (w *watch) skip(key []byte, revision int64) {
	if w.skipped[string(key)] == revision {
		return
	}
	w.skipped[string(key)] = revision
	w.store.skipped.Add(1)
	w.store.log.Warn("key skipped: it is no printable path in UTF-8; delete it", "key", fmt.Sprintf("%q", key))
}

func (w *watch) send(ctx context.Context, e discovery.Event) bool {
	select {
	case w.out <- e:
		return true
	case <-ctx.Done():
		return false
	}
}
