package discovery

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// registering runs a test in a bubble.
func registering(t *testing.T, test func(t *testing.T, s *fakeStore, log *bytes.Buffer, register func(Worker) *Registration)) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newFakeStore(), &bytes.Buffer{}
		test(t, s, log, func(w Worker) *Registration {
			r, err := Register(t.Context(), s, "p", w, time.Second, slog.New(slog.NewTextHandler(log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { <-r.Done() })
			return r
		})
	})
}

var errAway = errors.New("the store is away")

func away(string) error { return errAway }

// only fails one call.
func only(name string) func(string) error {
	return func(call string) error {
		if call == name {
			return errAway
		}
		return nil
	}
}

func TestAStoreThatIsAwayIsTriedAgainWithPauses(t *testing.T) {
	registering(t, func(t *testing.T, s *fakeStore, log *bytes.Buffer, register func(Worker) *Registration) {
		var attempts atomic.Int64
		s.failing(func(string) error { attempts.Add(1); return errAway }, nil)
		r := register(w("w", "http://h:1", "m"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := attempts.Load(); n < 60 || n > 130 {
			t.Errorf("%d attempts in a minute", n)
		}
		if n := strings.Count(log.String(), "not registered"); n != 1 {
			t.Errorf("the failure was logged %d times", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ready = %v", err)
		}
		s.failing(nil, nil)
		time.Sleep(maxPause)
		synctest.Wait()
		if _, registered, _ := r.Current(); !registered {
			t.Error("not registered when the store was back for a second")
		}
	})
}

func TestAnAttemptWhoseOutcomeIsNotKnownIsRepeatedAsItWas(t *testing.T) {
	registering(t, func(t *testing.T, s *fakeStore, _ *bytes.Buffer, register func(Worker) *Registration) {
		s.failing(only("close"), only("create")) // the record is there, and nobody knows
		r := register(w("w", "http://h:1", "m"))
		time.Sleep(5 * time.Second)
		keys := s.keys()
		s.failing(nil, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.keys(); len(got) != 1 || len(keys) != 1 || got[0] != keys[0] {
			t.Errorf("the records are %q, and were %q", got, keys)
		}
		if now, registered, _ := r.Current(); !registered || "p/w/"+now.Incarnation != keys[0] {
			t.Errorf("registered: %v, as %+v", registered, now)
		}
	})
}

func TestALostRegistrationIsMadeAgainAsANewIncarnation(t *testing.T) {
	for _, records := range []bool{true, false} {
		registering(t, func(t *testing.T, s *fakeStore, _ *bytes.Buffer, register func(Worker) *Registration) {
			r := register(w("w", "http://h:1", "m"))
			synctest.Wait()
			last, registered, _ := r.Current()
			if !registered {
				t.Fatal("not registered")
			}
			for range 5 { // each newer than the last
				s.lose(records)
				time.Sleep(maxPause)
				synctest.Wait()
				next, registered, _ := r.Current()
				if !registered || compareIncarnations(next.Incarnation, last.Incarnation) <= 0 {
					t.Fatalf("%q came after %q, registered: %v", next.Incarnation, last.Incarnation, registered)
				}
				last = next
			}
			if keys := s.keys(); len(keys) != 1 || keys[0] != "p/w/"+last.Incarnation {
				t.Errorf("the records are %q", keys)
			}
		})
	}
}

func TestStopTellsWhatItCouldNotRemove(t *testing.T) {
	registering(t, func(t *testing.T, s *fakeStore, _ *bytes.Buffer, register func(Worker) *Registration) {
		r := register(w("w", "http://h:1", "m"))
		synctest.Wait()
		s.failing(only("close"), nil)
		for range 2 {
			if err := r.Stop(t.Context()); !errors.Is(err, errAway) || !strings.Contains(err.Error(), "expires within 1s") {
				t.Errorf("Stop = %v", err)
			}
		}
		if err := r.Err(); err != nil {
			t.Errorf("Err = %v", err)
		}
	})
	registering(t, func(t *testing.T, s *fakeStore, _ *bytes.Buffer, register func(Worker) *Registration) {
		s.failing(away, nil)
		r := register(w("w", "http://h:1", "m"))
		synctest.Wait()
		if err := r.Stop(t.Context()); err != nil {
			t.Errorf("Stop of what never was registered = %v", err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		_ = register(w("x", "http://h:1", "m")).Stop(cancelled) // returns, though it may have to give up
	})
}

func TestWhatCannotBeStoredEndsTheRegistration(t *testing.T) {
	for _, end := range []error{ErrInvalid, ErrClosed, ErrExists} {
		registering(t, func(t *testing.T, s *fakeStore, log *bytes.Buffer, register func(Worker) *Registration) {
			s.failing(func(string) error { return end }, nil)
			r := register(w("w", "http://h:1", "m"))
			<-r.Done()
			if err := r.Err(); !errors.Is(err, end) {
				t.Errorf("Err = %v, want %v", err, end)
			}
			if err := r.Ready(t.Context()); !errors.Is(err, end) || !strings.Contains(log.String(), "registration ended") {
				t.Errorf("Ready = %v, want %v; the log is %q", err, end, log)
			}
		})
	}
}
