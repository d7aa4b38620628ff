package dir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// inode tells files apart that have the same name.
func (b *bed) inode(key string) uint64 {
	b.t.Helper()
	var st syscall.Stat_t
	b.must(syscall.Lstat(filepath.Join(b.Root(), key), &st))
	return st.Ino
}

func TestWritesDifferInWhatTheyDoToTheFile(t *testing.T) {
	b := open(t, Options{})
	b.must(b.PutRaw(b.ctx, "a", []byte("one")))
	held, err := os.Open(filepath.Join(b.Root(), "a")) // keeps its inode from being used again
	b.must(err)
	defer held.Close()
	was := b.inode("a")
	b.must(b.WriteInPlace(b.ctx, "a", []byte("in place")))
	b.want("a=in place")
	if b.inode("a") != was {
		t.Error("a write in place made a new file")
	}
	b.must(b.RenameOver(b.ctx, "a", []byte("1"), []byte("2"), []byte("3"), []byte("4"), []byte("5")))
	b.want("a=5")
	if b.inode("a") == was {
		t.Error("an atomic rename kept the file")
	}
	if err := b.WriteInPlace(b.ctx, "none/b", nil); err == nil {
		t.Error("an in-place write made a directory")
	}
}

func TestAnOwnerGoesOnWithWhatItsRecordBecame(t *testing.T) {
	b := open(t, Options{Render: func(e registrar.Entry, _ time.Time) []byte { return e.Value }})
	value := func(key, want string) {
		t.Helper()
		b.until(key+" is written anew as "+want, func() bool {
			was := b.inode(key)
			b.until(key+" is refreshed", func() bool { return b.inode(key) != was })
			got, err := os.ReadFile(filepath.Join(b.Root(), key))
			b.must(err)
			return string(got) == want
		})
	}
	for _, key := range []string{"a", "b", "c"} {
		b.register(key, 300*time.Millisecond)
	}
	b.must(b.WriteInPlace(b.ctx, "a", []byte("in place")))
	b.must(b.RenameOver(b.ctx, "b", []byte("1"), []byte("2")))
	b.must(b.SwapLink(b.ctx, "c", []byte("linked")))
	value("a", "in place")
	value("b", "2")
	value("c", "linked")
	b.must(b.RenameOver(b.ctx, "b"))                       // nothing at all
	b.must(b.WriteInPlace(b.ctx, "d", []byte("nobody's"))) // and nobody to go on with it
}

func TestAnOwnersClockMayBeWrong(t *testing.T) {
	for name, o := range map[string]Options{"touch": {}, "rewrite": {Render: func(e registrar.Entry, _ time.Time) []byte { return e.Value }}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, o)
			b.register("a", 300*time.Millisecond)
			for _, off := range []time.Duration{time.Hour, -time.Hour, 0} {
				b.must(b.Skew(b.ctx, "a", off))
				b.until("its file has the time of that clock, and goes on", func() bool {
					first := b.modified("a")
					if d := time.Since(first) + off; d < -time.Minute || d > time.Minute {
						return false
					}
					b.until("it goes on", func() bool { return b.modified("a").After(first) })
					return true
				})
			}
		})
	}
}

func TestALinkIsSwappedInOneStep(t *testing.T) {
	b := open(t, Options{})
	b.must(b.PutRaw(b.ctx, "a", []byte("file")))
	seen := map[string]bool{}
	for _, v := range []string{"one", "two"} {
		b.must(b.SwapLink(b.ctx, "a", []byte(v)))
		b.want("a=" + v)
		records, err := b.List(b.ctx)
		b.must(err)
		if to := records[0].Link; to == "" || strings.HasPrefix(to, b.Root()+"/") || seen[to] {
			t.Errorf("the link leads to %q", to)
		} else {
			seen[to] = true
		}
	}
	n := 0
	for to := range seen {
		if exists(to) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d targets are left, want the last one only", n)
	}
	b.must(b.DeleteRaw(b.ctx, "a"))
	b.want()
}

