package storetest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// leases are the tests of records that expire.
var leases = map[string]func(*testing.T, Suite){
	"a lease keeps its records alive until it is closed":     testLease,
	"records expire when their store was closed":             testExpiry,
	"each record has its owner's time to live":               testTwoTTLs,
	"a lease is lost when a record of it is removed":         testRemoved,
	"a lease is lost when somebody else takes a record":      testTaken,
	"leases of one store do not remove each other's records": testSharing,
}

// lives checks that a record outlives its time to live.
func lives(t *testing.T, view *View, l discovery.Lease, key string) {
	t.Helper()
	from := len(view.Events())
	select {
	case <-l.Lost():
		t.Fatal("the lease is lost")
	case <-time.After(l.TTL() * 5 / 2): // there is nothing to wait for: nothing must happen
	}
	for _, e := range view.Events()[from:] {
		if e.Kind == discovery.Delete && e.Entry.Key == key {
			t.Errorf("%s was gone for a while", key)
		}
	}
}

// lost waits until a lease is.
func lost(t *testing.T, l discovery.Lease) {
	t.Helper()
	select {
	case <-l.Lost():
	case <-time.After(Patience):
		t.Fatalf("the lease is not lost within %v", Patience)
	}
}

// grant returns a lease.
func grant(t *testing.T, s discovery.Store, ttl time.Duration) discovery.Lease {
	t.Helper()
	l, err := s.Grant(Within(t), ttl)
	Must(t, err)
	return l
}

func testLease(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	view := Watch(t, b.Open(t), "")
	l := grant(t, st, s.TTL)
	if l.TTL() < s.TTL {
		t.Errorf("granted %v of %v", l.TTL(), s.TTL)
	}
	Must(t, st.Create(Within(t), "created", []byte("v"), l))
	Must(t, st.Put(Within(t), "put", []byte("v"), l))
	Must(t, st.Put(Within(t), "for ever", []byte("v"), nil))
	view.UntilEqual(map[string]string{"created": "v", "put": "v", "for ever": "v"})
	lives(t, view, l, "created")
	Must(t, l.Close(Within(t)))
	view.UntilEqual(map[string]string{"for ever": "v"})
	if got := Listing(t, st, ""); !maps.Equal(got, map[string]string{"for ever": "v"}) {
		t.Errorf("there is %v", got)
	}
	select {
	case <-l.Lost():
		t.Error("a lease that was closed counts as lost")
	default:
	}
}

func testExpiry(t *testing.T, s Suite) {
	b := s.New(t)
	owner := b.Open(t)
	view, reader := Watch(t, b.Open(t), ""), b.Open(t)
	l := grant(t, owner, s.TTL)
	Must(t, owner.Create(Within(t), "k", []byte("v"), l))
	view.UntilEqual(map[string]string{"k": "v"})
	if got := Listing(t, reader, ""); len(got) != 1 {
		t.Errorf("there is %v", got)
	}
	died := time.Now()
	Must(t, owner.Close())
	view.UntilEqual(map[string]string{})
	took := time.Since(died)
	t.Logf("gone %v after its owner, with a time to live of %v", took, l.TTL())
	if took < l.TTL()/2 {
		t.Errorf("gone %v after its owner, which is too soon for a time to live of %v", took, l.TTL())
	}
	Eventually(t, "an empty list", func() bool { return len(Listing(t, reader, "")) == 0 }, func() any { return Listing(t, reader, "") })
	// What expired is free for others.
	Must(t, reader.Create(Within(t), "k", []byte("w"), nil))
	view.UntilEqual(map[string]string{"k": "w"})
}

func testTwoTTLs(t *testing.T, s Suite) {
	b := s.New(t)
	short, long, reader := b.Open(t), b.Open(t), b.Open(t)
	view := Watch(t, reader, "")
	Must(t, short.Create(Within(t), "short", []byte("v"), grant(t, short, s.TTL)))
	slow := grant(t, long, 4*s.TTL)
	Must(t, long.Create(Within(t), "long", []byte("v"), slow))
	quick := grant(t, reader, s.TTL) // a reader with a short time to live of its own
	Must(t, reader.Create(Within(t), "reader", []byte("v"), quick))
	view.UntilEqual(map[string]string{"short": "v", "long": "v", "reader": "v"})
	Must(t, short.Close())
	view.UntilEqual(map[string]string{"long": "v", "reader": "v"})
	lives(t, view, quick, "long") // which is kept alive more seldom than the others expire
	select {
	case <-slow.Lost():
		t.Error("the lease with the long time to live is lost")
	default:
	}
}

func testRemoved(t *testing.T, s Suite) {
	b := s.New(t)
	owner, other := b.Open(t), b.Open(t)
	l := grant(t, owner, s.TTL)
	Must(t, owner.Create(Within(t), "mine", []byte("v"), l))
	Must(t, owner.Create(Within(t), "also mine", []byte("v"), l))
	Must(t, owner.Delete(Within(t), "also mine")) // its own doing is no loss
	select {
	case <-l.Lost():
		t.Fatal("lost by deleting through the store itself")
	case <-time.After(l.TTL()):
	}
	Must(t, other.Delete(Within(t), "mine"))
	lost(t, l)
	if err := owner.Put(Within(t), "k", nil, l); !errors.Is(err, discovery.ErrLeaseLost) {
		t.Errorf("under a lost lease: %v, want ErrLeaseLost", err)
	}
	Must(t, l.Close(Within(t)))
}

func testTaken(t *testing.T, s Suite) {
	b := s.New(t)
	owner, other := b.Open(t), b.Open(t)
	l := grant(t, owner, s.TTL)
	Must(t, owner.Create(Within(t), "mine", []byte("v"), l))
	theirs := grant(t, other, s.TTL)
	Must(t, other.Put(Within(t), "mine", []byte("theirs"), theirs))
	lost(t, l)
	Must(t, l.Close(Within(t)))
	if got := Listing(t, owner, ""); !maps.Equal(got, map[string]string{"mine": "theirs"}) {
		t.Errorf("closing a lost lease left %v", got)
	}
	view := Watch(t, owner, "")
	view.UntilEqual(map[string]string{"mine": "theirs"})
	lives(t, view, theirs, "mine")
}

func testSharing(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	want := map[string]string{}
	var all []discovery.Lease
	for i := range 4 {
		l := grant(t, st, s.TTL)
		key := fmt.Sprintf("k%d", i)
		Must(t, st.Create(Within(t), key, []byte("v"), l))
		want[key] = "v"
		all = append(all, l)
	}
	Must(t, b.Open(t).Delete(Within(t), "k3"))
	lost(t, all[3])
	delete(want, "k3")
	for i, l := range all {
		if i < 3 {
			select {
			case <-l.Lost():
				t.Errorf("lease %d is lost with another", i)
			default:
			}
		}
		Must(t, l.Close(Within(t)))
		delete(want, fmt.Sprintf("k%d", i))
		if got := Listing(t, st, ""); !maps.Equal(got, want) {
			t.Errorf("after %d of the leases was closed there is %v, want %v", i, got, want)
		}
	}
	if strings.Contains(fmt.Sprint(Listing(t, st, "")), "v") {
		t.Error("something is left")
	}
}
