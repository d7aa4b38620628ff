package filestore

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// deaf is how long notification is done without after it failed.
const deaf = 5 * time.Second

// ears listens at the root and on the way to it, and says when to look.
type ears struct {
	root string
	make func() (Watcher, error)
	log  *slog.Logger

	w       Watcher // nil: none
	way     way
	stale   bool      // the watched directories may be others now
	retry   time.Time // not before then
	failing string
}

// listen sees to it that what is watched is where the root is now. Whoever looks
// after that misses nothing but what notification does not tell.
func (e *ears) listen() {
	now := find(e.root)
	if e.w != nil && !e.stale && e.way.equal(now) {
		return
	}
	e.close()
	e.stale = false
	if time.Now().Before(e.retry) {
		return
	}
	w, err := e.make()
	if err == nil {
		err = w.Add(now.dir)
		for _, dir := range now.directories() {
			if dir != now.dir {
				_ = w.Add(dir) // may be forbidden; a look tells what happened there
			}
		}
		if err != nil {
			_ = w.Close()
		}
	}
	if err != nil {
		e.retry = time.Now().Add(deaf)
		if e.failing != err.Error() {
			e.failing = err.Error()
			e.log.Warn("no notification of changes; looking for them instead", "error", e.failing)
		}
		return
	}
	e.failing = ""
	e.w, e.way = w, now
}

func (e *ears) close() {
	if e.w != nil {
		_ = e.w.Close() // what it watched is of no more interest
		e.w = nil
	}
}

// wait returns when it is time to look: after the pause, or when something was
// heard and a little more was gathered. The hints are names of files of which
// something was heard. It returns false when ctx has ended.
func (e *ears) wait(ctx context.Context, pause, gather time.Duration) (hints map[string]bool, ok bool) {
	until := time.Now().Add(pause)
	t := time.NewTimer(pause)
	defer t.Stop()
	hints = make(map[string]bool)
	heard := false
	hear := func() {
		if !heard && gather < time.Until(until) {
			t.Reset(gather)
		}
		heard = true
	}
	for {
		var events <-chan fsnotify.Event
		var errs <-chan error
		if e.w != nil {
			events, errs = e.w.Events(), e.w.Errors()
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-t.C:
			return hints, true
		case event, open := <-events:
			if !open {
				e.died()
				continue
			}
			record, moved := e.way.concerns(event)
			e.stale = e.stale || moved
			if record {
				hints[filepath.Base(event.Name)] = true
				hear()
			}
		case err, open := <-errs:
			if !open {
				e.died()
				continue
			}
			e.log.Debug("notification", "error", err)
			hear() // whatever was lost, a look finds it
		}
	}
}

// died notes that the watcher has ended by itself.
func (e *ears) died() {
	e.close()
	e.retry = time.Now().Add(deaf)
	e.log.Warn("notification of changes has ended; looking for them instead")
}
