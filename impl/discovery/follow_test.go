package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// following runs a test in a bubble, with a follower whose sets are kept.
func following(t *testing.T, test func(t *testing.T, s *fakeStore, f *Follower, sets *[]string, log *bytes.Buffer)) {
	synctest.Test(t, func(t *testing.T) {
		s, sets, log := newFakeStore(), []string{}, &bytes.Buffer{}
		f := NewFollower(s, "", func(set []Worker) error {
			var text []string
			for _, w := range set {
				text = append(text, w.ID+"@"+strings.TrimPrefix(w.URL, "http://")+w.Incarnation)
			}
			sets = append(sets, strings.Join(text, " "))
			if len(set) == 1 && set[0].ID == "slow" {
				time.Sleep(time.Second)
			}
			if len(set) == 1 && set[0].ID == "refused" {
				return errors.New("not this one")
			}
			return nil
		}, slog.New(slog.NewTextHandler(log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		test(t, s, f, &sets, log)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func put(e Entry) Event     { return Event{Kind: Put, Entry: e} }
func gone(key string) Event { return Event{Kind: Delete, Entry: Entry{Key: key}} }
func all(e ...Entry) Event  { return Event{Kind: Snapshot, Entries: e} }

// settle lets everything happen that is going to.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func is(t *testing.T, sets *[]string, want ...string) {
	t.Helper()
	settle()
	if !slices.Equal(*sets, want) {
		t.Errorf("the sets were %q, want %q", *sets, want)
	}
}

func TestASnapshotReplacesAllButLastGoodValues(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, f *Follower, sets *[]string, _ *bytes.Buffer) {
		is(t, sets)
		s.events <- all()
		is(t, sets, "")
		s.events <- put(entry("k1", "a", "http://h:1"))
		is(t, sets, "", "a@h:1")
		s.events <- put(entry("k2", "b", "http://h:2"))
		is(t, sets, "", "a@h:1", "a@h:1 b@h:2")
		s.events <- all(Entry{Key: "k2", Value: []byte("bad")}, entry("k3", "c", "http://h:3"), Entry{Key: "k4", Value: []byte("bad")})
		is(t, sets, "", "a@h:1", "a@h:1 b@h:2", "b@h:2 c@h:3")
		s.events <- all(Entry{Key: "k2", Value: []byte("bad")}, entry("k3", "c", "http://h:3"), Entry{Key: "k4", Value: []byte("bad")})
		is(t, sets, "", "a@h:1", "a@h:1 b@h:2", "b@h:2 c@h:3")
		if got, want := f.Stats(), (FollowerStats{Records: 2, Workers: 2, Skipped: 2, Snapshots: 3, Sets: 4}); got != want {
			t.Errorf("Stats = %+v, want %+v", got, want)
		}
		s.events <- gone("k2")
		s.events <- gone("never was")
		is(t, sets, "", "a@h:1", "a@h:1 b@h:2", "b@h:2 c@h:3", "c@h:3")
	})
}

func TestABadValueIsLoggedOncePerChange(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, f *Follower, sets *[]string, log *bytes.Buffer) {
		s.events <- all(entry("k", "a", "http://h:1"))
		for _, v := range []string{"bad", "bad", "worse", "worse", "bad"} {
			s.events <- put(Entry{Key: "k", Value: []byte(v)})
		}
		is(t, sets, "a@h:1")
		if n := strings.Count(log.String(), "bad record"); n != 3 || f.Stats().Skipped != 3 || !strings.Contains(log.String(), "key=k") {
			t.Errorf("%d lines, %+v:\n%s", n, f.Stats(), log)
		}
		s.events <- put(entry("k", "a", "http://h:2"))
		s.events <- put(Entry{Key: "k", Value: []byte("bad")})
		is(t, sets, "a@h:1", "a@h:2")
		if f.Stats().Skipped != 4 {
			t.Errorf("%+v", f.Stats())
		}
	})
}

func TestManyChangesAreFewSets(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, f *Follower, sets *[]string, _ *bytes.Buffer) {
		s.events <- all()
		for i := range 1000 { // at once
			s.events <- put(entry(fmt.Sprint(i), fmt.Sprint(i), "http://h:1"))
		}
		settle()
		if n := len(*sets); n != 2 || f.Stats().Workers != 1000 {
			t.Errorf("%d sets, %+v", n, f.Stats())
		}
		before := len(*sets)
		for i := range 1000 { // one each millisecond
			s.events <- put(entry(fmt.Sprint(i), fmt.Sprint(i), "http://h:2"))
			time.Sleep(time.Millisecond)
		}
		settle()
		if n := len(*sets) - before; n > 1000/2 {
			t.Errorf("%d sets for 1000 changes", n)
		}
	})
}

