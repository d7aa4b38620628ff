package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// workers are the tests of registering and following.
var workers = map[string]func(*testing.T, Suite){
	"a registered worker is followed until it stops":       testRegister,
	"a swept registration comes back as a new incarnation": testSwept,
	"a second registration with other content is an error": testDuplicate,
	"a bad record is skipped and leaves the last good one": testBadRecords,
	"of two incarnations the newer one counts":             testNewest,
	"many registrations at once are few worker sets":       testBurst,
}

func worker(id string) discovery.Worker {
	return discovery.Worker{ID: id, URL: "http://10.0.0.1:8000", Models: []string{"m"}, Role: discovery.Decode, Ranks: 2}
}

func register(t *testing.T, s discovery.Store, w discovery.Worker, ttl time.Duration) *discovery.Registration {
	t.Helper()
	r, err := discovery.Register(t.Context(), s, "workers", w, ttl, Log(t))
	Must(t, err)
	t.Cleanup(func() { <-r.Done() }) // its context has ended then
	return r
}

func ready(t *testing.T, r *discovery.Registration) discovery.Worker {
	t.Helper()
	Must(t, r.Ready(Within(t)))
	w, _, _ := r.Current()
	return w
}

// renewed waits until a registration is in force with another incarnation.
func renewed(t *testing.T, r *discovery.Registration, old string) discovery.Worker {
	t.Helper()
	limit := time.After(Patience)
	for {
		w, registered, changed := r.Current()
		if registered && w.Incarnation != old {
			return w
		}
		select {
		case <-changed:
		case <-r.Done():
			t.Fatalf("the registration has ended: %v", r.Err())
		case <-limit:
			t.Fatalf("no other incarnation than %s within %v", old, Patience)
		}
	}
}

// Fleet is what a follower makes of a store.
type Fleet struct {
	*discovery.Follower
	t *testing.T

	mu      sync.Mutex
	sets    [][]discovery.Worker
	changed chan struct{}
}

// Follow follows the workers of a store.
func Follow(t *testing.T, s discovery.Store) *Fleet {
	f := &Fleet{t: t, changed: make(chan struct{})}
	f.Follower = discovery.NewFollower(s, "workers", f.take, Log(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("following ended with %v", err)
		}
	})
	return f
}

func (f *Fleet) take(set []discovery.Worker) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sets = append(f.sets, set)
	close(f.changed)
	f.changed = make(chan struct{})
	return discovery.Validate(set)
}

// Sets returns the worker sets so far.
func (f *Fleet) Sets() [][]discovery.Worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sets)
}

// Until waits until the set is right, and returns it.
func (f *Fleet) Until(what string, right func([]discovery.Worker) bool) []discovery.Worker {
	f.t.Helper()
	limit := time.After(Patience)
	for {
		f.mu.Lock()
		var set []discovery.Worker
		begun := len(f.sets) > 0
		if begun {
			set = f.sets[len(f.sets)-1]
		}
		changed := f.changed
		f.mu.Unlock()
		if begun && right(set) {
			return set
		}
		select {
		case <-changed:
		case <-limit:
			f.t.Fatalf("%s: not within %v; the set is %v", what, Patience, set)
		}
	}
}

// UntilIDs waits until the set has these ids, and returns it.
func (f *Fleet) UntilIDs(ids ...string) []discovery.Worker {
	f.t.Helper()
	return f.Until(fmt.Sprintf("the workers %v", ids), func(set []discovery.Worker) bool {
		return slices.EqualFunc(set, ids, func(w discovery.Worker, id string) bool { return w.ID == id })
	})
}

