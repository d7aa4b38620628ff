package storetest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/routeproof/routeproof/impl/discovery"
)

// values are the tests of single records.
var values = map[string]func(*testing.T, Suite){
	"of sixteen creators one wins":                        testCreateRace,
	"the same value may be created again":                 testCreateAgain,
	"a replacement needs the value that it replaces":      testReplace,
	"of many replacements one wins":                       testReplaceRace,
	"a replacement never brings back what is deleted":     testReplaceDelete,
	"deleting what is not there is no error":              testDelete,
	"what cannot be a key is refused by every call":       testKeys,
	"a prefix ends where a segment ends":                  testPrefix,
	"any bytes are a value, and any printable text a key": testBytes,
}

func testCreateRace(t *testing.T, s Suite) {
	b := s.New(t)
	const creators = 16
	stores := make([]discovery.Store, 4)
	for i := range stores {
		stores[i] = b.Open(t)
	}
	for round := range 5 {
		key := fmt.Sprintf("race/%d", round)
		errs := make([]error, creators)
		var start, wg sync.WaitGroup
		start.Add(1)
		for i := range creators {
			wg.Go(func() {
				start.Wait()
				errs[i] = stores[i%len(stores)].Create(Within(t), key, fmt.Appendf(nil, "value %d", i), nil)
			})
		}
		start.Done()
		wg.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Errorf("%s: creators %d and %d both won", key, winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, discovery.ErrExists):
				t.Errorf("%s: creator %d: %v, want ErrExists", key, i, err)
			}
		}
		for _, s := range stores {
			if got := Listing(t, s, "race")[key]; got != fmt.Sprintf("value %d", winner) {
				t.Errorf("%s holds %q, and %d won", key, got, winner)
			}
		}
	}
}

func testCreateAgain(t *testing.T, s Suite) {
	b := s.New(t)
	one, two := b.Open(t), b.Open(t)
	Must(t, one.Create(Within(t), "a/b", []byte("v"), nil))
	Must(t, one.Create(Within(t), "a/b", []byte("v"), nil))
	Must(t, two.Create(Within(t), "a/b", []byte("v"), nil))
	err := two.Create(Within(t), "a/b", []byte("other"), nil)
	if !errors.Is(err, discovery.ErrExists) || !strings.Contains(err.Error(), "a/b") {
		t.Errorf("another value: %v, want ErrExists and the key", err)
	}
	// The record passes to whoever created it last.
	first, err := one.Grant(Within(t), s.TTL)
	Must(t, err)
	second, err := two.Grant(Within(t), s.TTL)
	Must(t, err)
	Must(t, one.Create(Within(t), "a/c", []byte("v"), first))
	Must(t, two.Create(Within(t), "a/c", []byte("v"), second))
	Must(t, first.Close(Within(t)))
	if got := Listing(t, one, "a"); got["a/c"] != "v" {
		t.Errorf("the second creator's record went with the first one's lease: %v", got)
	}
	Must(t, second.Close(Within(t)))
	if got := Listing(t, one, "a"); !maps.Equal(got, map[string]string{"a/b": "v"}) {
		t.Errorf("after the leases were closed there is %v", got)
	}
}

func testReplace(t *testing.T, s Suite) {
	b := s.New(t)
	one, two := b.Open(t), b.Open(t)
	if err := one.Replace(Within(t), "k", []byte("old"), []byte("new")); !errors.Is(err, discovery.ErrMissing) {
		t.Errorf("of nothing: %v, want ErrMissing", err)
	}
	if err := one.Replace(Within(t), "k", nil, []byte("new")); !errors.Is(err, discovery.ErrMissing) {
		t.Errorf("of nothing by the empty value: %v, want ErrMissing", err)
	}
	l, err := one.Grant(Within(t), s.TTL)
	Must(t, err)
	Must(t, one.Put(Within(t), "k", []byte("old"), l))
	if err := two.Replace(Within(t), "k", []byte("older"), []byte("new")); !errors.Is(err, discovery.ErrChanged) {
		t.Errorf("of another value: %v, want ErrChanged", err)
	}
	Must(t, two.Replace(Within(t), "k", []byte("old"), []byte("new")))
	if got := Listing(t, one, ""); !maps.Equal(got, map[string]string{"k": "new"}) {
		t.Errorf("there is %v", got)
	}
	view := Watch(t, two, "")
	view.UntilEqual(map[string]string{"k": "new"})
	lives(t, view, l, "k") // the owner is still the owner
	Must(t, l.Close(Within(t)))
	if got := Listing(t, two, ""); len(got) > 0 {
		t.Errorf("the replaced record is not under the lease: %v", got)
	}
}

