package filestore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	// lockWait bounds how long a writer waits for the others.
	lockWait = 2 * time.Second
	// tempTries bounds how often a name for a temporary file is drawn.
	tempTries = 16
)

// draft is a record that is written and has no name yet.
type draft struct {
	store     *Store
	key       string
	name      string
	dir, path string
	temp      string
	info      os.FileInfo // of the temporary file, which becomes that of the record
	env       envelope
	lease     *lease // nil: none
}

// draft checks a record and writes it to a temporary file.
func (s *Store) draft(key string, value []byte, given discovery.Lease) (*draft, error) {
	name, err := nameOf(key)
	if err != nil {
		return nil, err
	}
	l, err := s.leased(given)
	if err != nil {
		return nil, err
	}
	d := &draft{store: s, key: key, name: name, lease: l, env: envelope{value: value}}
	if l != nil {
		d.env.ttl, d.env.owner = l.ttl, l.owner
	}
	return d, d.write()
}

func (d *draft) write() error {
	data, err := d.env.encode()
	if err != nil {
		return err
	}
	if d.dir, err = d.store.directory(true); err != nil {
		return d.fail(err)
	}
	d.path = filepath.Join(d.dir, d.name)
	if d.temp, d.info, err = writeTemp(d.dir, data); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *draft) fail(err error) error { return d.store.fail("write", d.key, err) }

// discard removes the temporary file, if it is still there.
func (d *draft) discard() { _ = os.Remove(d.temp) }

// rename gives the draft its name, whatever had it before.
func (d *draft) rename() error {
	if err := os.Rename(d.temp, d.path); err != nil {
		return d.fail(err)
	}
	return d.settle()
}

// settle hands a record that has its name to its lease.
func (d *draft) settle() error {
	if d.lease == nil || d.lease.take(d.name, d.info) {
		return nil
	}
	// The lease was closed or lost meanwhile, and nobody would keep the record alive.
	if info, err := os.Lstat(d.path); err == nil && os.SameFile(info, d.info) {
		_ = os.Remove(d.path)
	}
	return discovery.ErrLeaseLost
}

// Create implements discovery.Store. Where there is a record that seems to have
// expired, it waits until that has not changed for its whole time to live, in this
// call or since an earlier one, and takes its place.
func (s *Store) Create(ctx context.Context, key string, value []byte, given discovery.Lease) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.work.Done()
	d, err := s.draft(key, value, given)
	if err != nil {
		return err
	}
	defer d.discard()
	for {
		err := s.link(d.temp, d.path)
		if err == nil {
			return d.settle()
		}
		links := !noLinks(err)
		if links && !errors.Is(err, fs.ErrExist) {
			return d.fail(err)
		}
		if done, err := s.supersede(ctx, d, links); done || err != nil {
			return err
		}
	}
}

// supersede creates a record where another has its name, or where files cannot be
// linked. It returns false if linking may work now.
func (s *Store) supersede(ctx context.Context, d *draft, links bool) (done bool, err error) {
	unlock, err := s.lock(ctx, d.dir)
	if err != nil {
		return false, d.fail(err)
	}
	locked := true
	defer func() {
		if locked {
			unlock()
		}
	}()
	found, info, err := read(d.path)
	var bad *badFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(d.path); err == nil {
			return false, d.fail(fmt.Errorf("%w: it is a symbolic link to nothing; remove it", discovery.ErrExists))
		}
		if links {
			return false, nil
		}
		return true, d.rename()
	case errors.As(err, &bad):
		return false, d.fail(fmt.Errorf("%w: the file %s; remove it", discovery.ErrExists, bad.problem))
	case err != nil:
		return false, d.fail(err)
	case bytes.Equal(found.value, d.env.value):
		return true, d.rename()
	case found.ttl == 0 || d.info.ModTime().Sub(info.ModTime()) < found.ttl*7/8: // closer to its end, only watching it decides
		return false, d.fail(discovery.ErrExists)
	case s.dead(d.name, info, found.ttl):
		return true, d.rename()
	}
	unlock()
	locked = false
	pause := time.NewTimer(found.ttl / 8)
	defer pause.Stop()
	select {
	case <-pause.C:
		return false, nil
	case <-ctx.Done():
		return false, d.fail(ctx.Err())
	case <-s.ctx.Done():
		return false, discovery.ErrClosed
	}
}

