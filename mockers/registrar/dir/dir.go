// Package dir registers mock workers in a directory: a file per record, whose
// name below the root is the record's key. Files are written beside their place
// and renamed into it, so that a reader never sees half of one; the faults that
// break this rule are methods of their own.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/mockers/registrar/internal/book"
)

// Options say how records are kept alive.
type Options struct {
	// Render makes the file's content of an entry; nil: its value as it is. With it
	// a keep-alive writes the file anew, as where a record holds the time of its
	// last refresh; without it a keep-alive only sets the file's times.
	Render func(e registrar.Entry, now time.Time) []byte
	// Reregister lets a record whose file has gone be written again. Without it
	// the keep-alive ends.
	Reregister bool
	// Temp is how the names of files begin that are not records yet; empty: ".tmp_".
	Temp string
}

// Registrar is a registrar.Registrar over a directory.
type Registrar struct {
	*book.Book[string]
	files  files
	aside  string // beside the root, for what was moved out of it and what links point to
	log    registrar.Log
	closed sync.Once
}

var _ registrar.Registrar = (*Registrar)(nil)

// New registers below root, which must be a directory or a link to one. Until
// Close it keeps a directory of its own beside it.
func New(root string, o Options) (*Registrar, error) {
	if o.Temp == "" {
		o.Temp = ".tmp_"
	}
	if strings.ContainsAny(o.Temp, "/\x00") {
		return nil, fmt.Errorf("directory registrar: Temp %q: want the beginning of a file name, without slash", o.Temp)
	}
	real, err := filepath.EvalSymlinks(root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("directory registrar: root %q: %w; create it first", root, err)
	}
	if i, err := os.Stat(real); err != nil || !i.IsDir() {
		return nil, fmt.Errorf("directory registrar: root %q is no directory; name one (%v)", root, err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(real), ".aside-")
	if err != nil {
		return nil, fmt.Errorf("directory registrar: a directory beside the root: %w", err)
	}
	r := &Registrar{files: files{root: real, temp: o.Temp, render: o.Render, skew: new(sync.Map)}, aside: aside}
	r.Book = book.New[string](r.files, &r.log, o.Reregister)
	return r, nil
}

// Root is the directory itself, without links on the way.
func (r *Registrar) Root() string { return r.files.root }

// Log is what was done so far.
func (r *Registrar) Log() *registrar.Log { return &r.log }

// Register writes the record's file.
func (r *Registrar) Register(ctx context.Context, e registrar.Entry) error {
	if _, err := r.files.path(e.Key); err != nil {
		return err
	}
	return r.Book.Register(ctx, e)
}

// PutRaw writes a file in the tidy way, whoever owns it. An owner that writes its
// record anew with each refresh mends it: freeze it to keep the bytes.
func (r *Registrar) PutRaw(ctx context.Context, key string, value []byte) error {
	return r.do(ctx, registrar.Put, key, "", func(path string) error { return r.files.write(path, value) })
}

// DeleteRaw removes a file, or the link in its place.
func (r *Registrar) DeleteRaw(ctx context.Context, key string) error {
	return r.do(ctx, registrar.Deleted, key, "", func(path string) error { return missingIsFine(os.Remove(path)) })
}

// RemoveAll removes everything below the root, and leaves the root.
func (r *Registrar) RemoveAll(ctx context.Context) error {
	return r.do(ctx, registrar.Deleted, "", "all", func(root string) error {
		entries, err := os.ReadDir(root)
		for _, e := range entries {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, e.Name())))
		}
		return err
	})
}

// List reads every file below the root, temporary ones included. A file that
// vanishes meanwhile is left out; a link that leads nowhere has no value.
func (r *Registrar) List(ctx context.Context) (records []registrar.Record, err error) {
	if r.Closed() {
		return nil, fmt.Errorf("directory registrar: list: %w", registrar.ErrClosed)
	}
	err = filepath.WalkDir(r.files.root, func(path string, d fs.DirEntry, err error) error {
		if err := errors.Join(ctx.Err(), missingIsFine(err)); err != nil || d == nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return missingIsFine(err)
		}
		rec := registrar.Record{Key: filepath.ToSlash(strings.TrimPrefix(path, r.files.root+"/")), Modified: info.ModTime()}
		if d.Type()&fs.ModeSymlink != 0 {
			if rec.Link, err = os.Readlink(path); err != nil {
				return missingIsFine(err)
			}
		}
		rec.Value, err = os.ReadFile(path)
		if err != nil && rec.Link == "" {
			return missingIsFine(err)
		}
		records = append(records, rec)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("directory registrar: list %s: %w", r.files.root, err)
	}
	return records, nil
}

// do runs an operation on a key's file, or on the root for the empty key, and
// writes it down.
func (r *Registrar) do(ctx context.Context, op registrar.Op, key, detail string, f func(path string) error) error {
	path, err := r.files.root, error(nil)
	if key != "" {
		path, err = r.files.path(key)
	}
	if r.Closed() {
		err = registrar.ErrClosed
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("directory registrar: %s %s %q: %w", op, detail, key, err)
	}
	began := time.Now()
	err = f(path)
	r.log.Add(began, op, key, detail, err)
	if err != nil {
		return fmt.Errorf("directory registrar: %s %s %q: %w", op, detail, key, err)
	}
	return nil
}

// Close removes the files that are kept alive, and the directory beside the root.
func (r *Registrar) Close() (err error) {
	r.closed.Do(func() { err = errors.Join(r.Book.Close(), os.RemoveAll(r.aside)) })
	return err
}

func missingIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
