package book

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
)

var errAway = errors.New("the store is away")

// fake is a store whose holds are numbers.
type fake struct {
	mu      sync.Mutex
	next    int
	records map[int]registrar.Entry
	away    bool          // every call fails
	stuck   bool          // every call ends with its context
	entered chan struct{} // a stuck call has begun
}

func (f *fake) call(ctx context.Context) error {
	f.mu.Lock()
	away, stuck := f.away, f.stuck
	f.mu.Unlock()
	if stuck {
		select {
		case f.entered <- struct{}{}:
		default:
		}
		<-ctx.Done()
	}
	if away {
		return errAway
	}
	return ctx.Err()
}

func (f *fake) Put(ctx context.Context, e registrar.Entry) (int, string, error) {
	if err := f.call(ctx); err != nil {
		return 0, "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	f.records[f.next] = e
	return f.next, fmt.Sprint("hold ", f.next), nil
}

func (f *fake) Refresh(ctx context.Context, _ registrar.Entry, h int) (registrar.Lapse, error) {
	if err := f.call(ctx); err != nil {
		return registrar.Kept, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.records[h]; !ok {
		return registrar.Gone, nil
	}
	return registrar.Kept, nil
}

func (f *fake) Update(ctx context.Context, e registrar.Entry, h int) error {
	if err := f.call(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[h] = e
	return nil
}

func (f *fake) Remove(ctx context.Context, _ registrar.Entry, h int) error {
	if err := f.call(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.records, h)
	return nil
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// values is what lies in the store, as key=value.
func (f *fake) values() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.records {
		all = append(all, e.Key+"="+string(e.Value))
	}
	slices.Sort(all)
	return all
}

type bed struct {
	t *testing.T
	*Book[int]
	store *fake
	log   *registrar.Log
}

func open(t *testing.T, again bool) *bed {
	b := &bed{t: t, store: &fake{records: map[int]registrar.Entry{}, entered: make(chan struct{}, 1)}, log: &registrar.Log{}}
	b.Book = New(b.store, b.log, again)
	t.Cleanup(func() { b.Book.Close() })
	return b
}

func (b *bed) register(key string) {
	b.t.Helper()
	if err := b.Register(b.t.Context(), registrar.Entry{Key: key, Value: []byte("v"), TTL: 3 * time.Second}); err != nil {
		b.t.Fatal(err)
	}
}

// ops is what happened to a key, in order.
func (b *bed) ops(key string) string {
	var ops []string
	for _, e := range b.log.Events(0) {
		if e.Key == key {
			ops = append(ops, string(e.Op))
		}
	}
	return strings.Join(ops, " ")
}

func (b *bed) wantOps(key, want string) {
	b.t.Helper()
	if got := b.ops(key); got != want {
		b.t.Errorf("%s: %s; want %s", key, got, want)
	}
}

func (b *bed) wantStored(want ...string) {
	b.t.Helper()
	if got := b.store.values(); !slices.Equal(got, want) {
		b.t.Errorf("stored %v, want %v", got, want)
	}
}

// after lets time pass.
func after(d time.Duration) {
	time.Sleep(d) // in a bubble
	synctest.Wait()
}

func TestARecordIsRefreshedThreeTimesPerTTLUntilItIsUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		b.register("a")
		after(3500 * time.Millisecond)
		alive, ok := b.log.LastAlive("a")
		if want := time.Now().Add(-500 * time.Millisecond); !ok || !alive.Done.Equal(want) {
			t.Errorf("last alive %v, want at %v", alive, want)
		}
		if err := b.Unregister(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		b.wantOps("a", "registered refreshed refreshed refreshed unregistered")
		b.wantStored()
	})
}

func TestAnAbandonedRecordStaysAndIsNotRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		b.register("a")
		if err := b.Abandon("a"); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		b.wantOps("a", "registered abandoned")
		b.wantStored("a=v")
		b.register("a") // the key is free again
		b.Book.Close()
		b.wantStored("a=v") // the abandoned one
	})
}

func TestAFrozenRecordIsRefreshedAtOnceWhenItThaws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		b.register("a")
		if err := b.Freeze(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		lapse, err := b.Thaw(t.Context(), "a")
		if err != nil || lapse != registrar.Kept {
			t.Errorf("Thaw = %v, %v; want kept", lapse, err)
		}
		after(1500 * time.Millisecond)
		b.wantOps("a", "registered frozen refreshed thawed refreshed")
	})
}

func TestARecordThatWasTakenAwayMeanwhileIsGoneAndItsKeyFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		b.register("a")
		if err := b.Freeze(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		b.store.set(func() { clear(b.store.records) })
		if lapse, err := b.Thaw(t.Context(), "a"); err != nil || lapse != registrar.Gone {
			t.Errorf("Thaw = %v, %v; want gone", lapse, err)
		}
		if _, ok := b.Kept("a"); ok {
			t.Error("a lost record is still kept")
		}
		if err := b.Update(t.Context(), "a", nil); !errors.Is(err, registrar.ErrUnowned) {
			t.Errorf("Update = %v, want ErrUnowned", err)
		}
		after(time.Minute)
		b.register("a")
		b.wantOps("a", "registered frozen lapsed thawed registered")
	})
}

func TestALostRecordIsPutAgainWhereThatIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, true)
		b.register("a")
		b.store.set(func() { clear(b.store.records) })
		after(2500 * time.Millisecond)
		b.wantOps("a", "registered lapsed registered refreshed")
		b.wantStored("a=v")
		b.store.set(func() { clear(b.store.records) })
		if lapse, err := b.Thaw(t.Context(), "a"); err != nil || lapse != registrar.Gone {
			t.Errorf("Thaw = %v, %v; want gone", lapse, err)
		}
		b.wantStored("a=v")
	})
}

func TestAStoreThatIsAwayCostsRefreshesAndNotTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		b.register("a")
		b.store.set(func() { b.store.away = true })
		after(1500 * time.Millisecond)
		if _, err := b.Thaw(t.Context(), "a"); !errors.Is(err, errAway) {
			t.Errorf("Thaw = %v, want that the store is away", err)
		}
		b.store.set(func() { b.store.away = false })
		after(time.Second)
		b.wantOps("a", "registered missed missed thawed refreshed")
		if e, _ := b.log.Last("a", registrar.Missed); e.Op != "" {
			t.Errorf("Last gives a failed event: %v", e)
		}
	})
}

func TestNobodyWaitsForAStuckStoreLongerThanHeSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		for _, key := range []string{"a", "b", "c"} {
			b.register(key)
		}
		b.store.set(func() { b.store.stuck = true })
		<-b.store.entered // a refresh is stuck
		began := time.Now()
		if err := b.Freeze(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("Freeze waited %s for a stuck refresh", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		for _, c := range []struct {
			name string
			call func() error
		}{
			{"Register", func() error { return b.Register(ctx, registrar.Entry{Key: "d", TTL: time.Second}) }},
			{"Update", func() error { return b.Update(ctx, "b", nil) }},
			{"Thaw", func() error { _, err := b.Thaw(ctx, "a"); return err }},
			{"Unregister", func() error { return b.Unregister(ctx, "c") }},
		} {
			if err := c.call(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s = %v, want that its time has passed", c.name, err)
			}
		}
		if d := time.Since(began); d > 100*time.Millisecond {
			t.Errorf("the calls took %s", d)
		}
		began = time.Now()
		if err := b.Book.Close(); err == nil || time.Since(began) > closing {
			t.Errorf("Close = %v after %s, want an error within %s", err, time.Since(began), closing)
		}
		synctest.Wait() // no loop is left, else the bubble never ends
	})
}

func TestCloseTakesAwayWhatIsAliveAndLeavesTheFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, false)
		for _, key := range []string{"a", "b", "c"} {
			b.register(key)
		}
		if err := b.Freeze(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if err := b.Book.Close(); err != nil {
			t.Fatal(err)
		}
		b.wantStored("b=v")
		for what, err := range map[string]error{
			"Register":   b.Register(t.Context(), registrar.Entry{Key: "d", TTL: time.Second}),
			"Unregister": b.Unregister(t.Context(), "b"),
			"Abandon":    b.Abandon("b"),
			"Close":      nilIs(b.Book.Close(), registrar.ErrClosed),
		} {
			if !errors.Is(err, registrar.ErrClosed) {
				t.Errorf("%s after Close = %v", what, err)
			}
		}
	})
}

func nilIs(err, instead error) error {
	if err == nil {
		return instead
	}
	return err
}

func TestBadCallsAreRefusedWithTheKeyAndARemedy(t *testing.T) {
	b := open(t, false)
	b.register("a")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no key", b.Register(t.Context(), registrar.Entry{TTL: time.Second}), "without a key"},
		{"too short a life", b.Register(t.Context(), registrar.Entry{Key: "k", TTL: time.Millisecond}), "at least 100ms"},
		{"a key twice", b.Register(t.Context(), registrar.Entry{Key: "a", TTL: time.Second}), `"a"`},
		{"an unknown key", b.Unregister(t.Context(), "k"), "Register it first"},
		{"freezing nothing", b.Freeze(t.Context(), "k"), `"k"`},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, c.err, c.want)
		}
	}
}

func TestARegistrarMayBeUsedByManyAtOnce(t *testing.T) {
	b := open(t, true)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			key := fmt.Sprint("k", i%4)
			for range 50 {
				b.Register(t.Context(), registrar.Entry{Key: key, Value: []byte("v"), TTL: registrar.MinTTL})
				b.Freeze(t.Context(), key)
				b.Thaw(t.Context(), key)
				b.Update(t.Context(), key, []byte("w"))
				if i%2 == 0 {
					b.Unregister(t.Context(), key)
				} else {
					b.Kept(key)
				}
			}
		})
	}
	wg.Wait()
	if err := b.Book.Close(); err != nil {
		t.Error(err)
	}
	b.wantStored()
}
