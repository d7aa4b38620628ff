package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	for _, w := range []Worker{
		w("a", "http://h:1", "m"),
		{ID: "ü/ \x01", URL: "https://[::1]:2", Models: []string{"m", "org/n"}, Role: Prefill, Ranks: 8, Incarnation: "7"},
	} {
		data, err := EncodeRecord(w)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeRecord(data); err != nil || !same(got, w) {
			t.Errorf("%s is read as %+v, %v, want %+v", data, got, err, w)
		}
	}
	data, err := EncodeRecord(w("a", "http://h:1", "m"))
	if want := `{"id":"a","url":"http://h:1","models":["m"]}`; err != nil || string(data) != want {
		t.Errorf("EncodeRecord = %s, %v, want %s", data, err, want)
	}
	if _, err := EncodeRecord(w("a", "", "m")); err == nil {
		t.Error("a worker without address has a record")
	}
	if _, err := EncodeRecord(w("a", "http://h:1", strings.Repeat("m", maxRecord))); !errors.Is(err, ErrInvalid) {
		t.Errorf("a record that is too large: %v", err)
	}
}

func TestNewerIncarnationsAreGreater(t *testing.T) {
	rising := []string{
		"", "+1", "1", "1+18c0000000000000-00000000", "1+18c0000000000001-00000000", "2", "9", "10", "10+9", "10+10", "11",
		"18c0000000000000-ffffffff", "18c0000000000001-00000000",
	}
	for i, a := range rising {
		for j, b := range rising {
			if got := compareIncarnations(a, b); got > 0 != (i > j) || got == 0 != (i == j) {
				t.Errorf("compareIncarnations(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestANextIncarnationIsNewerThanAllBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SampledFrom([]string{"", "7", "pod-a"}).Draw(t, "given")
		var seen []string
		if given != "" {
			seen = append(seen, given)
		}
		for range rapid.IntRange(1, 5).Draw(t, "lives") {
			// A clock that jumps: each life begins whenever it says.
			now := time.Unix(0, rapid.Int64Range(0, 1<<61).Draw(t, "now"))
			next := nextIncarnation(given, now, rapid.Permutation(slices.Clone(seen)).Draw(t, "seen"))
			for _, old := range seen {
				if compareIncarnations(next, old) <= 0 {
					t.Fatalf("%q came after %q", next, old)
				}
			}
			seen = append(seen, next)
		}
	})
	for _, odd := range []string{"x", "zzzzzzzzzzzzzzzz-0", "ffffffffffffffff-00000000", "8+18c0000000000000-00000000", "-", "+"} {
		if got := nextIncarnation("7", time.Unix(0, 1), []string{odd}); !strings.HasPrefix(got, "7+0000000000000001-") {
			t.Errorf("after %q came %q", odd, got)
		}
	}
}

func TestAnyIdIsOneSegment(t *testing.T) {
	for id, want := range map[string]string{"w0": "w0", "a/b": "a%2Fb", ".": "%2E", "..": "%2E%2E", "...": "...", "a b\n": "a%20b%0A", "ü": "%C3%BC"} {
		got := segment(id)
		if got != want || CheckKey("p/"+got) != nil {
			t.Errorf("segment(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestAPrefixNeedsABoundary(t *testing.T) {
	for _, c := range []struct {
		prefix, key string
		want        bool
	}{
		{"", "a", true}, {"a", "a/b", true}, {"a", "a", false}, {"a", "ab", false}, {"a", "a/", false}, {"a/b", "a/b/c/d", true}, {"a/b", "a", false},
	} {
		if got := Below(c.prefix, c.key); got != c.want {
			t.Errorf("Below(%q, %q) = %v", c.prefix, c.key, got)
		}
	}
}

func TestPausesGrowAndAreBounded(t *testing.T) {
	for range 100 {
		var b Backoff
		for i := range 100 {
			d, most := b.Next(), min(minPause<<min(i, 10), maxPause)
			if d < most/2 || d > most {
				t.Fatalf("pause %d is %v, want %v to %v", i, d, most/2, most)
			}
		}
		b.Reset()
		if d := b.Next(); d > minPause {
			t.Fatalf("after a reset the pause is %v", d)
		}
	}
}

func TestKindsAreNamed(t *testing.T) {
	if got := fmt.Sprint(Snapshot, Put, Delete); got != "snapshot put delete" {
		t.Error(got)
	}
}
