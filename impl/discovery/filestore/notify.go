package filestore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// Watcher tells that something may have changed in directories. It is believed
// neither when it tells what, nor when it is silent: it only makes the store look
// sooner.
type Watcher interface {
	Add(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error // an overflow too: something was not told
	Close() error
}

// notify is the operating system's notification.
type notify struct{ w *fsnotify.Watcher }

func newNotify() (Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return notify{w}, nil
}

func (n notify) Add(dir string) error          { return n.w.Add(dir) }
func (n notify) Events() <-chan fsnotify.Event { return n.w.Events }
func (n notify) Errors() <-chan error          { return n.w.Errors }
func (n notify) Close() error                  { return n.w.Close() }

// maxLinks bounds the symbolic links on the way to the root.
const maxLinks = 40

// way is what leads to the root: if any of it changes, the root may be another
// directory.
type way struct {
	dir   string   // the root, without symbolic links
	names []string // paths whose replacing changes it: the links on the way, and the root itself
}

func (w way) equal(other way) bool { return w.dir == other.dir && slices.Equal(w.names, other.names) }

// directories returns what has to be watched.
func (w way) directories() []string {
	dirs := []string{w.dir}
	for _, name := range w.names {
		dirs = append(dirs, filepath.Dir(name))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// find walks to the root. What does not exist on the way ends it, so that its
// parent is watched until it does.
func find(root string) way {
	var w way
	at, links := string(filepath.Separator), 0
	todo := split(root)
	for len(todo) > 0 {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		info, err := os.Lstat(next)
		if err != nil {
			w.names = append(w.names, next)
			w.dir = at
			return w
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		w.names = append(w.names, next)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			w.dir = at
			return w
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		todo = append(split(target), todo...)
	}
	w.dir = at
	w.names = append(w.names, at)
	return w
}

func split(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return s == "" || s == "." })
}

// concerns says whether an event may mean a change of a record, or one of the way
// itself. Keep-alives and temporary files mean neither.
func (w way) concerns(e fsnotify.Event) (record, moved bool) {
	if slices.Contains(w.names, e.Name) {
		return true, e.Op != fsnotify.Chmod
	}
	if filepath.Dir(e.Name) != w.dir || strings.HasPrefix(filepath.Base(e.Name), ".") {
		return false, false
	}
	return e.Op != fsnotify.Chmod, false
}
