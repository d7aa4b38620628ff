package filestore

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	. "github.com/routeproof/routeproof/impl/discovery/storetest"
)

// tree makes directories (that end with a slash) and links (a -> b) below a
// directory without symbolic links in its path.
func tree(t *testing.T, items ...string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	Must(t, err)
	for _, item := range items {
		var link, target string
		if n, _ := fmt.Sscanf(item, "%s -> %s", &link, &target); n == 2 {
			Must(t, os.Symlink(target, filepath.Join(base, link)))
		} else {
			Must(t, os.MkdirAll(filepath.Join(base, item), 0o755))
		}
	}
	return base
}

func TestTheWayToTheRootIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		tree  []string
		root  string
		dir   string
		names []string
	}{
		"a directory":       {[]string{"d/"}, "d", "d", []string{"d"}},
		"a link":            {[]string{"d/", "l -> d"}, "l", "d", []string{"l", "d"}},
		"a link upwards":    {[]string{"a/d/", "e/", "a/l -> ../e"}, "a/l", "e", []string{"a/l", "e"}},
		"a link behind":     {[]string{"a/d/", "l -> a"}, "l/d", "a/d", []string{"l", "a/d"}},
		"links to links":    {[]string{"d/", "l -> m", "m -> ./d"}, "l", "d", []string{"l", "m", "d"}},
		"nothing yet":       {[]string{"a/"}, "a/d/e", "a", []string{"a/d"}},
		"a link to nowhere": {[]string{"a/", "l -> a/d"}, "l", "a", []string{"l", "a/d"}},
		"a circle":          {[]string{"l -> m", "m -> l"}, "l", ".", nil},
	} {
		t.Run(name, func(t *testing.T) {
			base := tree(t, c.tree...)
			got := find(filepath.Join(base, c.root))
			if want := filepath.Join(base, c.dir); got.dir != want {
				t.Errorf("the root is %s, want %s", got.dir, want)
			}
			if c.names == nil {
				return
			}
			var want []string
			for _, n := range c.names {
				want = append(want, filepath.Join(base, n))
			}
			if !slices.Equal(got.names, want) {
				t.Errorf("what leads there is %v, want %v", got.names, want)
			}
		})
	}
}

func TestWhatConcernsTheRoot(t *testing.T) {
	w := way{dir: "/d/root", names: []string{"/l", "/d/root"}}
	for _, c := range []struct {
		name          string
		op            fsnotify.Op
		record, moved bool
	}{
		{"/d/root/k", fsnotify.Create, true, false}, {"/d/root/k", fsnotify.Write, true, false}, {"/d/root/k", fsnotify.Remove, true, false}, {"/d/root/k", fsnotify.Rename, true, false},
		{"/d/root/k", fsnotify.Chmod, false, false}, {"/d/root/k", fsnotify.Chmod | fsnotify.Write, true, false},
		{"/d/root/.tmp-1", fsnotify.Create, false, false}, {"/d/root", fsnotify.Remove, true, true}, {"/d/root", fsnotify.Rename, true, true}, {"/d/root", fsnotify.Chmod, true, false},
		{"/l", fsnotify.Create, true, true}, {"/d/other", fsnotify.Create, false, false}, {"/m", fsnotify.Create, false, false},
	} {
		if record, moved := w.concerns(fsnotify.Event{Name: c.name, Op: c.op}); record != c.record || moved != c.moved {
			t.Errorf("%s %v: %v, %v", c.op, c.name, record, moved)
		}
	}
}

func TestListeningFollowsTheRoot(t *testing.T) {
	base := tree(t, "one/root/", "two/root/", "via -> one")
	var made []*fake
	e := &ears{root: base + "/via/root", log: slog.New(slog.DiscardHandler), make: func() (Watcher, error) {
		made = append(made, newFake())
		return made[len(made)-1], nil
	}}
	defer e.close()
	e.listen()
	e.listen()
	if len(made) != 1 || !slices.Contains(made[0].dirs, base+"/one/root") || !slices.Contains(made[0].dirs, base+"/one") || !slices.Contains(made[0].dirs, base) {
		t.Fatalf("%d watchers, the first at %v", len(made), made[0].dirs)
	}
	Must(t, os.Remove(base+"/via"))
	Must(t, os.Symlink("two", base+"/via"))
	e.listen()
	if len(made) != 2 || !slices.Contains(made[1].dirs, base+"/two/root") {
		t.Errorf("%d watchers, the last at %v", len(made), made[len(made)-1].dirs)
	}
	select {
	case <-made[0].ended:
	default:
		t.Error("the first watcher was not closed")
	}
	e.stale = true // as after an event of the root itself
	e.listen()
	if len(made) != 3 {
		t.Errorf("%d watchers", len(made))
	}
}

// Looking alone takes half a second for each change at worst, and a quarter on average.
func TestNotificationMakesItFasterWhereverTheRootGoes(t *testing.T) {
	base := tree(t, "one/root/", "two/root/", "via -> one")
	s := (&place{change: func(*Config) {}}).open(t, base+"/via/root")
	view := Watch(t, s, "")
	view.UntilEqual(map[string]string{})
	quick := func(where string) {
		t.Helper()
		const changes = 10
		var took time.Duration
		for i := range changes {
			<-time.After(4 * quickest) // after a change the store looks again soon, which is not what is tested
			began := time.Now()
			write(t, base+"/via/root", "k", fmt.Sprint(where, i))
			view.UntilEqual(map[string]string{"k": fmt.Sprint(where, i)})
			took += time.Since(began)
		}
		t.Logf("%s: %d changes were seen within %v", where, changes, took)
		if took > changes*slowest/4 {
			t.Errorf("%s: %d changes were seen within %v", where, changes, took)
		}
	}
	quick("at first")
	Must(t, os.Symlink("two", base+"/new"))
	Must(t, os.Rename(base+"/new", base+"/via"))
	quick("behind another link")
	Must(t, os.Rename(base+"/two/root", base+"/two/old"))
	Must(t, os.Mkdir(base+"/two/root", 0o755))
	quick("in another directory")
	Must(t, os.RemoveAll(base+"/two/root"))
	Must(t, os.Mkdir(base+"/two/root", 0o755))
	quick("removed and made again")
}
