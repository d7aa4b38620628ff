package filestore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	slowest  = 500 * time.Millisecond // between two looks
	quickest = 25 * time.Millisecond
	minWait  = 2 * time.Millisecond // from what was heard to the look
	maxWait  = 50 * time.Millisecond
	awayWait = 100 * time.Millisecond // between two looks for a root that is away
	// share is how many times as long as a look took no other is made.
	share = 4
	// unswept is how long nothing is removed after that failed.
	unswept = 10 * time.Second
	// sweepWait bounds how long removing waits for the lock.
	sweepWait = 10 * time.Millisecond
)

// watch is one call of Watch.
type watch struct {
	store  *Store
	prefix string
	out    chan discovery.Event
	seen   *observer
	ears   *ears
	told   map[string][]byte // by key: what the reader knows
	due    bool              // a snapshot is to come
	away   string            // why the root cannot be read; "" if it can
	sweeps time.Time         // no sooner
	wrote  bool              // this process could make files there
	stuck  bool              // and cannot any more, for the file system has become read-only
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
	w := &watch{
		store: s, prefix: prefix, out: make(chan discovery.Event), seen: s.observer(true), due: true,
		ears: &ears{root: s.root, make: s.cfg.NewWatcher, log: s.log},
	}
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
	defer w.ears.close()
	var hints map[string]bool
	for {
		w.ears.listen()
		began := time.Now()
		known := w.look(ctx, hints)
		took := time.Since(began)
		if known && !w.tell(ctx) {
			return
		}
		pause := max(min(w.seen.pace(), slowest), min(share*took, slowest))
		if w.away != "" {
			pause = awayWait
		}
		if w.ears.stale {
			pause = minWait
		}
		var ok bool
		if hints, ok = w.ears.wait(ctx, pause, min(max(share*took, minWait), maxWait)); !ok {
			return
		}
	}
}

// look looks at the root, and says whether it is known what lives there.
func (w *watch) look(ctx context.Context, hints map[string]bool) bool {
	dir, replaced, err := w.store.look(w.seen, w.prefix, hints)
	if err == nil {
		if w.away != "" {
			w.store.log.Info("the root can be read again")
		}
		w.due = w.due || replaced || w.away != ""
		w.ears.stale = w.ears.stale || replaced
		w.away = ""
		w.probe(dir)
		w.sweep(ctx, dir)
		return true
	}
	if w.away != err.Error() {
		w.away = err.Error()
		w.store.log.Warn("the root is away; what was known stays for now", "error", w.store.fail("watch", w.prefix, err).Error())
	}
	if errors.Is(err, fs.ErrNotExist) && w.seen.looks > 0 {
		w.seen.gone()
		return true
	}
	return false
}

// probe finds out whether owners can keep anything alive when something seems to
// expire. On a file system that has become read-only they cannot, which tells nothing
// about them. If it has been so for this process always, it may be so for it alone.
func (w *watch) probe(dir string) {
	first := w.seen.looks == 1
	if !first && (!w.wrote || !w.stuck && !w.seen.expiring()) {
		return
	}
	path, _, err := writeTemp(dir, nil)
	if err == nil {
		_ = os.Remove(path) // whoever watches removes it later
	}
	if first {
		w.wrote = err == nil
		return
	}
	stuck := errors.Is(err, syscall.EROFS)
	if stuck != w.stuck {
		w.stuck = stuck
		w.store.log.Warn("the file system has become read-only, or writable again; what was known lives on from here", "read-only", stuck)
	}
	if stuck {
		w.seen.hold()
	}
}

// tell tells the reader what has changed. It returns false when ctx has ended.
func (w *watch) tell(ctx context.Context) bool {
	living := w.seen.living(w.prefix, false)
	if w.due && w.away == "" {
		w.due = false
		w.told = living
		return w.send(ctx, discovery.Event{Kind: discovery.Snapshot, Entries: sorted(living)})
	}
	for _, key := range slices.Sorted(maps.Keys(w.told)) {
		if _, ok := living[key]; ok {
			continue
		}
		if !w.send(ctx, discovery.Event{Kind: discovery.Delete, Entry: discovery.Entry{Key: key}}) {
			return false
		}
	}
	for _, e := range sorted(living) {
		if old, ok := w.told[e.Key]; ok && bytes.Equal(old, e.Value) {
			continue
		}
		if !w.send(ctx, discovery.Event{Kind: discovery.Put, Entry: e}) {
			return false
		}
	}
	w.told = living
	return true
}

func (w *watch) send(ctx context.Context, e discovery.Event) bool {
	select {
	case w.out <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// sweep removes what has expired for long.
func (w *watch) sweep(ctx context.Context, dir string) {
	if time.Now().Before(w.sweeps) {
		return
	}
	for name, info := range w.seen.expired(w.store.cfg.TempAge) {
		removed := false
		limited, cancel := context.WithTimeout(ctx, sweepWait)
		err := w.store.remove(limited, dir, name, func(now os.FileInfo) bool {
			removed = os.SameFile(now, info) && sighting{info: info}.unchanged(now)
			return removed
		})
		cancel()
		if err != nil {
			w.sweeps = time.Now().Add(unswept)
			w.store.log.Debug("expired file stays", "file", name, "error", err)
			return
		}
		if removed {
			w.store.swept.Add(1)
			w.store.log.Info("expired file removed", "file", name)
		}
	}
}
