package filestore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/routeproof/routeproof/impl/discovery"
)

func TestNamesAreAsDocumented(t *testing.T) {
	for key, want := range map[string]string{
		"workers/w0/7.1": "workers%2Fw0%2F7%2E1", "Az-_09": "Az-_09", "ü": "%C3%BC", "a b%": "a%20b%25", ".hidden": "%2Ehidden",
	} {
		if got, err := nameOf(key); err != nil || got != want {
			t.Errorf("nameOf(%q) = %q, %v, want %q", key, got, err, want)
		}
	}
	if _, err := nameOf(strings.Repeat("/", 10)); !errors.Is(err, discovery.ErrInvalid) {
		t.Errorf("a bad key: %v", err)
	}
	if _, err := nameOf(strings.Repeat("ü", 43)); !errors.Is(err, discovery.ErrInvalid) || !strings.Contains(err.Error(), "shorten") {
		t.Errorf("a name that is too long: %v", err)
	}
}

func TestOneKeyHasOneName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9 ._%~ü-]{1,20}(/[a-z.%]{3,9}){0,3}`).Draw(t, "key")
		name, err := nameOf(key)
		if err != nil {
			t.Skip(err)
		}
		if back, err := keyOf(name); err != nil || back != key {
			t.Fatalf("keyOf(%q) = %q, %v, want %q", name, back, err, key)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`([a-z]|%[0-9A-Fa-f]{2}|%|[ ./ü]){1,9}`).Draw(t, "name")
		key, err := keyOf(name)
		if err != nil {
			return
		}
		if back, err := nameOf(key); err != nil || back != name {
			t.Fatalf("%q and %q are both names of %q (%v)", name, back, key, err)
		}
	})
}

func TestAnEnvelopeIsReadAsItWasWritten(t *testing.T) {
	for _, e := range []envelope{{}, {ttl: 3 * time.Second, owner: "o", value: []byte("a\nb\x00")}} {
		data, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parse(data); err != nil || got.ttl != e.ttl || got.owner != e.owner || string(got.value) != string(e.value) {
			t.Errorf("%q is read as %+v, %v, want %+v", data, got, err, e)
		}
		for i := range data {
			if _, err := parse(data[:i]); err == nil {
				t.Errorf("%q cut to %q was accepted", data, data[:i])
			}
		}
	}
	if _, err := (envelope{value: make([]byte, maxFile)}).encode(); !errors.Is(err, discovery.ErrInvalid) {
		t.Errorf("a value that is too large: %v", err)
	}
}

func TestWhatIsNoRecordIsSaid(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"nothing":          {"", "no header"},
		"no JSON":          {"ttl=3\nv", "header"},
		"another value":    {`{"ttl":1,"owner":"","size":1,"x":2}` + "\nv", "unknown field"},
		"no size":          {`{"ttl":1,"owner":""}` + "\nv", "no size"},
		"too short":        {`{"ttl":1,"owner":"","size":2}` + "\nv", "1 bytes of 2"},
		"too long":         {`{"ttl":1,"owner":"","size":0}` + "\nv", "1 bytes of 0"},
		"a negative time":  {`{"ttl":-1,"owner":"","size":1}` + "\nv", "time to live"},
		"a time too long":  {`{"ttl":86400001,"owner":"","size":1}` + "\nv", "time to live"},
		"two headers":      {`{"ttl":1,"size":1}{}` + "\nv", "more than a header"},
		"an endless line":  {strings.Repeat(" ", 600) + "\nv", "no header"},
		"an endless owner": {`{"ttl":1,"owner":"` + strings.Repeat("x", 65) + `","size":1}` + "\nv", "owner"},
	} {
		if _, err := parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
}

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	var bad *badFile
	if _, _, err := read(path); !errors.As(err, &bad) {
		t.Errorf("reading a pipe: %v", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "large"), make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(filepath.Join(filepath.Dir(path), "large")); !errors.As(err, &bad) {
		t.Errorf("reading a file that is too large: %v", err)
	}
}
