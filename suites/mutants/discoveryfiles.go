package mutants

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/suites/target"
)

// inFiles makes a mutant that sees the events of a file store wrongly. What it does to an
// event may depend on the files; each watch has an f of its own.
func inFiles(id, fault string, killed []string, f func(root string) func(discovery.Event) []discovery.Event) Mutant {
	return at(id, fault, killed, func(s discovery.Store, where target.StoreAt) discovery.Store {
		if where.Kind != target.StoreFile {
			return s
		}
		return seen{s, func() func(discovery.Event) []discovery.Event { return f(where.Root) }}
	})
}

// listing makes a mutant that lists a file store again and again, and makes of each list
// what f does.
func listing(id, fault string, killed []string, f func(root string, listed []discovery.Entry) []discovery.Entry) Mutant {
	return at(id, fault, killed, func(s discovery.Store, where target.StoreAt) discovery.Store {
		if where.Kind != target.StoreFile {
			return s
		}
		return seen{asking{Store: s, waits: true}, func() func(discovery.Event) []discovery.Event {
			return func(e discovery.Event) []discovery.Event {
				e.Entries = f(where.Root, e.Entries)
				return as(e)
			}
		}}
	})
}

// names are those of the files in a directory, sorted.
func names(root string) (all []string) {
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// old says whether a key's file was last changed so long ago, by its own times. A key of
// the suite's workers is its file's name.
func old(root, key string, age time.Duration) bool {
	i, err := os.Stat(filepath.Join(root, key))
	return err == nil && time.Since(i.ModTime()) > age
}

// DSCBlindThroughLinks does not hear of deletes where the root is not where it seems.
func (Catalogue) DSCBlindThroughLinks() Mutant {
	return inFiles("dsc/blind-through-links", "deletes are not noticed if the path of the root leads over symbolic links", []string{"DSC-003/linked-file"}, func(root string) func(discovery.Event) []discovery.Event {
		real, err := filepath.EvalSymlinks(root)
		return func(e discovery.Event) []discovery.Event {
			if e.Kind == discovery.Delete && (err != nil || real != root) {
				return nil
			}
			return as(e)
		}
	})
}

// DSCOneRemoval knows one way for a file to go.
func (Catalogue) DSCOneRemoval() Mutant {
	return inFiles("dsc/one-removal", "a file that was moved away is not noticed to be gone, only one that was removed", []string{"DSC-003/renamed-away-file"}, func(root string) func(discovery.Event) []discovery.Event {
		held := map[string]*os.File{}
		hold := func(key string) {
			if f, err := os.Open(filepath.Join(root, key)); err == nil {
				held[key] = f // the one before, if any, is closed when it is collected
			}
		}
		return func(e discovery.Event) []discovery.Event {
			for _, x := range e.Entries {
				hold(x.Key)
			}
			switch f := held[e.Entry.Key]; {
			case e.Kind == discovery.Put:
				hold(e.Entry.Key)
			case e.Kind == discovery.Delete && f != nil:
				if i, err := f.Stat(); err == nil && i.Sys().(*syscall.Stat_t).Nlink > 0 {
					return nil
				}
			}
			return as(e)
		}
	})
}

// DSCOwnTTL goes by a time to live of its own.
func (Catalogue) DSCOwnTTL() Mutant {
	return listing("dsc/own-ttl", "every record lapses two seconds after its last keep-alive, whatever it says itself", []string{"DSC-004/longer-file"}, func(root string, listed []discovery.Entry) []discovery.Entry {
		return slices.DeleteFunc(listed, func(x discovery.Entry) bool { return old(root, x.Key, 2*time.Second) })
	})
}

// DSCTrustsClocks compares file times with its own clock.
func (Catalogue) DSCTrustsClocks() Mutant {
	return listing("dsc/trusts-clocks", "a record is taken for lapsed if its file's times are a minute old by the router's clock", []string{"DSC-017/skew-file"}, func(root string, listed []discovery.Entry) []discovery.Entry {
		return slices.DeleteFunc(listed, func(x discovery.Entry) bool { return old(root, x.Key, time.Minute) })
	})
}

// DSCReadsTemporary takes what is being written for a record.
func (Catalogue) DSCReadsTemporary() Mutant {
	return listing("dsc/reads-temporary", "files under temporary names are read like others", []string{"DSC-016/orphan-file"}, func(root string, listed []discovery.Entry) []discovery.Entry {
		for _, name := range names(root) {
			if !strings.HasPrefix(name, ".") {
				continue
			}
			b, _ := os.ReadFile(filepath.Join(root, name))
			if _, value, ok := bytes.Cut(b, []byte("\n")); ok {
				listed = append(listed, discovery.Entry{Key: name, Value: value})
			}
		}
		return listed
	})
}

// DSCByInode reads a file again if it is another one.
func (Catalogue) DSCByInode() Mutant {
	return inFiles("dsc/by-inode", "a file that was written in place is not read again", []string{"DSC-010/in-place-file"}, func(root string) func(discovery.Event) []discovery.Event {
		known := map[string]fs.FileInfo{}
		look := func(key string) (fs.FileInfo, bool) {
			i, err := os.Stat(filepath.Join(root, key))
			before, ok := known[key]
			if err == nil {
				known[key] = i
			}
			return i, err == nil && ok && os.SameFile(before, i)
		}
		return func(e discovery.Event) []discovery.Event {
			for _, x := range e.Entries {
				look(x.Key)
			}
			if e.Kind == discovery.Put {
				if _, same := look(e.Entry.Key); same {
					return nil
				}
			}
			return as(e)
		}
	})
}

// DSCNoLinks reads files alone.
func (Catalogue) DSCNoLinks() Mutant {
	return inFiles("dsc/no-links", "a symbolic link in a file's place is taken for its removal", []string{"DSC-010/swapped-file"}, func(root string) func(discovery.Event) []discovery.Event {
		return func(e discovery.Event) []discovery.Event {
			if i, err := os.Lstat(filepath.Join(root, e.Entry.Key)); e.Kind == discovery.Put && err == nil && i.Mode()&fs.ModeSymlink != 0 {
				e.Kind, e.Entry.Value = discovery.Delete, nil
			}
			return as(e)
		}
	})
}

// DSCFirstChange takes the first of several changes.
func (Catalogue) DSCFirstChange() Mutant {
	return inFiles("dsc/first-change", "of the changes of one record within two seconds the first one counts", []string{"DSC-010/renames-file"}, func(string) func(discovery.Event) []discovery.Event {
		last := map[string]time.Time{}
		return func(e discovery.Event) []discovery.Event {
			if e.Kind == discovery.Put {
				if time.Since(last[e.Entry.Key]) < 2*time.Second {
					return nil
				}
				last[e.Entry.Key] = time.Now()
			}
			return as(e)
		}
	})
}

// DSCHoldsRoot holds on to the directory that it found.
func (Catalogue) DSCHoldsRoot() Mutant {
	return at("dsc/holds-root", "the directory that was there at the start is followed, whatever is in its place", []string{"DSC-015/replaced-file", "DSC-015/removed-file"}, func(s discovery.Store, where target.StoreAt) discovery.Store {
		if where.Kind != target.StoreFile {
			return s
		}
		root, err := os.Open(where.Root)
		if err != nil {
			return s
		}
		where.Root = fmt.Sprintf("/proc/self/fd/%d", root.Fd())
		through, err := target.ReferenceStore(where)
		if err != nil {
			root.Close()
			return s
		}
		_ = s.Close()
		return ofDirectory{through, root}
	})
}

// ofDirectory is a store whose root is an open directory.
type ofDirectory struct {
	discovery.Store
	root *os.File
}

func (h ofDirectory) Close() error {
	defer h.root.Close()
	return h.Store.Close()
}