// dead says whether a record has not changed for its whole time to live since it was
// asked for first.
func (s *Store) dead(name string, info os.FileInfo, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.stale[name]
	if !ok || !first.unchanged(info) || !os.SameFile(first.info, info) {
		s.stale[name] = sighting{info, time.Now()}
		return false
	}
	if time.Since(first.since) < ttl {
		return false
	}
	delete(s.stale, name)
	return true
}

// Put implements discovery.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, given discovery.Lease) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.work.Done()
	d, err := s.draft(key, value, given)
	if err != nil {
		return err
	}
	defer d.discard()
	unlock, err := s.lock(ctx, d.dir)
	if err != nil {
		return d.fail(err)
	}
	defer unlock()
	return d.rename()
}

// Replace implements discovery.Store. A record whose file has not changed for its
// time to live, by the clock of the file system, is missing.
func (s *Store) Replace(ctx context.Context, key string, old, value []byte) error {
	name, err := nameOf(key)
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.work.Done()
	dir, err := s.directory(false)
	if err != nil {
		return s.fail("replace", key, err)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return s.fail("replace", key, discovery.ErrMissing)
	}
	unlock, err := s.lock(ctx, dir)
	if err != nil {
		return s.fail("replace", key, err)
	}
	defer unlock()
	found, info, err := read(path)
	var bad *badFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.fail("replace", key, discovery.ErrMissing)
	case errors.As(err, &bad):
		return s.fail("replace", key, fmt.Errorf("%w: the file %s", discovery.ErrChanged, bad.problem))
	case err != nil:
		return s.fail("replace", key, err)
	case !bytes.Equal(found.value, old):
		return s.fail("replace", key, discovery.ErrChanged)
	}
	d := &draft{store: s, key: key, name: name, env: envelope{ttl: found.ttl, owner: found.owner, value: value}}
	if err := d.write(); err != nil {
		return err
	}
	defer d.discard()
	if found.ttl > 0 && d.info.ModTime().Sub(info.ModTime()) >= found.ttl {
		return s.fail("replace", key, discovery.ErrMissing)
	}
	return d.rename() // the owner finds its name in it and goes on
}

// Delete implements discovery.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	name, err := nameOf(key)
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.work.Done()
	s.mu.Lock()
	for l := range s.leases {
		l.drop(name)
	}
	s.mu.Unlock()
	dir, err := s.directory(false)
	if err != nil {
		return s.fail("delete", key, err)
	}
	if err := s.remove(ctx, dir, name, func(os.FileInfo) bool { return true }); err != nil {
		return s.fail("delete", key, err)
	}
	return nil
}

// remove removes a file under the lock, if it is one that is meant.
func (s *Store) remove(ctx context.Context, dir, name string, meant func(os.FileInfo) bool) error {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := s.lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory, which is no record; remove it by hand")
	case !meant(info):
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock keeps the other writers out until unlock is called. A writer that was stopped
// while it held the lock must not stop the others for ever, so it waits for a while only.
func (s *Store) lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(lockWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := tryLock(f)
		switch {
		case ok:
			return func() { _ = f.Close() }, nil
		case err == nil && time.Now().After(deadline):
			err = fmt.Errorf("%s is locked for more than %v: see which process holds it, and whether it is stopped", f.Name(), lockWait)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.ctx.Done():
			err = discovery.ErrClosed
		}
		if t.Stop(); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
}

// writeTemp writes a new temporary file. Its FileInfo tells the file system's time.
func writeTemp(dir string, data []byte) (path string, info os.FileInfo, err error) {
	var f *os.File
	for range tempTries {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails
		path = filepath.Join(dir, tempPrefix+hex.EncodeToString(random[:]))
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		_, err = f.Write(data)
		if err == nil {
			info, err = f.Stat()
		}
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(path)
		}
	}
	if err == nil {
		return path, info, nil
	}
	if pe := new(os.PathError); errors.As(err, &pe) { // the same failure should read the same each time
		err = &os.PathError{Op: pe.Op, Path: filepath.Join(dir, tempPrefix+"*"), Err: pe.Err}
	}
	return "", nil, err
}
