package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	. "github.com/routeproof/routeproof/impl/discovery/storetest"
)

func TestOpenTouchesNothingAndNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := Open(Config{}); err == nil || !strings.Contains(err.Error(), "root") {
		t.Errorf("without a root: %v", err)
	}
	root := filepath.Join(t.TempDir(), "a", "b")
	s := (&place{change: func(*Config) {}}).open(t, root)
	for call, err := range map[string]error{"Put": s.Put(t.Context(), "k", nil, nil), "Delete": s.Delete(t.Context(), "k"), "Replace": s.Replace(t.Context(), "k", nil, nil)} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make the directory") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("the root was made")
	}
	maker := (&place{change: func(c *Config) { c.MakeRoot = true }}).open(t, root)
	if _, err := maker.List(t.Context(), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list made the root: %v", err)
	}
	Must(t, maker.Put(t.Context(), "k", []byte("v"), nil))
	if got := Listing(t, s, ""); !maps.Equal(got, map[string]string{"k": "v"}) {
		t.Errorf("there is %v", got)
	}
}

func TestARootThatIsAFileIsSaid(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "file")
	Must(t, os.WriteFile(root, nil, 0o644))
	s := (&place{change: func(*Config) {}}).open(t, root)
	if err := s.Put(t.Context(), "k", nil, nil); !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "must be a directory") {
		t.Errorf("Put: %v", err)
	}
	view := Watch(t, s, "")
	Must(t, os.Remove(root))
	Must(t, os.Mkdir(root, 0o755))
	view.UntilEqual(map[string]string{})
}

func TestFilesAreAsDocumented(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	l, err := s.Grant(Within(t), 3*time.Second)
	Must(t, err)
	Must(t, s.Create(Within(t), "workers/w0/7.1", []byte("line\nline"), l))
	Must(t, s.Put(Within(t), "k", nil, nil))
	data, err := os.ReadFile(p.root + "/workers%2Fw0%2F7%2E1")
	Must(t, err)
	if want := fmt.Sprintf("{\"ttl\":3000,\"owner\":%q,\"size\":9}\nline\nline", l.(*lease).owner); string(data) != want {
		t.Errorf("the file holds %q, want %q", data, want)
	}
	names := map[string]bool{}
	entries, err := os.ReadDir(p.root)
	Must(t, err)
	for _, e := range entries {
		names[e.Name()] = true
	}
	if !maps.Equal(names, map[string]bool{"workers%2Fw0%2F7%2E1": true, "k": true, lockName: true}) {
		t.Errorf("the files are %v", names)
	}
}

func TestKeepAliveGoesByTheFileSystemsClock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	l, err := s.Grant(Within(t), ttl)
	Must(t, err)
	Must(t, s.Create(Within(t), "k", []byte("v"), l))
	old := time.Now().Add(-time.Hour)
	Must(t, os.Chtimes(p.root+"/k", old, old)) // somebody else's doing, with the content as it was
	Eventually(t, "the file's time to be the file system's again", func() bool {
		info, err := os.Stat(p.root + "/k")
		Must(t, err)
		now, ok := s.clock(p.root)
		return ok && now.Sub(info.ModTime()).Abs() < ttl
	}, func() any { return "an old time" })
	select {
	case <-l.Lost():
		t.Error("the lease is lost")
	default:
	}
}

func TestOwnersWithShiftedTimesLiveAndDieAsOthers(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(fmt.Sprint(skew), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			before := Watch(t, p.Open(t), "") // one that was there before, and one that comes later
			before.UntilEqual(map[string]string{})
			touch := func() {
				now := time.Now().Add(skew)
				Must(t, os.Chtimes(p.root+"/k", now, now))
			}
			Must(t, os.WriteFile(p.root+"/k", record(t, "v", ttl), 0o644))
			touch()
			before.UntilEqual(map[string]string{"k": "v"})
			later := Watch(t, p.Open(t), "")
			var died time.Time
			for range 9 {
				<-time.After(ttl / 3)
				touch()
				died = time.Now()
			}
			later.UntilEqual(map[string]string{"k": "v"})
			for name, v := range map[string]*View{"before": before, "later": later} {
				v.UntilEqual(map[string]string{})
				took := time.Since(died)
				t.Logf("%s: gone after %v", name, took)
				deletes := 0
				for _, e := range v.Events() {
					if e.Kind == discovery.Delete {
						deletes++
					}
				}
				if deletes != 1 {
					t.Errorf("%s: the record went %d times", name, deletes)
				}
				if limit := ttl + time.Second + 3*time.Second; took > limit {
					t.Errorf("%s: gone after %v, later than %v", name, took, limit)
				}
			}
		})
	}
}

func TestExpiredAndAbandonedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.change = func(c *Config) { c.TempAge = 300 * time.Millisecond }
	Must(t, os.WriteFile(p.root+"/dead", record(t, "v", discovery.MinTTL), 0o644))
	Must(t, os.WriteFile(p.root+"/corrupt", []byte("?"), 0o644))
	write(t, p.root, "for%20ever", "v")
	write(t, p.root, tempPrefix+"0123456789abcdef", "v")
	s, reader := p.open(t, p.root), p.open(t, p.root)
	l, err := s.Grant(Within(t), 4*discovery.MinTTL)
	Must(t, err)
	Must(t, s.Create(Within(t), "live", []byte("v"), l))
	Watch(t, reader, "")
	Eventually(t, "two files to be removed", func() bool { return reader.Stats().Swept == 2 }, func() any { return reader.Stats() })
	for name, there := range map[string]bool{"dead": false, tempPrefix + "0123456789abcdef": false, "corrupt": true, "for%20ever": true, "live": true} {
		if _, err := os.Lstat(filepath.Join(p.root, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case <-l.Lost():
		t.Error("a live owner's file was removed")
	default:
	}
}

func TestWithoutHardLinksOneCreatorWinsToo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stores := []*Store{p.open(t, p.root), p.open(t, p.root)}
	for _, s := range stores {
		s.link = func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} }
	}
	for round := range 5 {
		key := fmt.Sprint(round)
		var wg sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			wg.Go(func() { errs[i] = stores[i%2].Create(Within(t), key, fmt.Append(nil, i), nil) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, discovery.ErrExists) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d creators won", won)
		}
	}
}

func TestALockThatIsHeldDoesNotStopCreationAndKeepAlive(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	l, err := s.Grant(Within(t), ttl)
	Must(t, err)
	unlock, err := s.lock(Within(t), p.root) // as a process that was stopped just then
	Must(t, err)
	Must(t, s.Create(Within(t), "k", []byte("v"), l))
	began := time.Now()
	if err := s.Put(Within(t), "k", []byte("w"), nil); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("Put: %v", err)
	}
	t.Logf("given up after %v", time.Since(began))
	select {
	case <-l.Lost():
		t.Error("the lease was lost meanwhile")
	default:
	}
	unlock()
	Must(t, s.Put(Within(t), "k", []byte("w"), nil))
}

func TestCreatingWhereARecordMayHaveDiedWaitsUntilThatIsSure(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.root)
	old := time.Now().Add(-time.Hour)
	put := func(name string) {
		Must(t, os.WriteFile(filepath.Join(p.root, name), record(t, "v", ttl), 0o644))
		Must(t, os.Chtimes(filepath.Join(p.root, name), old, old))
	}
	put("dead")
	put("shifted")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // an owner whose clock is an hour behind
		defer close(stopped)
		for at := old; ; at = at.Add(ttl / 6) {
			_ = os.Chtimes(p.root+"/shifted", at, at)
			select {
			case <-stop:
				return
			case <-time.After(ttl / 6):
			}
		}
	}()
	began := time.Now()
	Must(t, s.Create(Within(t), "dead", []byte("w"), nil))
	if took := time.Since(began); took < ttl {
		t.Errorf("after %v it was not sure yet", took)
	}
	if got := Listing(t, s, ""); got["dead"] != "w" {
		t.Errorf("there is %v", got)
	}
	ctx := Within(t)
	short, cancel := context.WithTimeout(ctx, 2*ttl)
	defer cancel()
	if err := s.Create(short, "shifted", []byte("w"), nil); err == nil {
		t.Error("a live owner's record was taken for dead")
	}
	close(stop)
	<-stopped
	Must(t, s.Create(ctx, "shifted", []byte("w"), nil))
}

func TestAnOwnerWhoseFileIsDamagedLosesItsLease(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 5) },
		"overwritten": func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) },
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := p.open(t, p.root)
			l, err := s.Grant(Within(t), ttl)
			Must(t, err)
			Must(t, s.Create(Within(t), "k", []byte("v"), l))
			Must(t, damage(p.root+"/k"))
			select {
			case <-l.Lost():
			case <-time.After(Patience):
				t.Error("not lost")
			}
			_ = l.Close(Within(t)) // a directory cannot be removed
		})
	}
}