func testRegister(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	fleet := Follow(t, b.Open(t))
	fleet.UntilIDs()
	r := register(t, st, worker("w/0 ü"), s.TTL)
	w := ready(t, r)
	got := fleet.UntilIDs("w/0 ü")[0]
	if w.Incarnation == "" || got.Incarnation != w.Incarnation || got.URL != w.URL || got.Role != discovery.Decode || got.Ranks != 2 || !slices.Equal(got.Models, w.Models) {
		t.Errorf("followed %+v, registered %+v", got, w)
	}
	Must(t, r.Stop(Within(t)))
	fleet.UntilIDs()
	Must(t, r.Stop(Within(t)))
	if err := r.Err(); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	if err := r.Ready(Within(t)); err == nil {
		t.Error("a stopped registration is ready")
	}
	again := worker("w/0 ü")
	again.Incarnation = "7"
	r = register(t, st, again, s.TTL)
	ready(t, r)
	if got := fleet.UntilIDs("w/0 ü")[0]; got.Incarnation != "7" {
		t.Errorf("a given incarnation became %q", got.Incarnation)
	}
	Must(t, r.Stop(Within(t)))
	if got := Listing(t, st, ""); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
	for name, call := range map[string]func() error{
		"a worker without address": func() error {
			_, err := discovery.Register(t.Context(), st, "workers", discovery.Worker{ID: "w", Models: []string{"m"}}, s.TTL, Log(t))
			return err
		},
		"a bad prefix": func() error {
			_, err := discovery.Register(t.Context(), st, "/", worker("w"), s.TTL, Log(t))
			return err
		},
		"a time to live of nothing": func() error {
			_, err := discovery.Register(t.Context(), st, "workers", worker("w"), 0, Log(t))
			return err
		},
	} {
		if call() == nil {
			t.Errorf("%s was registered", name)
		}
	}
}

func testSwept(t *testing.T, s Suite) {
	b := s.New(t)
	st, other := b.Open(t), b.Open(t)
	fleet := Follow(t, b.Open(t))
	given := worker("w0")
	given.Incarnation = "7"
	r := register(t, st, given, s.TTL)
	first := ready(t, r)
	fleet.UntilIDs("w0")
	for key := range Listing(t, other, "workers") {
		Must(t, other.Delete(Within(t), key))
	}
	second := renewed(t, r, first.Incarnation)
	if !strings.HasPrefix(second.Incarnation, "7+") {
		t.Errorf("incarnation %q followed %q", second.Incarnation, first.Incarnation)
	}
	fleet.Until("the new incarnation", func(set []discovery.Worker) bool {
		return len(set) == 1 && set[0].Incarnation == second.Incarnation
	})
	for key := range Listing(t, other, "workers") {
		Must(t, other.Put(Within(t), key, []byte("not yours"), nil))
	}
	third := renewed(t, r, second.Incarnation)
	fleet.Until("the third incarnation", func(set []discovery.Worker) bool {
		return len(set) == 1 && set[0].Incarnation == third.Incarnation
	})
	Must(t, r.Stop(Within(t)))
}

func testDuplicate(t *testing.T, s Suite) {
	b := s.New(t)
	w := worker("w0")
	w.Incarnation = "1"
	one := register(t, b.Open(t), w, s.TTL)
	ready(t, one)
	other := w
	other.URL = "http://10.0.0.2:8000"
	two := register(t, b.Open(t), other, s.TTL)
	<-two.Done()
	if err := two.Err(); !errors.Is(err, discovery.ErrExists) || !strings.Contains(err.Error(), "w0") || !strings.Contains(err.Error(), "other content") {
		t.Errorf("other content: %v", err)
	}
	if err := two.Ready(Within(t)); !errors.Is(err, discovery.ErrExists) {
		t.Errorf("Ready = %v", err)
	}
	Must(t, two.Stop(Within(t)))
	same := register(t, b.Open(t), w, s.TTL)
	if got := ready(t, same); got.Incarnation != "1" {
		t.Errorf("the same content was registered as %q", got.Incarnation)
	}
}

