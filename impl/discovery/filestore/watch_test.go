package filestore

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/routeproof/routeproof/impl/discovery"
	. "github.com/routeproof/routeproof/impl/discovery/storetest"
)

// ears by which the tests below are run: a watch must not need them.
var kindsOfEars = map[string]func(*testing.T) func() (Watcher, error){
	"the system's": func(*testing.T) func() (Watcher, error) { return nil },
	"silent":       func(*testing.T) func() (Watcher, error) { return func() (Watcher, error) { return newFake(), nil } },
	"none": func(*testing.T) func() (Watcher, error) {
		return func() (Watcher, error) { return nil, errors.New("too many watchers") }
	},
	"lying": func(t *testing.T) func() (Watcher, error) {
		return func() (Watcher, error) { return newLiar(t), nil }
	},
	"overflowing": func(t *testing.T) func() (Watcher, error) {
		return func() (Watcher, error) {
			f := newFake()
			go func() {
				for {
					select {
					case f.errors <- fsnotify.ErrEventOverflow:
						<-time.After(20 * time.Millisecond)
					case <-f.ended:
						return
					}
				}
			}()
			return f, nil
		}
	},
	"dying": func(*testing.T) func() (Watcher, error) {
		return func() (Watcher, error) {
			f := newFake()
			close(f.events)
			return f, nil
		}
	},
}

// newLiar hears what happens, and tells of it that something else has.
func newLiar(t *testing.T) Watcher {
	real, err := newNotify()
	if err != nil {
		t.Errorf("notification: %v", err)
		return newFake()
	}
	l := &liar{Watcher: real, events: make(chan fsnotify.Event), ended: make(chan struct{})}
	go func() {
		ops := []fsnotify.Op{fsnotify.Create, fsnotify.Write, fsnotify.Remove, fsnotify.Rename, fsnotify.Chmod}
		for e := range real.Events() {
			ops = append(ops[1:], ops[0])
			select {
			case l.events <- fsnotify.Event{Name: e.Name, Op: ops[0]}:
			case <-l.ended:
			}
		}
	}()
	return l
}

type liar struct {
	Watcher
	events chan fsnotify.Event
	once   sync.Once
	ended  chan struct{}
}

func (l *liar) Events() <-chan fsnotify.Event { return l.events }

func (l *liar) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Watcher.Close()
}

// withEars runs a test by all kinds of ears.
func withEars(t *testing.T, test func(*testing.T, *place)) {
	t.Parallel()
	for name, ears := range kindsOfEars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.change = func(c *Config) { c.NewWatcher = ears(t) }
			test(t, p)
		})
	}
}

// record is a file's content.
func record(t *testing.T, value string, ttl time.Duration) []byte {
	t.Helper()
	data, err := envelope{ttl: ttl, owner: "by hand", value: []byte(value)}.encode()
	Must(t, err)
	return data
}

func write(t *testing.T, dir, name, value string) {
	t.Helper()
	Must(t, os.WriteFile(filepath.Join(dir, name), record(t, value, 0), 0o644))
}

func TestEveryWayToGoIsSeen(t *testing.T) {
	outside := func(t *testing.T, root string) string { return filepath.Join(filepath.Dir(root), "outside") }
	for name, remove := range map[string]func(t *testing.T, root string){
		"removed":              func(t *testing.T, root string) { Must(t, os.Remove(root+"/gone")) },
		"renamed away":         func(t *testing.T, root string) { Must(t, os.Rename(root+"/gone", outside(t, root))) },
		"renamed to be hidden": func(t *testing.T, root string) { Must(t, os.Rename(root+"/gone", root+"/.gone")) },
		"made a directory": func(t *testing.T, root string) {
			Must(t, os.Remove(root+"/gone"))
			Must(t, os.Mkdir(root+"/gone", 0o755))
		},
		"made a pipe": func(t *testing.T, root string) {
			Must(t, os.Remove(root+"/gone"))
			Must(t, syscall.Mkfifo(root+"/gone", 0o644))
		},
		"made a link to nothing": func(t *testing.T, root string) {
			Must(t, os.Remove(root+"/gone"))
			Must(t, os.Symlink("nowhere", root+"/gone"))
		},
		"removed with the root, which is made again": func(t *testing.T, root string) {
			Must(t, os.RemoveAll(root))
			Must(t, os.Mkdir(root, 0o755))
			write(t, root, "stays", "v")
		},
		"renamed away with the root, which is made again": func(t *testing.T, root string) {
			Must(t, os.Rename(root, outside(t, root)))
			Must(t, os.Mkdir(root, 0o755))
			write(t, root, "stays", "v")
		},
		"in a root that another one replaces": func(t *testing.T, root string) {
			next := outside(t, root)
			Must(t, os.Mkdir(next, 0o755))
			write(t, next, "stays", "v")
			Must(t, os.Rename(root, next+"-old"))
			Must(t, os.Rename(next, root))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withEars(t, func(t *testing.T, p *place) {
				write(t, p.root, "gone", "v")
				write(t, p.root, "stays", "v")
				view := Watch(t, p.Open(t), "")
				view.UntilEqual(map[string]string{"gone": "v", "stays": "v"})
				remove(t, p.root)
				view.UntilEqual(map[string]string{"stays": "v"})
				write(t, p.root, "next", "w")
				view.UntilEqual(map[string]string{"stays": "v", "next": "w"})
			})
		})
	}
}