func TestOneChangeIsHandedOverSoonAndASlowReaderGetsFewerSets(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, _ *Follower, sets *[]string, _ *bytes.Buffer) {
		s.events <- all()
		s.events <- put(entry("k", "slow", "http://h:1"))
		time.Sleep(minGather + time.Millisecond)
		synctest.Wait()
		if len(*sets) != 2 {
			t.Fatalf("the sets are %q", *sets)
		}
		for i := range 1000 { // held up while the sink works, which it does for a second
			s.events <- put(entry("k", "slow", fmt.Sprintf("http://h:%d", i+2)))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(3 * time.Second)
		settle()
		if n := len(*sets); n > 1000*10/int(maxGather.Milliseconds())+10 || (*sets)[n-1] != "slow@h:1001" {
			t.Errorf("%d sets, the last is %q", n, (*sets)[n-1])
		}
	})
}

func TestAWorkerThatLeavesAndReturnsIsNeverTakenToHaveStayed(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, _ *Follower, sets *[]string, _ *bytes.Buffer) {
		a, b := entry("a", "a", "http://h:1"), entry("b", "b", "http://h:1")
		s.events <- all(a, b)
		is(t, sets, "a@h:1 b@h:1")
		s.events <- gone("a")
		s.events <- gone("b")
		s.events <- put(a)
		s.events <- put(b)
		is(t, sets, "a@h:1 b@h:1", "", "a@h:1 b@h:1")
		s.events <- gone("a")
		s.events <- put(entry("other key", "a", "http://h:1"))
		is(t, sets, "a@h:1 b@h:1", "", "a@h:1 b@h:1", "b@h:1", "a@h:1 b@h:1")
		s.events <- gone("b")
		s.events <- all(entry("other key", "a", "http://h:1"), b)
		is(t, sets, "a@h:1 b@h:1", "", "a@h:1 b@h:1", "b@h:1", "a@h:1 b@h:1", "a@h:1", "a@h:1 b@h:1")
	})
}

func TestOfTwoRecordsTheNewerOneCountsWhateverCameFirst(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		following(t, func(t *testing.T, s *fakeStore, _ *Follower, sets *[]string, _ *bytes.Buffer) {
			records := []Entry{
				entry("z", "w", "http://h:1", `,"incarnation":"9"`), entry("a", "w", "http://h:2", `,"incarnation":"10"`), entry("b", "w", "http://h:3", `,"incarnation":"10"`),
			}
			s.events <- all()
			for _, i := range order {
				s.events <- put(records[i])
			}
			is(t, sets, "", "w@h:310")
			s.events <- gone("b")
			is(t, sets, "", "w@h:310", "w@h:210")
			s.events <- gone("a")
			is(t, sets, "", "w@h:310", "w@h:210", "w@h:19")
		})
	}
}

func TestASetThatIsRefusedIsLoggedAndFollowedByTheNext(t *testing.T) {
	following(t, func(t *testing.T, s *fakeStore, _ *Follower, sets *[]string, log *bytes.Buffer) {
		s.events <- all(entry("k", "refused", "http://h:1"))
		is(t, sets, "refused@h:1")
		if !strings.Contains(log.String(), "not this one") {
			t.Errorf("the log is %q", log)
		}
		s.events <- put(entry("k", "fine", "http://h:1"))
		is(t, sets, "refused@h:1", "fine@h:1")
	})
}

func TestFollowingAClosedStoreIsAnError(t *testing.T) {
	s := newFakeStore()
	s.closed = true
	f := NewFollower(s, "", func([]Worker) error { return nil }, slog.New(slog.DiscardHandler))
	if err := f.Run(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Run = %v", err)
	}
}