func TestAFileThatIsRenamedAwayIsGoneFromTheRoot(t *testing.T) {
	b := open(t, Options{})
	b.register("a", time.Minute)
	b.must(b.RenameAway(b.ctx, "a"))
	b.want()
	if lapse, err := b.Thaw(b.ctx, "a"); err != nil || lapse != registrar.Gone {
		t.Errorf("the owner finds it %v, %v", lapse, err)
	}
	if err := b.RenameAway(b.ctx, "a"); err == nil {
		t.Error("a missing file was renamed away")
	}
}

func TestAReplacedRootHoldsTheSameFiles(t *testing.T) {
	b := open(t, Options{})
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	b.must(b.PutRaw(b.ctx, "d/a", []byte("v")))
	b.must(b.SetTime(b.ctx, "d/a", old))
	b.must(b.SwapLink(b.ctx, "l", []byte("w")))
	watched, err := os.Open(b.Root())
	b.must(err)
	defer watched.Close()
	b.must(b.ReplaceRoot(b.ctx))
	b.want("d/a=v", "l=w")
	if !b.modified("d/a").Equal(old) {
		t.Errorf("times are not kept: %s", b.modified("d/a"))
	}
	was, err := watched.Stat()
	b.must(err)
	now, err := os.Stat(b.Root())
	b.must(err)
	if os.SameFile(was, now) {
		t.Error("it is the same directory")
	}
	if now.Mode() != was.Mode() {
		t.Errorf("mode %s, was %s", now.Mode(), was.Mode())
	}
}

func TestARootMayGoAndComeBack(t *testing.T) {
	b := open(t, Options{Reregister: true})
	b.register("a", 300*time.Millisecond)
	b.must(b.RemoveRoot(b.ctx))
	b.must(b.MakeRoot(b.ctx))
	b.until("the record again", func() bool { return !b.modified("a").IsZero() })
	b.must(b.RemoveAll(b.ctx))
	if !exists(b.Root()) {
		t.Error("RemoveAll removed the root")
	}
}

func TestOrphansLookLikeTemporaryFiles(t *testing.T) {
	b := open(t, Options{Temp: "_t."})
	key, err := b.Orphan(b.ctx, "d/a", []byte("half"))
	b.must(err)
	if !strings.HasPrefix(key, "d/_t.") {
		t.Errorf("orphan %q", key)
	}
	b.want(key + "=half")
	b.must(b.MakeDir(b.ctx, "d/x"))
	b.must(b.SetMode(b.ctx, key, 0))
	if info, err := os.Stat(filepath.Join(b.Root(), key)); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("mode %v, %v", info, err)
	}
	b.must(b.SetMode(b.ctx, key, 0o644))
	b.must(b.RemoveAll(b.ctx))
	b.want()
}

func TestFaultsAreWrittenDownWithTheirTimes(t *testing.T) {
	b := open(t, Options{})
	before := time.Now()
	b.must(b.PutRaw(b.ctx, "a", nil))
	b.must(b.SetTime(b.ctx, "a", before.Add(time.Hour)))
	b.must(b.RenameAway(b.ctx, "a"))
	b.must(b.ReplaceRoot(b.ctx))
	if err := b.RenameAway(b.ctx, "a"); err == nil {
		t.Error("no error")
	}
	var ops []string
	for _, e := range b.Log().Events(0) {
		ops = append(ops, string(e.Op))
		if e.Began.Before(before) || e.Done.Before(e.Began) || e.Done.After(time.Now()) {
			t.Errorf("times of %v", e)
		}
	}
	if got := strings.Join(ops, " "); got != "put fault deleted fault deleted" {
		t.Errorf("the log has %s", got)
	}
	events := b.Log().Events(4)
	if len(events) != 1 || events[0].Err == nil || !strings.Contains(events[0].String(), "renamed away") {
		t.Errorf("the failed one: %v", events)
	}
}
