package filestore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	tempPrefix = ".tmp-"
	lockName   = ".lock"
	// fresh is how recent an earlier look must be for a change since then to count
	// as having happened now.
	fresh = time.Second
	// minHold is how long a record lives on at least when the file system is writable again.
	minHold = 2 * time.Second
)

// observer remembers what one reader has seen of a directory, and says what lives.
// It is not safe for concurrent use.
type observer struct {
	steady bool // looks again and again: what is new or has changed is so since the last look
	now    func() time.Time
	clock  func(dir string) (time.Time, bool) // the file system's present, if it can be had
	skip   func(name, problem string)         // called once for each change of what is skipped

	files   map[string]*file     // by file name
	temps   map[string]*sighting // by file name
	skipped map[string]problem   // by file name: what was reported
	dir     os.FileInfo          // the directory that was looked at last
	looks   int
}

// file is what is known of one record.
type file struct {
	key    string
	last   sighting
	looked time.Time // when it was looked at last
	alive  time.Time // when it showed life last
	good   bool      // there is a value: the last good one
	bad    bool      // what is there now is no record, or cannot be read; the last good value stays
	unsure bool      // it has just changed, and may again within one tick of the file system's clock
	turned bool      // what changed was its content
	lived  bool      // it did when living was called last
	env    envelope
}

// sighting is a file as it is, and since when it has been like that at least.
type sighting struct {
	info  os.FileInfo
	since time.Time
}

// unchanged says whether the file looks as it did. The name of another file with
// the same content does so too, when its times were kept.
func (s sighting) unchanged(info os.FileInfo) bool {
	return s.info != nil && s.info.ModTime().Equal(info.ModTime()) && s.info.Size() == info.Size()
}

// live says whether the record lived when it was looked at last.
func (f *file) live() bool {
	return f.good && (f.env.ttl == 0 || f.looked.Sub(f.alive) < f.env.ttl)
}

// look looks at the directory, or at what is below the prefix there; what is hinted
// at by file name is read even if it looks unchanged. It says whether the directory
// is another one than before. After an error nobody has vanished.
func (o *observer) look(dir, prefix string, hints map[string]bool) (replaced bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = d.Close() }()
	info, err := d.Stat()
	if err != nil {
		return false, err
	}
	names, err := d.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	present := make(map[string]bool, len(names))
	var cold coldClock
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			o.temp(dir, name, present)
			continue
		}
		key, err := keyOf(name)
		switch {
		case err != nil:
			present[name] = true
			o.report(name, err.Error(), 0)
		case discovery.Below(prefix, key):
			present[name] = o.record(dir, name, key, hints[name], &cold)
		default:
			present[name] = true
		}
	}
	if err := o.settle(dir, info, present); err != nil {
		return false, err
	}
	replaced = o.dir != nil && !os.SameFile(o.dir, info)
	o.dir = info
	o.looks++
	return replaced, nil
}

// settle forgets what is not present. The directory may have been moved away during
// the look; then its files seem to have vanished, and it is the look that is worth
// nothing.
func (o *observer) settle(dir string, looked os.FileInfo, present map[string]bool) error {
	now, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(looked, now) {
		return errMoved
	}
	for name := range o.files {
		if !present[name] {
			_, err := os.Lstat(filepath.Join(dir, name))
			present[name] = err == nil // it was away and is back
		}
	}
	forget(o.files, present)
	forget(o.temps, present)
	forget(o.skipped, present)
	return nil
}

var errMoved = errors.New("another directory has taken its place just now")

func forget[V any](m map[string]V, present map[string]bool) {
	for name := range m {
		if !present[name] {
			delete(m, name)
		}
	}
}

// record looks at one file and says whether it is there.
func (o *observer) record(dir, name, key string, hint bool, cold *coldClock) bool {
	path := filepath.Join(dir, name)
	now := o.now() // before the look: a reader that is stopped in between must not take its own pause for the owner's
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err != nil {
			return false // it has just vanished
		}
		o.report(name, "is a symbolic link to nothing", 0)
		delete(o.files, name)
		return true
	case err != nil:
		o.report(name, "cannot be looked at: "+err.Error(), 0)
		if f := o.files[name]; f != nil {
			f.bad = true
		}
		return true
	case !info.Mode().IsRegular():
		o.report(name, "is no regular file", 0)
		delete(o.files, name)
		return true
	}
	f := o.files[name]
	if f == nil {
		f = &file{key: key}
	} else if f.last.unchanged(info) && os.SameFile(f.last.info, info) && !hint && !f.unsure && !f.bad {
		f.looked = now
		return true
	}
	env, opened, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if opened != nil {
		info = opened
	}
	touched := !f.last.unchanged(info)
	f.turned = false
	if err == nil {
		f.turned = !f.good || !bytes.Equal(f.env.value, env.value) || f.env.ttl != env.ttl || f.env.owner != env.owner
		f.env, f.good, f.bad = env, true, false
		delete(o.skipped, name)
	} else {
		f.bad = true
		var bad *badFile
		if errors.As(err, &bad) {
			o.report(name, bad.problem, bad.hash)
		} else {
			o.report(name, err.Error(), 0)
		}
	}
	if touched || f.turned {
		f.alive = o.changedAt(dir, f, info, now, cold)
		f.last.since = now
	}
	f.last.info = info
	f.unsure = touched || f.turned
	f.looked = now
	o.files[name] = f
	return true
}