func TestEveryWayToComeIsSeen(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, root string){
		"written in place": func(t *testing.T, root string) { write(t, root, "k", "new") },
		"written in place bit by bit": func(t *testing.T, root string) {
			f, err := os.Create(root + "/k")
			Must(t, err)
			for _, c := range record(t, "new", 0) {
				_, err := f.Write([]byte{c})
				Must(t, err)
				<-time.After(time.Millisecond)
			}
			Must(t, f.Close())
		},
		"renamed over": func(t *testing.T, root string) {
			write(t, root, ".new", "new")
			Must(t, os.Rename(root+"/.new", root+"/k"))
		},
		"renamed over, with old times": func(t *testing.T, root string) {
			info, err := os.Stat(root + "/k")
			Must(t, err)
			write(t, root, ".new", "new")
			Must(t, os.Chtimes(root+"/.new", info.ModTime(), info.ModTime()))
			Must(t, os.Rename(root+"/.new", root+"/k"))
		},
		"linked": func(t *testing.T, root string) {
			write(t, root, ".new", "new")
			Must(t, os.Remove(root+"/k"))
			Must(t, os.Link(root+"/.new", root+"/k"))
		},
		"a symbolic link": func(t *testing.T, root string) {
			write(t, filepath.Dir(root), "new", "new")
			Must(t, os.Symlink("../new", root+"/.new"))
			Must(t, os.Rename(root+"/.new", root+"/k"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withEars(t, func(t *testing.T, p *place) {
				write(t, p.root, "k", "old")
				view := Watch(t, p.Open(t), "")
				view.UntilEqual(map[string]string{"k": "old"})
				change(t, p.root)
				view.UntilEqual(map[string]string{"k": "new"})
				for i, e := range view.Events() {
					if e.Kind == discovery.Snapshot && i > 0 {
						t.Error("a change was told as a snapshot")
					}
				}
			})
		})
	}
}