func testBadRecords(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	fleet := Follow(t, b.Open(t))
	put := func(key, value string) { t.Helper(); Must(t, st.Put(Within(t), "workers/"+key, []byte(value), nil)) }
	good := func(id, port string) string {
		return fmt.Sprintf(`{"id":%q,"url":"http://h:%s","models":["m"],"new field":[1]}`, id, port)
	}
	put("a", good("a", "1"))
	put("b", good("b", "1"))
	fleet.UntilIDs("a", "b")
	bad := []string{
		"", "{", `{"id":"a"`, "\xff\xfe", `{"id":"a\xff","url":"http://h:1","models":["m"]}`, `{"id":"a","models":["m"]}`, `{"id":"a","url":"","models":["m"]}`,
		`{"id":"","url":"http://h:1","models":["m"]}`, `{"id":"a","url":"http://h:1"}`, `{"id":"a","url":"http://h:1","models":["m"]} trailing`,
		`{"id":"a","url":"http://h:1","models":["m"],"ranks":-1}`, `[]`, `null`, strings.Repeat(" ", 64<<10) + good("a", "1"),
	}
	for i, value := range bad {
		put("a", value)
		put("new", value)
		want := uint64(2 * (i + 1))
		Eventually(t, "the bad records to be counted", func() bool { return fleet.Stats().Skipped == want }, func() any { return fmt.Sprintf("%+v, want %d skipped, with %.80q", fleet.Stats(), want, value) })
	}
	put("b", good("b", "2"))
	set := fleet.Until("the other worker's change", func(set []discovery.Worker) bool {
		return len(set) == 2 && set[1].URL == "http://h:2"
	})
	if set[0].URL != "http://h:1" {
		t.Errorf("the last good value became %+v", set[0])
	}
	// Who begins to follow now never knew a good value, and is not kept from the rest.
	Follow(t, b.Open(t)).UntilIDs("b")
	put("a", good("a", "3"))
	put("new", good("new", "3"))
	if set := fleet.UntilIDs("a", "b", "new"); set[0].URL != "http://h:3" {
		t.Errorf("the repaired record became %+v", set[0])
	}
	put("a", "bad again")
	Eventually(t, "the bad record to be counted", func() bool { return fleet.Stats().Skipped == uint64(2*len(bad)+1) }, func() any { return fleet.Stats() })
	Must(t, st.Delete(Within(t), "workers/a"))
	fleet.UntilIDs("b", "new")
}

func testNewest(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	fleet := Follow(t, b.Open(t))
	put := func(key, incarnation string) {
		Must(t, st.Put(Within(t), "workers/"+key, fmt.Appendf(nil, `{"id":"w","url":"http://h:1","models":["m"],"incarnation":%q}`, incarnation), nil))
	}
	is := func(incarnation string) {
		t.Helper()
		fleet.Until("incarnation "+incarnation, func(set []discovery.Worker) bool { return len(set) == 1 && set[0].Incarnation == incarnation })
	}
	put("z", "9")
	is("9")
	put("a", "10")
	is("10")
	put("b", "8")
	put("c", "10+1")
	is("10+1")
	Must(t, st.Delete(Within(t), "workers/c"))
	is("10")
	Must(t, st.Delete(Within(t), "workers/a"))
	is("9")
	// A registration is newer than whatever is there, by whatever clock.
	ahead := fmt.Sprintf("%016x-00000000", time.Now().Add(time.Hour).UnixNano())
	r := register(t, st, worker("w"), s.TTL)
	is(ready(t, r).Incarnation)
	Must(t, r.Stop(Within(t)))
	Must(t, st.Put(Within(t), "workers/w/"+ahead, fmt.Appendf(nil, `{"id":"w","url":"http://h:1","models":["m"],"incarnation":%q}`, ahead), nil))
	is(ahead)
	r = register(t, st, worker("w"), s.TTL)
	is(ready(t, r).Incarnation)
}

func testBurst(t *testing.T, s Suite) {
	b := s.New(t)
	fleet := Follow(t, b.Open(t))
	fleet.UntilIDs()
	const n = 200
	stores := []discovery.Store{b.Open(t), b.Open(t)}
	var all []*discovery.Registration
	for i := range n {
		all = append(all, register(t, stores[i%2], worker(fmt.Sprintf("w%03d", i)), 10*s.TTL))
	}
	fleet.Until("all workers", func(set []discovery.Worker) bool { return len(set) == n })
	if sets := len(fleet.Sets()); sets > n {
		t.Errorf("%d worker sets for %d workers", sets, n)
	} else {
		t.Logf("%d worker sets for %d workers", sets, n)
	}
	for _, r := range all {
		Must(t, r.Stop(Within(t)))
	}
	fleet.UntilIDs()
}