// changedAt says when a file that is new or has changed showed life.
func (o *observer) changedAt(dir string, f *file, info os.FileInfo, now time.Time, cold *coldClock) time.Time {
	known := f.last.info != nil
	if o.steady && (known || o.looks > 0) || known && now.Sub(f.looked) <= fresh {
		return now
	}
	present, ok := cold.read(dir, o.clock)
	age := present.Sub(info.ModTime())
	if !ok || age <= 0 {
		return now
	}
	if o.steady && f.env.ttl > 0 && age > f.env.ttl/2 {
		age = max(age, f.env.ttl) // its owner is late, or its times are behind: it must change first
	}
	return now.Add(-age)
}

// gone notes that the directory does not exist: nothing shows life there.
func (o *observer) gone() {
	now := o.now()
	for _, f := range o.files {
		f.looked = now
	}
}

// temp looks at a temporary file.
func (o *observer) temp(dir, name string, present map[string]bool) {
	if !strings.HasPrefix(name, tempPrefix) {
		return
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return
	}
	present[name] = true
	if t := o.temps[name]; t == nil || !t.unchanged(info) {
		o.temps[name] = &sighting{info, o.now()}
	}
}

// problem is why a file was skipped, and what it held if that could be read.
type problem struct {
	text string
	hash uint64
}

// report tells what is skipped, once until it changes.
func (o *observer) report(name, text string, hash uint64) {
	if p := (problem{text, hash}); o.skipped[name] != p {
		o.skipped[name] = p
		o.skip(name, text)
	}
}

// living returns what lived below the prefix at the last look, by key. Records of
// which a good value is known are in it even if what is there now is bad, unless strict.
func (o *observer) living(prefix string, strict bool) map[string][]byte {
	out := make(map[string][]byte, len(o.files))
	for _, f := range o.files {
		f.lived = f.live()
		if f.lived && discovery.Below(prefix, f.key) && (!strict || !f.bad) {
			out[f.key] = f.env.value
		}
	}
	return out
}

// expiring says whether a record lived and, though it is there, does so no more.
func (o *observer) expiring() bool {
	for _, f := range o.files {
		if f.lived && !f.live() {
			return true
		}
	}
	return false
}

// hold has whatever lived live on, as if it had just shown life, and for long enough
// for an owner that pauses between its attempts to come back.
func (o *observer) hold() {
	for _, f := range o.files {
		f.last.since = f.looked
		if f.lived {
			f.alive = f.looked.Add(max(0, minHold-f.env.ttl))
		}
	}
}

// pace says how long it is until the next look: a quarter of the shortest time to
// live, or until the next record expires, and sooner where something is unfinished.
func (o *observer) pace() time.Duration {
	now := o.now()
	next := slowest
	for _, f := range o.files {
		if f.unsure && f.turned || f.bad && now.Sub(f.last.since) < fresh {
			next = min(next, quickest)
		}
		if f.live() && f.env.ttl > 0 {
			next = min(next, max(f.env.ttl/4, quickest), max(f.env.ttl-now.Sub(f.alive), 0)+time.Millisecond)
		}
	}
	return next
}

// expired returns the names of records and temporary files that anybody may remove,
// with how they looked.
func (o *observer) expired(tempAge time.Duration) map[string]os.FileInfo {
	now := o.now()
	out := map[string]os.FileInfo{}
	for name, f := range o.files {
		if f.good && !f.bad && f.env.ttl > 0 && now.Sub(f.last.since) >= 2*f.env.ttl+time.Second {
			out[name] = f.last.info
		}
	}
	for name, t := range o.temps {
		if now.Sub(t.since) >= tempAge {
			out[name] = t.info
		}
	}
	return out
}

func sorted(living map[string][]byte) []discovery.Entry {
	out := make([]discovery.Entry, 0, len(living))
	for key, value := range living {
		out = append(out, discovery.Entry{Key: key, Value: value})
	}
	slices.SortFunc(out, func(a, b discovery.Entry) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// coldClock asks for the file system's present at most once.
type coldClock struct {
	asked bool
	at    time.Time
	ok    bool
}

func (c *coldClock) read(dir string, clock func(string) (time.Time, bool)) (time.Time, bool) {
	if !c.asked {
		c.asked = true
		c.at, c.ok = clock(dir)
	}
	return c.at, c.ok
}
