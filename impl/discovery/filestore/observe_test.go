package filestore

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery/storetest"
)

// scene is a directory, a reader of it, and a clock of the reader and one of the
// file system that run together but do not show the same time.
type scene struct {
	t       *testing.T
	dir     string
	elapsed time.Duration
	unclear bool // the file system's clock cannot be asked
	skipped int
}

var (
	readerZero = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	filesZero  = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newScene(t *testing.T) *scene { return &scene{t: t, dir: t.TempDir()} }

func (s *scene) observer(steady bool) *observer {
	return &observer{
		steady: steady, now: func() time.Time { return readerZero.Add(s.elapsed) },
		clock:   func(string) (time.Time, bool) { return filesZero.Add(s.elapsed), !s.unclear },
		skip:    func(string, string) { s.skipped++ },
		files:   make(map[string]*file),
		temps:   make(map[string]*sighting),
		skipped: make(map[string]problem),
	}
}

// write writes a record in place.
func (s *scene) write(key, value string, ttl, skew time.Duration) {
	s.t.Helper()
	data, err := envelope{ttl: ttl, owner: "o", value: []byte(value)}.encode()
	storetest.Must(s.t, err)
	name, err := nameOf(key)
	storetest.Must(s.t, err)
	storetest.Must(s.t, os.WriteFile(filepath.Join(s.dir, name), data, 0o644))
	s.touch(key, skew)
}

// touch keeps a record alive, at a time that is off by the skew.
func (s *scene) touch(key string, skew time.Duration) {
	s.t.Helper()
	name, err := nameOf(key)
	storetest.Must(s.t, err)
	at := filesZero.Add(s.elapsed + skew)
	storetest.Must(s.t, os.Chtimes(filepath.Join(s.dir, name), at, at))
}

func (s *scene) sees(o *observer, want ...string) {
	s.t.Helper()
	_, err := o.look(s.dir, "", nil)
	storetest.Must(s.t, err)
	if got := slices.Sorted(maps.Keys(o.living("", false))); !slices.Equal(got, want) {
		s.t.Errorf("after %v the reader sees %v, want %v", s.elapsed, got, want)
	}
}

var skews = []time.Duration{0, time.Hour, -time.Hour, 2 * time.Second, -2 * time.Second, -5 * time.Second, -8 * time.Second, -12 * time.Second}

func TestSkewOfFileTimesKillsNobodyAndKeepsNobody(t *testing.T) {
	const ttl = 10 * time.Second
	for _, skew := range skews {
		t.Run(fmt.Sprint(skew), func(t *testing.T) {
			s := newScene(t)
			o := s.observer(true)
			s.sees(o)
			s.elapsed += time.Second
			s.write("k", "v", ttl, skew)
			for range 100 { // a look every half second, a keep-alive every third of the time to live
				s.sees(o, "k")
				s.elapsed += 500 * time.Millisecond
				if s.elapsed%(3500*time.Millisecond) == 0 {
					s.touch("k", skew)
				}
			}
			s.touch("k", skew) // the last one; the reader looks half a second later
			died := s.elapsed
			s.elapsed += 500 * time.Millisecond
			s.sees(o, "k")
			for s.elapsed < died+ttl {
				s.elapsed += 500 * time.Millisecond
				s.sees(o, "k")
			}
			s.elapsed = died + ttl + 500*time.Millisecond
			s.sees(o)
		})
	}
}

func TestAFirstLookTakesNoStaleRecordAndLosesNoLiveOne(t *testing.T) {
	const ttl = 10 * time.Second
	for _, skew := range skews {
		for phase := range 7 { // of the keep-alive when the reader begins
			t.Run(fmt.Sprint(skew, " ", phase), func(t *testing.T) {
				s := newScene(t)
				s.write("stale", "v", ttl, 0)
				s.write("for ever", "v", 0, 0)
				s.elapsed = 2 * ttl
				s.write("live", "v", ttl, skew)
				s.elapsed += time.Duration(phase) * 500 * time.Millisecond
				o := s.observer(true)
				began, seen := s.elapsed, false
				for s.elapsed < began+5*ttl {
					_, err := o.look(s.dir, "", nil)
					storetest.Must(t, err)
					living := o.living("", false)
					if living["stale"] != nil || living["for ever"] == nil {
						t.Fatalf("after %v: %v", s.elapsed-began, living)
					}
					if seen && living["live"] == nil {
						t.Fatalf("after %v the live record was gone", s.elapsed-began)
					}
					seen = living["live"] != nil
					s.elapsed += 500 * time.Millisecond
					if (s.elapsed-2*ttl)%(3500*time.Millisecond) == 0 {
						s.touch("live", skew)
						seen = seen || s.elapsed > began // from here on it must be there at the next look
						if _, err := o.look(s.dir, "", nil); err != nil || o.living("", false)["live"] == nil {
							t.Fatalf("after %v and a keep-alive the record is not there (%v)", s.elapsed-began, err)
						}
					}
				}
			})
		}
	}
}

func TestAFirstLookWithoutTheFileSystemsTimeGivesEverybodyOneLife(t *testing.T) {
	s := newScene(t)
	s.unclear = true
	s.write("dead", "v", 10*time.Second, 0)
	s.elapsed = time.Hour
	o := s.observer(true)
	s.sees(o, "dead")
	s.elapsed += 9 * time.Second
	s.sees(o, "dead")
	s.elapsed += time.Second
	s.sees(o)
}

func TestASingleListGoesByTheFileSystemsTime(t *testing.T) {
	s := newScene(t)
	s.write("young", "v", 10*time.Second, 0)
	s.write("old", "v", 10*time.Second, -11*time.Second)
	s.elapsed = 9 * time.Second
	s.sees(s.observer(false), "young")
	o := s.observer(false)
	s.sees(o, "young")
	s.elapsed += 2 * time.Second
	s.sees(o)
	s.elapsed += time.Hour
	s.touch("young", 0)
	s.elapsed += 11 * time.Second // it changed since the last list, and has died since
	s.sees(o)
}

func TestAReaderThatPausedLooksBeforeItJudges(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	s.sees(o)
	s.write("live", "v", 2*time.Second, 0)
	s.write("dies", "v", 2*time.Second, 0)
	s.sees(o, "dies", "live")
	s.elapsed += time.Minute
	s.touch("live", 0)
	s.sees(o, "live")
}

func TestTheOwnersTimeToLiveCounts(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	s.sees(o)
	s.write("short", "v", time.Second, 0)
	s.write("long", "v", time.Minute, 0)
	s.sees(o, "long", "short")
	s.elapsed += 2 * time.Second
	s.sees(o, "long")
	s.elapsed += 57 * time.Second
	s.sees(o, "long")
	s.write("long", "v", time.Second, 0) // changed by its owner
	s.sees(o, "long")
	s.elapsed += 2 * time.Second
	s.sees(o)
}

func TestABadFileLeavesTheLastGoodValueUntilItExpires(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	s.sees(o)
	s.write("k", "v", 10*time.Second, 0)
	s.sees(o, "k")
	for i, text := range []string{"", "{", `{"ttl":10000,"owner":"o","size":9}` + "\nv"} {
		s.elapsed += 9 * time.Second
		storetest.Must(t, os.WriteFile(filepath.Join(s.dir, "k"), []byte(text), 0o644))
		s.touch("k", 0)
		s.sees(o, "k")
		s.sees(o, "k")
		if s.skipped != i+1 {
			t.Errorf("%d files skipped, want %d: each change counts once", s.skipped, i+1)
		}
		if len(o.living("", true)) > 0 {
			t.Error("a list has a record that cannot be read")
		}
	}
	s.elapsed += 10 * time.Second
	s.sees(o)
	s.write("k", "again", 10*time.Second, 0)
	s.sees(o, "k")
}

func TestAChangeWithinOneTickOfTheFileSystemIsSeen(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	s.sees(o)
	s.write("k", "one", 10*time.Second, 0)
	s.sees(o, "k")
	s.write("k", "two", 10*time.Second, 0) // as large, at the same time
	s.sees(o, "k")
	if got := string(o.living("", false)["k"]); got != "two" {
		t.Errorf("the reader knows %q", got)
	}
	s.sees(o, "k")
	s.write("k", "six", 10*time.Second, 0) // later within the tick: only notification tells
	_, err := o.look(s.dir, "", map[string]bool{"k": true})
	storetest.Must(t, err)
	if got := string(o.living("", false)["k"]); got != "six" {
		t.Errorf("with a hint the reader knows %q", got)
	}
}

func TestAnotherDirectoryInItsPlaceIsNoNewLife(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	s.sees(o)
	s.write("live", "v", 10*time.Second, 0)
	s.write("dead", "v", 10*time.Second, 0)
	s.sees(o, "dead", "live")
	s.elapsed += 9 * time.Second
	s.touch("live", 0)
	s.sees(o, "dead", "live")
	s.elapsed += time.Second
	s.sees(o, "live")
	old := s.dir
	s.dir = t.TempDir() // a copy with all times
	for _, name := range []string{"live", "dead"} {
		data, err := os.ReadFile(filepath.Join(old, name))
		storetest.Must(t, err)
		info, err := os.Stat(filepath.Join(old, name))
		storetest.Must(t, err)
		storetest.Must(t, os.WriteFile(filepath.Join(s.dir, name), data, 0o644))
		storetest.Must(t, os.Chtimes(filepath.Join(s.dir, name), info.ModTime(), info.ModTime()))
	}
	replaced, err := o.look(s.dir, "", nil)
	if err != nil || !replaced {
		t.Errorf("look = %v, %v, want another directory", replaced, err)
	}
	s.sees(o, "live")
}

func TestOnlyWhatIsSurelyDeadMayBeSwept(t *testing.T) {
	s := newScene(t)
	o := s.observer(true)
	temp := filepath.Join(s.dir, tempPrefix+"0123456789abcdef")
	s.write("dead", "v", 10*time.Second, -time.Hour)
	s.write("for ever", "v", 0, -time.Hour)
	storetest.Must(t, os.WriteFile(temp, nil, 0o644))
	storetest.Must(t, os.WriteFile(filepath.Join(s.dir, "bad"), nil, 0o644))
	storetest.Must(t, os.WriteFile(filepath.Join(s.dir, lockName), nil, 0o644))
	swept := func(want ...string) {
		t.Helper()
		s.sees(o, "for ever")
		if got := slices.Sorted(maps.Keys(o.expired(15 * time.Second))); !slices.Equal(got, want) {
			t.Errorf("after %v these may be swept: %v, want %v", s.elapsed, got, want)
		}
	}
	swept()
	s.elapsed += 14 * time.Second
	swept()
	s.elapsed += time.Second
	swept(filepath.Base(temp))
	s.elapsed += 5 * time.Second
	swept(filepath.Base(temp))
	s.elapsed += time.Second
	swept(filepath.Base(temp), "dead")
}

// moving calls do with the number of the file that is looked at, before it is.
func (s *scene) moving(o *observer, do func(n int)) {
	now, n := o.now, 0
	o.now = func() time.Time {
		do(n)
		n++
		return now()
	}
}

func TestADirectoryThatIsMovedDuringALookLosesNobody(t *testing.T) {
	keys := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		back   int // the number of the file at which it is back; -1: not
		other  bool
		failed bool
	}{
		"away":               {back: -1, failed: true},
		"away and back":      {back: 1},
		"another in its way": {back: -1, other: true, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.dir = filepath.Join(s.dir, "root")
			storetest.Must(t, os.Mkdir(s.dir, 0o755))
			for _, key := range keys {
				s.write(key, "v", 0, 0)
			}
			o := s.observer(true)
			s.sees(o, keys...)
			s.moving(o, func(n int) {
				switch {
				case n == 0:
					storetest.Must(t, os.Rename(s.dir, s.dir+"-away"))
					if c.other {
						storetest.Must(t, os.Mkdir(s.dir, 0o755))
					}
				case n == c.back:
					storetest.Must(t, os.Rename(s.dir+"-away", s.dir))
				}
			})
			if _, err := o.look(s.dir, "", nil); (err != nil) != c.failed {
				t.Errorf("look: %v", err)
			}
			if got := slices.Sorted(maps.Keys(o.living("", false))); !slices.Equal(got, keys) {
				t.Errorf("the reader sees %v", got)
			}
		})
	}
}
