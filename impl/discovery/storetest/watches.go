package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// watches are the tests of Watch.
var watches = map[string]func(*testing.T, Suite){
	"a watch begins with one snapshot":                 testSnapshotFirst,
	"nothing is lost between a snapshot and changes":   testNoGap,
	"a slow reader loses nothing":                      testSlowReader,
	"a watch ends with its context and with its store": testWatchEnds,
}

func kinds(events []discovery.Event) (out []discovery.Kind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

func testSnapshotFirst(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	empty := Watch(t, b.Open(t), "")
	empty.UntilEqual(map[string]string{})
	Must(t, st.Put(Within(t), "a", []byte("1"), nil))
	Must(t, st.Put(Within(t), "b", []byte("1"), nil))
	empty.UntilEqual(map[string]string{"a": "1", "b": "1"})
	view := Watch(t, b.Open(t), "")
	view.UntilEqual(map[string]string{"a": "1", "b": "1"})
	Must(t, st.Put(Within(t), "a", []byte("2"), nil))
	view.UntilEqual(map[string]string{"a": "2", "b": "1"})
	Must(t, st.Replace(Within(t), "a", []byte("2"), []byte("3")))
	view.UntilEqual(map[string]string{"a": "3", "b": "1"})
	Must(t, st.Delete(Within(t), "b"))
	view.UntilEqual(map[string]string{"a": "3"})
	if got, want := kinds(view.Events()), []discovery.Kind{discovery.Snapshot, discovery.Put, discovery.Put, discovery.Delete}; !slices.Equal(got, want) {
		t.Errorf("the watch told %v, want %v", got, want)
	}
	if got := view.Events()[0].Entries; len(got) != 2 || got[0].Key != "a" || got[1].Key != "b" {
		t.Errorf("the snapshot is %v", got)
	}
	if got := empty.Events()[0]; got.Kind != discovery.Snapshot || len(got.Entries) > 0 {
		t.Errorf("of nothing, the watch told %v", got)
	}
}

func testNoGap(t *testing.T, s Suite) {
	b := s.New(t)
	writer, reader := b.Open(t), b.Open(t)
	const keys, watches = 120, 6
	want := map[string]string{}
	var views []*View
	var wg sync.WaitGroup
	begin := make([]chan struct{}, watches)
	for i := range begin {
		begin[i] = make(chan struct{})
	}
	var mu sync.Mutex
	for i := range watches {
		wg.Go(func() {
			<-begin[i]
			v := Watch(t, reader, "")
			mu.Lock()
			defer mu.Unlock()
			views = append(views, v)
		})
	}
	for i := range keys {
		if i%(keys/watches) == 0 {
			close(begin[i/(keys/watches)])
		}
		key := fmt.Sprintf("k/%03d", i)
		Must(t, writer.Put(Within(t), key, []byte("v"), nil))
		want[key] = "v"
		if i%3 == 0 {
			Must(t, writer.Delete(Within(t), key))
			delete(want, key)
		}
	}
	wg.Wait()
	for _, v := range views {
		v.UntilEqual(want)
		if n := v.Snapshots(); n != 1 {
			t.Errorf("%d snapshots without an interruption", n)
		}
		if k := v.Events()[0].Kind; k != discovery.Snapshot {
			t.Errorf("a watch began with %v", k)
		}
	}
}

func testSlowReader(t *testing.T, s Suite) {
	b := s.New(t)
	writer := b.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := b.Open(t).Watch(ctx, "")
	Must(t, err)
	first := <-events
	if first.Kind != discovery.Snapshot {
		t.Fatalf("the watch began with %v", first.Kind)
	}
	want := map[string]string{}
	for i := range 300 {
		key := fmt.Sprintf("k%d", i%100)
		Must(t, writer.Put(Within(t), key, fmt.Append(nil, i), nil))
		want[key] = fmt.Sprint(i)
	}
	state := map[string]string{}
	limit := time.After(Patience)
	for !maps.Equal(state, want) {
		select {
		case e := <-events:
			state[e.Entry.Key] = string(e.Entry.Value)
		case <-limit:
			t.Fatalf("the reader knows %v", state)
		}
	}
}

func testWatchEnds(t *testing.T, s Suite) {
	b := s.New(t)
	st := b.Open(t)
	view := Watch(t, st, "")
	unread, err := st.Watch(t.Context(), "")
	Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ending, err := st.Watch(ctx, "")
	Must(t, err)
	<-ending
	cancel()
	for range ending {
	}
	view.UntilEqual(map[string]string{})
	l, err := st.Grant(Within(t), s.TTL)
	Must(t, err)
	Must(t, st.Close())
	Must(t, st.Close())
	<-view.done
	for range unread {
	}
	select {
	case <-l.Lost():
	default:
		t.Error("a lease of a closed store is not lost")
	}
	_, granted := st.Grant(t.Context(), s.TTL)
	_, watched := st.Watch(t.Context(), "")
	_, listed := st.List(t.Context(), "")
	for call, err := range map[string]error{
		"Create": st.Create(t.Context(), "k", nil, nil), "Put": st.Put(t.Context(), "k", nil, nil),
		"Delete": st.Delete(t.Context(), "k"), "Replace": st.Replace(t.Context(), "k", nil, nil),
		"Grant": granted, "Watch": watched, "List": listed,
	} {
		if !errors.Is(err, discovery.ErrClosed) {
			t.Errorf("%s of a closed store: %v, want ErrClosed", call, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Open(t).Put(cancelled, "k", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
