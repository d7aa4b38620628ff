package dir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// files is the book's store: a hold is a path.
type files struct {
	root, temp string
	render     func(registrar.Entry, time.Time) []byte
	skew       *sync.Map // by key: how far its owner's clock is off, a time.Duration
}

// now is the time by the clock of a record's owner.
func (f files) now(key string) (now time.Time, off time.Duration) {
	if by, ok := f.skew.Load(key); ok {
		off = by.(time.Duration)
	}
	return time.Now().Add(off), off
}

// path is where a key's file lies.
func (f files) path(key string) (string, error) {
	if key == "" || !filepath.IsLocal(key) || filepath.Clean(key) != key || key == "." || strings.ContainsRune(key, 0) {
		return "", fmt.Errorf("directory registrar: key %q is no plain path below the root; use names with single slashes between", key)
	}
	return filepath.Join(f.root, key), nil
}

func (f files) content(e registrar.Entry) []byte {
	if f.render == nil {
		return e.Value
	}
	now, _ := f.now(e.Key)
	return f.render(e, now)
}

// Put writes the record's file.
func (f files) Put(ctx context.Context, e registrar.Entry) (string, string, error) {
	path, err := f.path(e.Key)
	if err != nil {
		return "", "", err
	}
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	return path, "", f.write(path, f.content(e))
}

// Refresh sets the file's times, or writes it anew.
func (f files) Refresh(ctx context.Context, e registrar.Entry, path string) (registrar.Lapse, error) {
	if err := ctx.Err(); err != nil {
		return registrar.Kept, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return registrar.Gone, missingIsFine(err)
	}
	lapse := registrar.Kept
	now, off := f.now(e.Key)
	if now.Sub(info.ModTime()) >= e.TTL {
		lapse = registrar.Expired
	}
	if f.render != nil {
		if err := f.write(path, f.content(e)); err != nil || off == 0 {
			return lapse, err
		}
	}
	if err := os.Chtimes(path, now, now); err != nil {
		return registrar.Gone, missingIsFine(err)
	}
	return lapse, nil
}

// Update writes the file anew.
func (f files) Update(ctx context.Context, e registrar.Entry, path string) error {
	_, _, err := f.Put(ctx, e)
	return err
}

// Remove removes the file.
func (f files) Remove(ctx context.Context, _ registrar.Entry, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return missingIsFine(os.Remove(path))
}

// write puts a whole file in its place at once.
func (f files) write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	name, err := f.orphan(filepath.Dir(path), content)
	if err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		os.Remove(name)
		return err
	}
	return nil
}

// orphan writes a temporary file and leaves it there.
func (f files) orphan(dir string, content []byte) (name string, err error) {
	t, err := os.CreateTemp(dir, f.temp+"*")
	if err != nil {
		return "", err
	}
	_, err = t.Write(content)
	if err == nil {
		err = t.Chmod(0o644) // others than the owner read the store too
	}
	if cerr := t.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}
