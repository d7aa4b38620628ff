package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenFile makes an empty directory to discover workers in, below dir or, where
// that is empty, where temporary files go.
func OpenFile(dir string) (*Store, error) {
	base, err := os.MkdirTemp(dir, "routeproof-store-")
	if err != nil {
		return nil, fmt.Errorf("store %s: below %q: %w", File, dir, err)
	}
	// The harness puts things beside the root too: they are inside base.
	root, linked := filepath.Join(base, "store", "root"), filepath.Join(base, "link", "root")
	err = errors.Join(
		os.MkdirAll(root, 0o755),
		os.Mkdir(filepath.Join(base, "real"), 0o755),
		os.Symlink(root, filepath.Join(base, "real", "root")),
		os.Symlink(filepath.Join(base, "real"), filepath.Join(base, "link")),
	)
	if err != nil {
		os.RemoveAll(base)
		return nil, fmt.Errorf("store %s: %w", File, err)
	}
	s := New(File, directory{base: base, root: root}, nil)
	s.Root, s.Linked = root, linked
	return s, nil
}

type directory struct{ base, root string }

// Keys are the files below the root. What vanishes meanwhile is left out.
func (d directory) Keys(ctx context.Context) (keys []string, err error) {
	err = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Join(err, ctx.Err()) != nil:
			return errors.Join(err, ctx.Err())
		case !e.IsDir():
			keys = append(keys, filepath.ToSlash(strings.TrimPrefix(path, d.root+string(filepath.Separator))))
		}
		return nil
	})
	return keys, err
}

func (d directory) Close() error { return os.RemoveAll(d.base) }
