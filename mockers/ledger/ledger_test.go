package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func times(all ...time.Duration) []time.Duration { return all }

func begin(l *Ledger, key string) *Entry { return l.Begin(Attempt{Key: key}) }

func only(t *testing.T, l *Ledger) Attempt {
	t.Helper()
	s := l.Snapshot(0)
	if len(s) != 1 {
		t.Fatalf("%d attempts; want 1", len(s))
	}
	return s[0]
}

func TestBeginNumbersAttemptsAndForgetsWhatOnlyLaterCallsMaySay(t *testing.T) {
	l := New()
	l.Begin(Attempt{Key: "a", Seq: 7, Status: 200, BytesSent: 3, SentSHA256: "x", Events: []time.Duration{1}, End: Complete})
	l.Begin(Attempt{Key: "b", Arrived: 5})
	s := l.Snapshot(0)
	a, b := s[0], s[1]
	if a.Seq != 0 || b.Seq != 1 || l.Len() != 2 {
		t.Errorf("sequence %d, %d, length %d; want 0, 1, 2", a.Seq, b.Seq, l.Len())
	}
	if a.Status != 0 || a.BytesSent != 0 || a.SentSHA256 != "" || a.Events != nil || a.End != Running {
		t.Errorf("a fresh attempt says %+v", a)
	}
	if a.HeadersAt != Unset || a.AbortSeen != Unset || a.Ended != Unset {
		t.Errorf("times of a fresh attempt are %v, %v, %v; want Unset", a.HeadersAt, a.AbortSeen, a.Ended)
	}
	if a.Arrived <= 0 || b.Arrived != 5 {
		t.Errorf("arrived %v and %v; want the present and 5ns", a.Arrived, b.Arrived)
	}
}

func TestEveryUpdateIsSeenInTheNextSnapshot(t *testing.T) {
	l := New()
	e := begin(l, "k")
	e.HeadersAt(200, 10)
	e.Headers(500) // only the first counts
	e.EventAt(20, 5)
	e.Event()
	e.Sent(2)
	e.Handoff(Handoff{Asked: AskedIssue, Outcome: Issued})
	e.Abort()
	first := only(t, l).AbortSeen
	e.Abort()
	e.Finish(Aborted, "digest")
	a := only(t, l)
	if a.Status != 200 || a.HeadersAt != 10 {
		t.Errorf("headers %d at %v; want 200 at 10ns", a.Status, a.HeadersAt)
	}
	if len(a.Events) != 2 || a.Events[0] != 20 || a.BytesSent != 7 {
		t.Errorf("events %v, %d bytes; want two, the first at 20ns, and 7 bytes", a.Events, a.BytesSent)
	}
	if a.Handoff == nil || a.Handoff.Outcome != Issued {
		t.Errorf("hand-off %+v", a.Handoff)
	}
	if a.AbortSeen != first || first <= 0 {
		t.Errorf("abort seen at %v, then %v; want one time", first, a.AbortSeen)
	}
	if a.End != Aborted || a.SentSHA256 != "digest" || a.Ended < first {
		t.Errorf("end %s, %q at %v", a.End, a.SentSHA256, a.Ended)
	}
}

func TestAFinishedAttemptNeverChanges(t *testing.T) {
	l := New()
	e := begin(l, "k")
	e.Finish(Running, "") // not an end
	if a := only(t, l); a.Ended != Unset {
		t.Fatalf("Finish(Running) ended the attempt at %v", a.Ended)
	}
	e.Finish(Complete, "x")
	want := fmt.Sprint(only(t, l))
	e.Headers(200)
	e.Event()
	e.Sent(1)
	e.Handoff(Handoff{})
	e.Abort()
	e.Finish(Crashed, "y")
	if got := fmt.Sprint(only(t, l)); got != want {
		t.Errorf("after its end the attempt became\n%s\nfrom\n%s", got, want)
	}
}

func TestASnapshotSharesNothingWithTheLedger(t *testing.T) {
	l := New()
	e := l.Begin(Attempt{Header: map[string][]string{"A": {"1"}}, Body: []byte("body"), Handoff: &Handoff{ID: "x"}})
	e.Event()
	a := only(t, l)
	a.Header["A"][0], a.Header["B"], a.Body[0], a.Events[0], a.Handoff.ID = "2", nil, 'X', 0, "y"
	b := only(t, l)
	if b.Handoff.ID != "x" || len(b.Header) != 1 || b.Header["A"][0] != "1" || string(b.Body) != "body" || b.Events[0] == 0 {
		t.Errorf("the ledger's attempt changed with the copy: %+v", b)
	}
}