func testReplaceRace(t *testing.T, s Suite) {
	b := s.New(t)
	stores := []discovery.Store{b.Open(t), b.Open(t)}
	Must(t, stores[0].Put(Within(t), "k", []byte("0"), nil))
	const rounds, each = 10, 8
	for round := range rounds {
		errs := make([]error, each)
		var wg sync.WaitGroup
		for i := range each {
			wg.Go(func() {
				errs[i] = stores[i%2].Replace(Within(t), "k", fmt.Append(nil, round), fmt.Append(nil, round+1))
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, discovery.ErrChanged) {
				t.Errorf("round %d: %v, want ErrChanged", round, err)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d won", round, won)
		}
	}
}

func testReplaceDelete(t *testing.T, s Suite) {
	b := s.New(t)
	one, two := b.Open(t), b.Open(t)
	for round := range 20 {
		Must(t, one.Put(Within(t), "k", []byte("old"), nil))
		var replaced, deleted error
		var wg sync.WaitGroup
		wg.Go(func() { replaced = one.Replace(Within(t), "k", []byte("old"), []byte("new")) })
		wg.Go(func() { deleted = two.Delete(Within(t), "k") })
		wg.Wait()
		if replaced != nil && !errors.Is(replaced, discovery.ErrMissing) || deleted != nil {
			t.Errorf("round %d: replace %v, delete %v", round, replaced, deleted)
		}
		if got := Listing(t, two, ""); len(got) > 0 {
			t.Fatalf("round %d: there is %v", round, got)
		}
	}
}

func testDelete(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	Must(t, st.Delete(Within(t), "never/was"))
	Must(t, st.Put(Within(t), "k", []byte("v"), nil))
	Must(t, st.Delete(Within(t), "k"))
	Must(t, st.Delete(Within(t), "k"))
	if got := Listing(t, st, ""); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
}

func testKeys(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	for _, key := range []string{"", "/a", "a/", "a//b", ".", "a/../b", "a/./b", "a\nb", "a\xffb", strings.Repeat("k", 513)} {
		_, listed := st.List(Within(t), key+"\n")
		_, watched := st.Watch(Within(t), key+"\n")
		for call, err := range map[string]error{
			"Create": st.Create(Within(t), key, nil, nil), "Put": st.Put(Within(t), key, nil, nil),
			"Replace": st.Replace(Within(t), key, nil, nil), "Delete": st.Delete(Within(t), key),
			"List": listed, "Watch": watched,
		} {
			if !errors.Is(err, discovery.ErrInvalid) {
				t.Errorf("%s of %.20q: %v, want ErrInvalid", call, key, err)
			}
		}
	}
	if _, err := st.Grant(Within(t), discovery.MinTTL-1); !errors.Is(err, discovery.ErrInvalid) {
		t.Errorf("a lease that is too short: %v", err)
	}
	other, err := b.Open(t).Grant(Within(t), s.TTL)
	Must(t, err)
	if err := st.Put(Within(t), "k", nil, other); !errors.Is(err, discovery.ErrInvalid) {
		t.Errorf("another store's lease: %v, want ErrInvalid", err)
	}
	l, err := st.Grant(Within(t), s.TTL)
	Must(t, err)
	Must(t, l.Close(Within(t)))
	Must(t, l.Close(Within(t)))
	if err := st.Create(Within(t), "k", nil, l); !errors.Is(err, discovery.ErrLeaseLost) {
		t.Errorf("under a closed lease: %v, want ErrLeaseLost", err)
	}
	if got := Listing(t, st, ""); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
}

func testPrefix(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	view := Watch(t, st, "a/b")
	view.UntilEqual(map[string]string{})
	for _, key := range []string{"a/b", "a/bc", "a/b-c/d", "a/b.c/d", "ab", "a/b/c", "a/b/c/d", "x/a/b/c"} {
		Must(t, st.Put(Within(t), key, []byte("v"), nil))
	}
	want := map[string]string{"a/b/c": "v", "a/b/c/d": "v"}
	if got := Listing(t, st, "a/b"); !maps.Equal(got, want) {
		t.Errorf("below a/b there is %v, want %v", got, want)
	}
	if got := Listing(t, st, ""); len(got) != 8 {
		t.Errorf("in all there is %v", got)
	}
	view.UntilEqual(want)
	Must(t, st.Delete(Within(t), "a/bc"))
	Must(t, st.Delete(Within(t), "a/b/c"))
	view.UntilEqual(map[string]string{"a/b/c/d": "v"})
	for _, e := range view.Events()[1:] {
		if !discovery.Below("a/b", e.Entry.Key) {
			t.Errorf("the watch of a/b told of %s", e.Entry.Key)
		}
	}
}

func testBytes(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	want := map[string]string{
		"Ab/a b": "", "aB/ü/…": "\x00\xff\n\n", "p%q/r%2F": "{}\n", "~!@#$&*()=+[]{};':\",<>?|": strings.Repeat("x", 100_000), ".hidden": "v", "..x": "v",
	}
	for key, value := range want {
		Must(t, st.Create(Within(t), key, []byte(value), nil))
	}
	if got := Listing(t, b.Open(t), ""); !maps.Equal(got, want) {
		t.Errorf("there is %.200q", fmt.Sprint(got))
	}
}
