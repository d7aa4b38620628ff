// Package storetest holds what every discovery.Store has to do, as tests that the
// packages of the stores run, and what registering and following have to do over each
// of them.
package storetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// Patience is how long a test waits for what must happen.
const Patience = 20 * time.Second

// Backend is a place where records are, which several stores share.
type Backend interface {
	// Open returns another store of this place, as another process would have it. It
	// is closed with the test.
	Open(t *testing.T) discovery.Store
	// Away keeps all stores that Open returned from the place until back is called.
	Away(t *testing.T) (back func())
	// Behind returns a store that reaches the place even while it is away.
	Behind(t *testing.T) discovery.Store
	// Spec says to a child process how to open a store.
	Spec() string
}

// Suite is the tests and what they need.
type Suite struct {
	New func(t *testing.T) Backend // makes an empty place
	TTL time.Duration              // the shortest that the stores grant
}

// Run runs all tests, many at once, since most of them wait.
func (s Suite) Run(t *testing.T) {
	for _, group := range []map[string]func(*testing.T, Suite){values, watches, leases, workers, faults, processes} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	}
}

// Log is a log for tests.
func Log(t *testing.T) *slog.Logger {
	w := &testLog{t: t}
	t.Cleanup(w.end)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// testLog shows what is logged if the test fails, and nothing once it has ended.
type testLog struct {
	mu sync.Mutex
	t  *testing.T
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t == nil {
		return io.Discard.Write(p)
	}
	l.t.Logf("%s", p[:len(p)-1])
	return len(p), nil
}

func (l *testLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = nil
}

// Within returns a context for one step of a test.
func Within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Must fails the test if there is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits until a condition holds; state tells what there is instead.
func Eventually(t *testing.T, what string, holds func() bool, state func() any) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(2 * time.Millisecond) { // polled: a store has no other way to tell
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v; there is %v", what, Patience, state())
		}
	}
}

// Listing is what a store lists, by key.
func Listing(t *testing.T, s discovery.Store, prefix string) map[string]string {
	t.Helper()
	entries, err := s.List(Within(t), prefix)
	Must(t, err)
	out := map[string]string{}
	for i, e := range entries {
		if i > 0 && entries[i-1].Key >= e.Key {
			t.Fatalf("List is not sorted: %q before %q", entries[i-1].Key, e.Key)
		}
		out[e.Key] = string(e.Value)
	}
	return out
}

// View is what one watch has told so far.
type View struct {
	t    *testing.T
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	events  []discovery.Event
	state   map[string]string
	changed chan struct{}
}

// Watch follows a watch.
func Watch(t *testing.T, s discovery.Store, prefix string) *View {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, err := s.Watch(ctx, prefix)
	Must(t, err)
	v := &View{t: t, stop: cancel, done: make(chan struct{}), state: map[string]string{}, changed: make(chan struct{})}
	go func() {
		defer close(v.done)
		for e := range events {
			v.take(e)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-v.done
	})
	return v
}

func (v *View) take(e discovery.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = append(v.events, e)
	switch e.Kind {
	case discovery.Snapshot:
		clear(v.state)
		for _, e := range e.Entries {
			v.state[e.Key] = string(e.Value)
		}
	case discovery.Put:
		v.state[e.Entry.Key] = string(e.Entry.Value)
	case discovery.Delete:
		delete(v.state, e.Entry.Key)
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// Events returns the events so far.
func (v *View) Events() []discovery.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]discovery.Event(nil), v.events...)
}

// Snapshots counts the snapshots so far.
func (v *View) Snapshots() (n int) {
	for _, e := range v.Events() {
		if e.Kind == discovery.Snapshot {
			n++
		}
	}
	return n
}

// Until waits until there was a snapshot and what it and the changes make is right.
func (v *View) Until(what string, right func(map[string]string) bool) {
	v.t.Helper()
	limit := time.After(Patience)
	for {
		v.mu.Lock()
		state, changed, begun := maps.Clone(v.state), v.changed, len(v.events) > 0
		v.mu.Unlock()
		if begun && right(state) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			v.t.Fatalf("%s: not within %v; the watch has told %s", what, Patience, show(v.Events()))
		}
	}
}

// UntilEqual waits until the state is that.
func (v *View) UntilEqual(want map[string]string) {
	v.t.Helper()
	v.Until(fmt.Sprintf("the state %v", want), func(m map[string]string) bool { return maps.Equal(m, want) })
}

func show(events []discovery.Event) string {
	out := ""
	for _, e := range events[max(0, len(events)-20):] {
		out += fmt.Sprintf("\n  %v", e.Kind)
		for _, e := range append(e.Entries, e.Entry) {
			out += fmt.Sprintf(" %s=%.60q", e.Key, e.Value)
		}
	}
	return out
}
