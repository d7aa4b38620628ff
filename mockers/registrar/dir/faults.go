package dir

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// WriteInPlace truncates the file and writes it in two parts, as an editor or a
// careless program does: a reader may see it empty, or half of it. Its owner, if it
// has one, keeps it alive as it is now.
func (r *Registrar) WriteInPlace(ctx context.Context, key string, value []byte) error {
	return r.adopted(ctx, key, value, r.do(ctx, registrar.Put, key, "in place", func(path string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		half := len(value) / 2
		_, err = f.Write(value[:half])
		if err == nil {
			_, err = f.Write(value[half:])
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	}))
}

// adopted has the owner of a record that was just written go on with what it is now.
func (r *Registrar) adopted(ctx context.Context, key string, value []byte, err error) error {
	if err != nil {
		return err
	}
	return r.Adopt(ctx, key, value)
}

// RenameOver replaces the file once per value, one right after the other, each by
// an atomic rename. The last value is what remains, and what its owner, if it has one,
// keeps alive.
func (r *Registrar) RenameOver(ctx context.Context, key string, values ...[]byte) error {
	if len(values) == 0 {
		return nil
	}
	return r.adopted(ctx, key, values[len(values)-1], r.do(ctx, registrar.Put, key, fmt.Sprintf("%d renames", len(values)), func(path string) error {
		for _, v := range values {
			if err := r.files.write(path, v); err != nil {
				return err
			}
		}
		return nil
	}))
}

// SwapLink makes the key's file a symbolic link to a new file outside the root,
// in one step. Calling it again swaps the link, and the old file goes. Its owner, if
// it has one, keeps it alive as it is now.
func (r *Registrar) SwapLink(ctx context.Context, key string, value []byte) error {
	return r.adopted(ctx, key, value, r.do(ctx, registrar.Put, key, "link", func(path string) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		before, _ := os.Readlink(path)
		target, err := r.files.orphan(r.aside, value)
		if err != nil {
			return err
		}
		link := target + ".link"
		if err := os.Symlink(target, link); err != nil {
			return err
		}
		if err := os.Rename(link, path); err != nil {
			return err
		}
		if filepath.Dir(before) == r.aside {
			return missingIsFine(os.Remove(before))
		}
		return nil
	}))
}

// RenameAway moves the file out of the root.
func (r *Registrar) RenameAway(ctx context.Context, key string) error {
	return r.do(ctx, registrar.Deleted, key, "renamed away", func(path string) error {
		to, err := r.files.orphan(r.aside, nil)
		if err != nil {
			return err
		}
		return os.Rename(path, to)
	})
}

// ReplaceRoot puts a new directory with copies of the same files in the root's
// place, times included: who watches the old directory sees nothing any more.
// Between the two renames there is no root.
func (r *Registrar) ReplaceRoot(ctx context.Context) error {
	return r.do(ctx, registrar.Fault, "", "root replaced", func(root string) error {
		fresh, err := os.MkdirTemp(r.aside, "new-")
		if err != nil {
			return err
		}
		if err := copyTree(ctx, root, fresh); err != nil {
			return err
		}
		info, err := os.Stat(root)
		if err != nil {
			return err
		}
		if err := os.Chmod(fresh, info.Mode().Perm()); err != nil {
			return err
		}
		if err := os.Rename(root, filepath.Join(r.aside, "old-"+filepath.Base(fresh))); err != nil {
			return err
		}
		return os.Rename(fresh, root)
	})
}

// RemoveRoot removes the root with all that is in it.
func (r *Registrar) RemoveRoot(ctx context.Context) error {
	return r.do(ctx, registrar.Fault, "", "root removed", os.RemoveAll)
}

// MakeRoot makes an empty root again after RemoveRoot.
func (r *Registrar) MakeRoot(ctx context.Context) error {
	return r.do(ctx, registrar.Fault, "", "root made", func(root string) error { return os.MkdirAll(root, 0o755) })
}

// Orphan leaves a temporary file beside where the key's file is, as a writer does
// that died before its rename, and returns the file's key.
func (r *Registrar) Orphan(ctx context.Context, key string, value []byte) (orphan string, err error) {
	err = r.do(ctx, registrar.Fault, key, "orphan", func(path string) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		name, err := r.files.orphan(filepath.Dir(path), value)
		if err != nil {
			return err
		}
		orphan, err = filepath.Rel(r.files.root, name)
		return err
	})
	return filepath.ToSlash(orphan), err
}

// SetTime sets the file's times, as a writer does whose clock is wrong.
func (r *Registrar) SetTime(ctx context.Context, key string, at time.Time) error {
	return r.do(ctx, registrar.Fault, key, "time "+at.UTC().Format(time.RFC3339Nano), func(path string) error {
		return os.Chtimes(path, at, at)
	})
}

// Skew sets the clock of a record's owner wrong, from its next refresh on: it sets the
// file's times so far into the future or, below 0, into the past.
func (r *Registrar) Skew(ctx context.Context, key string, by time.Duration) error {
	return r.do(ctx, registrar.Fault, key, "clock off by "+by.String(), func(string) error {
		r.files.skew.Store(key, by)
		return nil
	})
}

// MakeDir puts a directory where a record's file would be.
func (r *Registrar) MakeDir(ctx context.Context, key string) error {
	return r.do(ctx, registrar.Fault, key, "directory", func(path string) error { return os.MkdirAll(path, 0o755) })
}

// SetMode sets the permissions of a record's file. Root reads everything.
func (r *Registrar) SetMode(ctx context.Context, key string, mode fs.FileMode) error {
	return r.do(ctx, registrar.Fault, key, "mode "+mode.String(), func(path string) error { return os.Chmod(path, mode) })
}

// copyTree copies directories, files with their times, and links.
func copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return missingIsFine(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil || rel == "." {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dst, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return missingIsFine(err)
			}
			return os.Symlink(target, dst)
		}
		info, err := d.Info()
		if err != nil {
			return missingIsFine(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return missingIsFine(err)
		}
		if err := os.WriteFile(dst, content, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(dst, info.ModTime(), info.ModTime())
	})
}
