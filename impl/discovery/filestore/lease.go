package filestore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// lease keeps the files of one owner alive. It exists in this process only: what
// others see is the files.
type lease struct {
	store *Store
	ttl   time.Duration
	owner string
	lost  chan struct{}
	stop  chan struct{}

	mu      sync.Mutex
	closed  bool
	ended   bool                   // lost or closed
	files   map[string]os.FileInfo // by name, as they were when kept alive last
	renewed time.Time              // since when all of them are alive
}

var _ discovery.Lease = (*lease)(nil)

// errTaken is a file that is the owner's no more.
var errTaken = errors.New("is the owner's no more")

func newLease(s *Store, ttl time.Duration) *lease {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return &lease{
		store: s, ttl: ttl, owner: hex.EncodeToString(random[:]), lost: make(chan struct{}), stop: make(chan struct{}),
		files: make(map[string]os.FileInfo), renewed: time.Now(),
	}
}

func (l *lease) TTL() time.Duration    { return l.ttl }
func (l *lease) Lost() <-chan struct{} { return l.lost }

// over says whether the lease was lost or closed.
func (l *lease) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// take adds a file that was just written. It returns false if the lease is over.
func (l *lease) take(name string, info os.FileInfo) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	if len(l.files) == 0 {
		l.renewed = time.Now()
	}
	l.files[name] = info
	return true
}

// drop forgets a file, if the lease has it.
func (l *lease) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, name)
}

func (l *lease) keepAlive() {
	defer l.store.work.Done()
	next := time.NewTimer(l.ttl / 3)
	defer next.Stop()
	failing := ""
	for {
		select {
		case <-l.stop:
			return
		case <-l.lost:
			return
		case <-l.store.ctx.Done():
			l.lose("the store was closed")
			return
		case <-next.C:
		}
		pause := l.ttl / 3
		if err := l.renew(); err != nil {
			pause = l.ttl / 12
			if failing != err.Error() {
				failing = err.Error()
				l.store.log.Warn("keep-alive failed; trying again", "error", failing)
			}
		} else {
			failing = ""
		}
		next.Reset(pause)
	}
}

// renew keeps all files alive, or loses the lease if that is not possible any more.
// The error is that of a store which may come back.
func (l *lease) renew() error {
	now := time.Now()
	l.mu.Lock()
	files, renewed := maps.Clone(l.files), l.renewed
	l.mu.Unlock()
	// Readers take a file that was late for dead. To touch it now would bring the old
	// incarnation back.
	if len(files) > 0 && now.Sub(renewed) >= l.ttl {
		l.lose(fmt.Sprintf("its records were not kept alive for %v", now.Sub(renewed).Round(time.Millisecond)))
		return nil
	}
	dir, err := l.store.directory(false)
	if err != nil {
		return l.store.fail("keep alive", "", err)
	}
	for name, info := range files {
		current, err := l.touch(dir, name, info)
		if err != nil && !errors.Is(err, errTaken) {
			return l.store.fail("keep alive", "", err)
		}
		l.mu.Lock()
		_, tracked := l.files[name]
		if tracked && err == nil {
			l.files[name] = current
		}
		l.mu.Unlock()
		if tracked && err != nil {
			l.lose(fmt.Sprintf("file %s %v", name, err))
			return nil
		}
	}
	l.mu.Lock()
	l.renewed = now
	l.mu.Unlock()
	return nil
}

// touch keeps one file alive and returns how it looks then. If anybody else wrote it
// since it was touched last, what it holds must still be the owner's.
func (l *lease) touch(dir, name string, known os.FileInfo) (os.FileInfo, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err == nil && (!os.SameFile(info, known) || !sighting{info: known}.unchanged(info)) {
		err = l.owns(path)
	}
	if err == nil {
		err = touch(path)
	}
	if err == nil {
		info, err = os.Stat(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	// Either the file was removed, or the root was moved away, perhaps for a moment.
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, errMoved
	}
	return nil, fmt.Errorf("%w: it was removed", errTaken)
}

// owns returns errTaken unless the file holds a record of this lease.
func (l *lease) owns(path string) error {
	env, _, err := read(path)
	var bad *badFile
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("%w: it %s", errTaken, bad.problem)
	case err != nil:
		return err
	case env.owner != l.owner:
		return fmt.Errorf("%w: somebody else wrote it", errTaken)
	}
	return nil
}

// lose ends the lease without its owner's doing.
func (l *lease) lose(why string) {
	l.mu.Lock()
	was := l.ended
	l.ended = true
	l.mu.Unlock()
	if was {
		return
	}
	l.forget()
	l.store.log.Warn("lease lost", "why", why)
	close(l.lost)
}

func (l *lease) forget() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	delete(l.store.leases, l)
}

// Close implements discovery.Lease.
func (l *lease) Close(ctx context.Context) error {
	l.mu.Lock()
	was := l.closed
	l.closed, l.ended = true, true
	files := l.files
	l.files = nil
	l.mu.Unlock()
	if was {
		return nil
	}
	close(l.stop)
	l.forget()
	if len(files) == 0 {
		return nil
	}
	if err := l.store.begin(ctx); err != nil {
		return err
	}
	defer l.store.work.Done()
	dir, err := l.store.directory(false)
	if err != nil {
		return l.store.fail("remove the records of a lease", "", err)
	}
	var errs []error
	for name, known := range files {
		path := filepath.Join(dir, name)
		err := l.store.remove(ctx, dir, name, func(info os.FileInfo) bool {
			return os.SameFile(info, known) || l.owns(path) == nil
		})
		if err != nil {
			errs = append(errs, l.store.fail("remove the file of a lease", name, err))
		}
	}
	return errors.Join(errs...)
}
