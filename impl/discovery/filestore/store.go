package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// Config says where the records are. Root must be set.
type Config struct {
	Root     string       // the directory, which may be a symbolic link
	MakeRoot bool         // make the root before a write if it does not exist; otherwise that is an error
	Log      *slog.Logger // nil: nothing is logged

	NewWatcher func() (Watcher, error) // notification; nil: that of the operating system
	TempAge    time.Duration           // how long a temporary file may be in the making before it is removed; 0: 15 s
}

const defaultTempAge = 15 * time.Second

// Store is a discovery.Store in a directory.
type Store struct {
	cfg    Config
	root   string // absolute
	log    *slog.Logger
	ctx    context.Context // ended by Close
	cancel context.CancelFunc
	work   sync.WaitGroup                      // calls, watches and keep-alives
	link   func(oldname, newname string) error // os.Link, but for tests

	mu     sync.Mutex
	closed bool
	leases map[*lease]struct{}
	stale  map[string]sighting // by file name: what may have expired, since when it has been watched

	lookMu sync.Mutex
	seen   *observer // of List

	skipped atomic.Uint64
	swept   atomic.Uint64
}

var _ discovery.Store = (*Store)(nil)

// Stats counts what a Store has met.
type Stats struct {
	Skipped uint64 // files that were no records, or could not be read: each counts once for each reader, until it changes
	Swept   uint64 // expired records and abandoned temporary files that were removed
}

// Open returns the store. It touches nothing: a root that does not exist yet is what
// calls fail with until it does.
func Open(cfg Config) (*Store, error) {
	if cfg.Root == "" {
		return nil, errors.New("file store: no root is set: name a directory")
	}
	root, err := filepath.Abs(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("file store %s: %w", cfg.Root, err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.NewWatcher == nil {
		cfg.NewWatcher = newNotify
	}
	if cfg.TempAge == 0 {
		cfg.TempAge = defaultTempAge
	}
	s := &Store{
		cfg: cfg, root: root, link: os.Link, log: cfg.Log.With("store", "file", "root", cfg.Root),
		leases: make(map[*lease]struct{}), stale: make(map[string]sighting),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.seen = s.observer(false)
	return s, nil
}

// Stats returns the counts.
func (s *Store) Stats() Stats { return Stats{Skipped: s.skipped.Load(), Swept: s.swept.Load()} }

// Close implements discovery.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
	return nil
}

// begin says whether work may begin, and counts it so that Close waits for it.
func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return discovery.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.work.Add(1)
	return nil
}

func (s *Store) observer(steady bool) *observer {
	return &observer{
		steady: steady, now: time.Now, clock: s.clock,
		skip: func(name, problem string) {
			s.skipped.Add(1)
			s.log.Warn("file skipped; fix or remove it", "file", name, "problem", problem)
		},
		files: make(map[string]*file), temps: make(map[string]*sighting), skipped: make(map[string]problem),
	}
}

// clock asks the file system what time it is, by making a file.
func (s *Store) clock(dir string) (time.Time, bool) {
	path, info, err := writeTemp(dir, nil)
	if err != nil {
		return time.Time{}, false
	}
	_ = os.Remove(path) // whoever watches removes it later
	return info.ModTime(), true
}

// directory returns where the root is now; symbolic links are followed anew with
// each call, for they may have been changed.
func (s *Store) directory(write bool) (string, error) {
	dir, err := filepath.EvalSymlinks(s.root)
	if errors.Is(err, fs.ErrNotExist) && write && s.cfg.MakeRoot {
		if err := os.MkdirAll(s.root, 0o755); err != nil {
			return "", err
		}
		return filepath.EvalSymlinks(s.root)
	}
	return dir, err
}

// look has an observer look at the root, again if that is moved meanwhile.
func (s *Store) look(o *observer, prefix string, hints map[string]bool) (dir string, replaced bool, err error) {
	for range 3 {
		if dir, err = s.directory(false); err != nil {
			return "", false, err
		}
		if replaced, err = o.look(dir, prefix, hints); !errors.Is(err, errMoved) {
			break
		}
	}
	return dir, replaced, err
}

// fail says what could not be done, and what may help.
func (s *Store) fail(op, key string, err error) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EROFS):
		remedy = "; the file system is read-only: remount it, or choose another root"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = "; the disk is full: free some space"
	case errors.Is(err, fs.ErrPermission):
		remedy = "; give this user the right to read and write there"
	case errors.Is(err, fs.ErrNotExist):
		remedy = "; make the directory, or see whether it is mounted"
	case errors.Is(err, syscall.ENOTDIR):
		remedy = "; the root must be a directory"
	}
	if key != "" {
		op = fmt.Sprintf("%s %q", op, key)
	}
	return fmt.Errorf("file store %s: %s: %w%s", s.cfg.Root, op, err, remedy)
}

// List implements discovery.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]discovery.Entry, error) {
	if err := discovery.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.work.Done()
	s.lookMu.Lock()
	defer s.lookMu.Unlock()
	if _, _, err := s.look(s.seen, prefix, nil); err != nil {
		return nil, s.fail("list", prefix, err)
	}
	return sorted(s.seen.living(prefix, true)), nil
}

// Grant implements discovery.Store. It touches no file.
func (s *Store) Grant(ctx context.Context, ttl time.Duration) (discovery.Lease, error) {
	if err := discovery.CheckTTL(ttl); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil { // the keep-alive ends the work
		return nil, err
	}
	l := newLease(s, ttl.Truncate(time.Millisecond))
	s.mu.Lock()
	s.leases[l] = struct{}{}
	s.mu.Unlock()
	go l.keepAlive()
	return l, nil
}

// leased returns the store's own lease, or nil for none, or ErrLeaseLost.
func (s *Store) leased(given discovery.Lease) (*lease, error) {
	if given == nil {
		return nil, nil
	}
	l, ok := given.(*lease)
	if !ok || l.store != s {
		return nil, fmt.Errorf("lease of another store %w: get it by Grant", discovery.ErrInvalid)
	}
	if l.over() {
		return nil, discovery.ErrLeaseLost
	}
	return l, nil
}
