package dir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

type bed struct {
	t *testing.T
	*Registrar
	ctx context.Context
}

func open(t *testing.T, o Options) *bed {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := New(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return &bed{t, r, ctx}
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) register(key string, ttl time.Duration) {
	b.t.Helper()
	b.must(b.Register(b.ctx, registrar.Entry{Key: key, Value: []byte("v"), TTL: ttl}))
}

// want compares the store with key=value pairs.
func (b *bed) want(pairs ...string) {
	b.t.Helper()
	records, err := b.List(b.ctx)
	b.must(err)
	got := []string{}
	for _, r := range records {
		got = append(got, r.Key+"="+string(r.Value))
	}
	if !slices.Equal(got, pairs) {
		b.t.Errorf("stored %q, want %q", got, pairs)
	}
}

// until polls, for what the file system shows.
func (b *bed) until(what string, seen func() bool) {
	b.t.Helper()
	for !seen() {
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("not seen in time: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (b *bed) modified(key string) time.Time {
	info, err := os.Stat(filepath.Join(b.Root(), key))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func TestARecordIsAFileNamedLikeItsKey(t *testing.T) {
	b := open(t, Options{})
	b.register("v1/instances/a", time.Minute)
	b.register("w", time.Minute)
	b.want("v1/instances/a=v", "w=v")
	b.must(b.Update(b.ctx, "w", []byte("new")))
	b.want("v1/instances/a=v", "w=new")
	b.must(b.Unregister(b.ctx, "v1/instances/a"))
	b.want("w=new")
	b.must(b.Close())
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(b.Root()), "*")); len(left) != 1 {
		t.Errorf("left beside the root: %v", left)
	}
	if left, _ := os.ReadDir(b.Root()); len(left) != 1 || left[0].Name() != "v1" {
		t.Errorf("left below the root: %v", left)
	}
}

func TestAKeepAliveSetsTheTimesAndKeepsTheContent(t *testing.T) {
	b := open(t, Options{})
	b.register("a", 300*time.Millisecond)
	b.must(b.PutRaw(b.ctx, "a", []byte("other")))
	at := b.modified("a")
	b.until("new times", func() bool { return b.modified("a").After(at) })
	b.want("a=other")
	b.must(b.Abandon("a"))
	at = b.modified("a")
	alive, _ := b.Log().LastAlive("a")
	if at.After(alive.Done) {
		t.Errorf("touched at %s, after what the log has: %s", at, alive.Done)
	}
}

func TestAKeepAliveMayWriteTheRecordAnew(t *testing.T) {
	b := open(t, Options{Render: func(e registrar.Entry, now time.Time) []byte {
		return []byte(string(e.Value) + "@" + now.UTC().Format(time.RFC3339Nano))
	}})
	b.register("a", 300*time.Millisecond)
	first, err := os.ReadFile(filepath.Join(b.Root(), "a"))
	b.must(err)
	b.until("new content", func() bool {
		again, _ := os.ReadFile(filepath.Join(b.Root(), "a"))
		return strings.HasPrefix(string(again), "v@") && string(again) != string(first)
	})
}

func TestThawSaysWhatBecameOfTheFile(t *testing.T) {
	b := open(t, Options{})
	for _, c := range []struct {
		key  string
		then func(key string) error
		want registrar.Lapse
	}{
		{"untouched", func(string) error { return nil }, registrar.Kept},
		{"old", func(k string) error { return b.SetTime(b.ctx, k, time.Now().Add(-2*time.Minute)) }, registrar.Expired},
		{"swept", func(k string) error { return os.Remove(filepath.Join(b.Root(), k)) }, registrar.Gone},
	} {
		b.register(c.key, time.Minute)
		b.must(b.Freeze(b.ctx, c.key))
		b.must(c.then(c.key))
		got, err := b.Thaw(b.ctx, c.key)
		b.must(err)
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.key, got, c.want)
		}
	}
	if time.Since(b.modified("old")) > time.Minute {
		t.Error("the expired file was not refreshed")
	}
}

func TestASweptRecordIsWrittenAgainWhereThatIsAskedFor(t *testing.T) {
	b := open(t, Options{Reregister: true})
	b.register("a", 300*time.Millisecond)
	b.must(b.DeleteRaw(b.ctx, "a"))
	b.until("the record again", func() bool { return !b.modified("a").IsZero() })
}

func TestKeysStayBelowTheRoot(t *testing.T) {
	b := open(t, Options{})
	for _, key := range []string{"../x", "/x", "a/../../x", "a//b", ".", "x\x00y", "a/"} {
		if err := b.PutRaw(b.ctx, key, nil); err == nil {
			t.Errorf("PutRaw(%q) worked", key)
		}
		if err := b.Register(b.ctx, registrar.Entry{Key: key, TTL: time.Minute}); err == nil {
			t.Errorf("Register(%q) worked", key)
		}
	}
	b.want()
}

func TestABadRootIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{file, file + "-missing"} {
		if _, err := New(root, Options{}); err == nil || !strings.Contains(err.Error(), root) {
			t.Errorf("New(%s) = %v", root, err)
		}
	}
}

func TestARootBehindALinkIsTheDirectoryItself(t *testing.T) {
	b := open(t, Options{})
	link := filepath.Join(t.TempDir(), "link")
	b.must(os.Symlink(b.Root(), link))
	r, err := New(link, Options{})
	b.must(err)
	defer r.Close()
	b.must(r.PutRaw(b.ctx, "a", []byte("v")))
	b.must(r.ReplaceRoot(b.ctx))
	b.want("a=v")
	if to, err := os.Readlink(link); err != nil || to != b.Root() {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestAfterCloseNothingIsDone(t *testing.T) {
	b := open(t, Options{})
	b.must(b.Close())
	_, list := b.List(b.ctx)
	for what, err := range map[string]error{"PutRaw": b.PutRaw(b.ctx, "a", nil), "RemoveAll": b.RemoveAll(b.ctx), "List": list} {
		if !errors.Is(err, registrar.ErrClosed) {
			t.Errorf("%s after Close = %v", what, err)
		}
	}
	b.must(b.Close())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