func TestARootBehindSymbolicLinksIsFollowed(t *testing.T) {
	withEars(t, func(t *testing.T, p *place) {
		base := filepath.Dir(p.root)
		// link -> via/root, via -> one; and root itself is what link means in the end.
		for _, dir := range []string{"one/root", "two/root", "three"} {
			Must(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
		}
		write(t, base+"/one/root", "k", "one")
		write(t, base+"/two/root", "k", "two")
		write(t, base+"/three", "k", "three")
		Must(t, os.Symlink("one", base+"/via"))
		Must(t, os.Symlink("via/root", base+"/link"))
		s := p.open(t, base+"/link")
		view := Watch(t, s, "")
		view.UntilEqual(map[string]string{"k": "one"})
		Must(t, s.Put(Within(t), "mine", []byte("v"), nil))
		view.UntilEqual(map[string]string{"k": "one", "mine": "v"})
		Must(t, os.Remove(base+"/one/root/mine"))
		view.UntilEqual(map[string]string{"k": "one"})
		swap := func(target, link string) {
			Must(t, os.Symlink(target, base+"/.new"))
			Must(t, os.Rename(base+"/.new", link))
		}
		swap("two", base+"/via") // a parent
		view.UntilEqual(map[string]string{"k": "two"})
		write(t, base+"/two/root", "more", "v")
		view.UntilEqual(map[string]string{"k": "two", "more": "v"})
		swap(base+"/three", base+"/link") // the root
		view.UntilEqual(map[string]string{"k": "three"})
		Must(t, os.Remove(base+"/three/k"))
		view.UntilEqual(map[string]string{})
		Must(t, os.Rename(base+"/three", base+"/four")) // and what the link means
		Must(t, os.Mkdir(base+"/three", 0o755))
		write(t, base+"/three", "last", "v")
		view.UntilEqual(map[string]string{"last": "v"})
		write(t, base+"/four", "never", "v")
		Must(t, s.Delete(Within(t), "last"))
		view.UntilEqual(map[string]string{})
	})
}

func TestARootThatIsNotThereExpiresWhatWasKnown(t *testing.T) {
	withEars(t, func(t *testing.T, p *place) {
		s, reader := p.Open(t), p.Open(t)
		l, err := s.Grant(Within(t), ttl)
		Must(t, err)
		Must(t, s.Create(Within(t), "leased", []byte("v"), l))
		Must(t, s.Create(Within(t), "for ever", []byte("v"), nil))
		view := Watch(t, reader, "")
		view.UntilEqual(map[string]string{"leased": "v", "for ever": "v"})
		Must(t, os.RemoveAll(p.root))
		view.UntilEqual(map[string]string{"for ever": "v"})
		<-l.Lost()
		Must(t, os.Mkdir(p.root, 0o755))
		view.UntilEqual(map[string]string{})
	})
}

func TestARootThatIsReplacedForAMomentLosesNobody(t *testing.T) {
	withEars(t, func(t *testing.T, p *place) {
		s := p.Open(t)
		fleet := Follow(t, p.Open(t))
		r, err := discovery.Register(t.Context(), s, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
		Must(t, err)
		first := fleet.UntilIDs("w0")[0].Incarnation
		for range 3 {
			Must(t, os.Rename(p.root, p.elsewhere))
			<-time.After(ttl / 4)
			Must(t, os.Rename(p.elsewhere, p.root))
			<-time.After(ttl)
		}
		if w, registered, _ := r.Current(); !registered || w.Incarnation != first {
			t.Errorf("the worker is now %v, registered: %v", w, registered)
		}
		if sets := fleet.Sets(); len(sets) > 2 || len(sets[len(sets)-1]) != 1 {
			t.Errorf("the worker set has changed: %v", sets)
		}
		Must(t, r.Stop(Within(t)))
	})
}

func TestWhatIsNoRecordNeverShows(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	write(t, p.root, "good", "v")
	for _, name := range []string{tempPrefix + "0123456789abcdef", ".hidden", "not%2fcanonical", "%41", "ends%2", "a.b", "%FF", "%2Fk"} {
		write(t, p.root, name, "v")
	}
	Must(t, os.Mkdir(p.root+"/directory", 0o755))
	Must(t, os.WriteFile(p.root+"/empty", nil, 0o644))
	Must(t, os.WriteFile(p.root+"/corrupt", []byte("{\"ttl\":\n"), 0o644))
	want := map[string]string{"good": "v"}
	for range 2 {
		if got := Listing(t, s, ""); !maps.Equal(got, want) {
			t.Errorf("there is %v", got)
		}
	}
	const bad = 6 + 3
	if n := s.Stats().Skipped; n != bad {
		t.Errorf("%d files skipped, want %d, each once", n, bad)
	}
	view := Watch(t, s, "")
	view.UntilEqual(want)
	write(t, p.root, ".repaired", "repaired") // written in place, it might be seen half
	Must(t, os.Rename(p.root+"/.repaired", p.root+"/corrupt"))
	view.UntilEqual(map[string]string{"good": "v", "corrupt": "repaired"})
	if n := s.Stats().Skipped; n != 2*bad {
		t.Errorf("%d files skipped, want %d, each once by each reader", n, 2*bad)
	}
}

func TestAFileThatCannotBeReadKeepsItsLastValue(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if os.Geteuid() == 0 {
		t.Skip("for root there are no files that cannot be read; run the tests as another user")
	}
	write(t, p.root, "k", "v")
	s := p.open(t, p.root)
	view := Watch(t, s, "")
	view.UntilEqual(map[string]string{"k": "v"})
	Must(t, os.Chmod(p.root+"/k", 0))
	write(t, p.root, "other", "v")
	view.UntilEqual(map[string]string{"k": "v", "other": "v"})
	Must(t, os.Chmod(p.root+"/k", 0o644))
	write(t, p.root, "k", "w")
	view.UntilEqual(map[string]string{"k": "w", "other": "v"})
}

func TestFilesThatVanishWhileTheyAreListedAreNoError(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			name := fmt.Sprintf("%s/k%d", p.root, i%10)
			_ = os.WriteFile(name, []byte("{}\n"), 0o644) // half a record
			_ = os.Remove(name)
		}
	}()
	write(t, p.root, "stays", "v")
	for {
		if got := Listing(t, s, ""); !maps.Equal(got, map[string]string{"stays": "v"}) {
			t.Fatalf("there is %v", got)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