func TestSnapshotAndViewStartWhereTheyAreTold(t *testing.T) {
	l := New()
	for i := range 5 {
		begin(l, fmt.Sprint(i))
	}
	for from, want := range map[int]int{-1: 5, 0: 5, 3: 2, 5: 0, 9: 0} {
		if got := len(l.Snapshot(from)); got != want {
			t.Errorf("Snapshot(%d) has %d attempts; want %d", from, got, want)
		}
		seen := 0
		l.Wait(t.Context(), func(v View) bool {
			v.Each(from, func(*Attempt) bool { seen++; return true })
			return true
		})
		if seen != want {
			t.Errorf("Each(%d) saw %d attempts; want %d", from, seen, want)
		}
	}
	seen := 0
	l.Wait(t.Context(), func(v View) bool {
		v.Each(0, func(*Attempt) bool { seen++; return seen < 2 })
		return v.Len() == 5
	})
	if seen != 2 {
		t.Errorf("Each went on to %d attempts after false", seen)
	}
}

func TestWaitMissesNoChange(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const waiters, rounds = 4, 2000
	l := New()
	var all sync.WaitGroup
	for range waiters {
		all.Go(func() {
			for n := 1; n <= rounds; n += 7 {
				if err := l.Wait(ctx, func(v View) bool { return v.Len() >= n }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range rounds {
		begin(l, "")
	}
	all.Wait()
}

func TestWaitIsWokenByEveryKindOfChange(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l := New()
	e := begin(l, "k")
	for _, step := range []struct {
		name   string
		change func()
		holds  func(*Attempt) bool
	}{
		{"headers", func() { e.Headers(200) }, func(a *Attempt) bool { return a.Status == 200 }},
		{"event", e.Event, func(a *Attempt) bool { return len(a.Events) == 1 }},
		{"sent", func() { e.Sent(9) }, func(a *Attempt) bool { return a.BytesSent == 9 }},
		{"hand-off", func() { e.Handoff(Handoff{Outcome: Consumed}) }, func(a *Attempt) bool { return a.Handoff != nil }},
		{"abort", e.Abort, func(a *Attempt) bool { return a.AbortSeen != Unset }},
		{"finish", func() { e.Finish(Aborted, "") }, func(a *Attempt) bool { return a.End == Aborted }},
	} {
		asked, done := make(chan struct{}), make(chan error)
		var once sync.Once
		go func() {
			done <- l.Wait(ctx, func(v View) (ok bool) {
				v.Each(0, func(a *Attempt) bool { ok = step.holds(a); return false })
				once.Do(func() { close(asked) })
				return ok
			})
		}()
		<-asked
		step.change()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

func TestWaitEndsWithItsContextUnlessTheConditionHolds(t *testing.T) {
	l := New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Wait(ctx, func(View) bool { return true }); err != nil {
		t.Errorf("a condition that holds: %v", err)
	}
	if err := l.Wait(ctx, func(View) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("a condition that does not hold: %v; want context.Canceled", err)
	}
}

func TestManyWritersAtOnceLoseNothing(t *testing.T) {
	const writers, each = 8, 200
	l := New()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				e := begin(l, "")
				e.Headers(200)
				e.EventAt(1, 10)
				e.Finish(Complete, "")
				l.Len()
			}
		})
	}
	all.Wait()
	s := l.Snapshot(0)
	if len(s) != writers*each {
		t.Fatalf("%d attempts; want %d", len(s), writers*each)
	}
	for i, a := range s {
		if a.Seq != i || a.BytesSent != 10 || a.End != Complete {
			t.Fatalf("attempt %d is %+v", i, a)
		}
	}
}

func BenchmarkBegin(b *testing.B) {
	l := New()
	b.ReportAllocs()
	for b.Loop() {
		l.Begin(Attempt{Key: "k", Arrived: 1})
	}
}

func BenchmarkEvent(b *testing.B) {
	l := New()
	e := begin(l, "k")
	b.ReportAllocs()
	for b.Loop() {
		e.EventAt(1, 100)
	}
}

func BenchmarkWaitOnAnswered1000(b *testing.B) {
	l := New()
	for range 1000 {
		begin(l, "k").Finish(Complete, "")
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Wait(context.Background(), func(v View) bool {
			n := 0
			v.Each(0, func(a *Attempt) bool { n++; return a.End == Complete })
			return n == 1000
		})
	}
}
