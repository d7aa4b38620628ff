package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/routeproof/routeproof/impl/discovery"
	. "github.com/routeproof/routeproof/impl/discovery/storetest"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{{Config{Endpoints: []string{"http://h:1"}}, "root"}, {Config{Endpoints: []string{"http://h:1"}, Root: "//"}, "root"}, {Config{Root: "/r"}, "endpoints"}} {
		if _, err := Open(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

func TestCompactionDuringAnOutageIsASnapshot(t *testing.T) {
	t.Parallel()
	p := ownPlace(t) // compaction interrupts whoever lags behind
	st := p.Open(t)
	view := Watch(t, st, "")
	Must(t, st.Put(Within(t), "stays", []byte("v"), nil))
	Must(t, st.Put(Within(t), "goes", []byte("v"), nil))
	view.UntilEqual(map[string]string{"stays": "v", "goes": "v"})
	back := p.Away(t)
	client := raw(t, p.server)
	_, err := client.Delete(Within(t), p.root+"/goes")
	Must(t, err)
	put, err := client.Put(Within(t), p.root+"/comes", "v")
	Must(t, err)
	for range 3 { // so that what was missed is gone from the history
		put, err = client.Put(Within(t), p.root+"/comes", "w")
		Must(t, err)
	}
	_, err = client.Compact(Within(t), put.Header.Revision)
	Must(t, err)
	back()
	view.UntilEqual(map[string]string{"stays": "v", "comes": "w"})
	Must(t, st.Delete(Within(t), "stays"))
	view.UntilEqual(map[string]string{"comes": "w"})
}

func TestAServerThatComesBackEmptyLeavesNoGhosts(t *testing.T) {
	t.Parallel()
	server, err := serve(t.TempDir(), "127.0.0.1:0")
	Must(t, err)
	address := server.Clients[0].Addr().String()
	p := &place{root: "/r", server: address, proxy: newProxy(t, address)}
	st := p.Open(t)
	fleet := Follow(t, p.Open(t))
	r, err := discovery.Register(t.Context(), st, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
	Must(t, err)
	for i := range 20 { // a history that is longer than the next server's
		Must(t, st.Put(Within(t), "workers/ghost", fmt.Appendf(nil, `{"id":"ghost","url":"http://h:%d","models":["m"]}`, i+1), nil))
	}
	fleet.UntilIDs("ghost", "w0")
	Must(t, r.Ready(Within(t)))
	before, _, _ := r.Current()
	p.proxy.set(refusing) // the clients first, or closing the server takes five seconds
	server.Close()
	next, err := serve(t.TempDir(), address)
	Must(t, err)
	t.Cleanup(next.Close)
	t.Cleanup(func() { p.proxy.set(refusing) })
	p.proxy.set(passing)
	fleet.Until("the worker alone, as another incarnation", func(set []discovery.Worker) bool {
		return len(set) == 1 && set[0].ID == "w0" && set[0].Incarnation != before.Incarnation
	})
	Must(t, r.Stop(Within(t)))
	fleet.UntilIDs()
}

func TestConnectionsThatDieInSilenceAreReplaced(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	st := p.Open(t)
	view := Watch(t, st, "")
	l, err := st.Grant(Within(t), 4*time.Second)
	Must(t, err)
	Must(t, st.Create(Within(t), "mine", []byte("v"), l))
	view.UntilEqual(map[string]string{"mine": "v"})
	behind := p.Behind(t)
	Must(t, behind.Put(Within(t), "other", []byte("v"), nil))
	view.UntilEqual(map[string]string{"mine": "v", "other": "v"})
	before := p.proxy.accepted()
	began := time.Now()
	p.proxy.freeze()
	Must(t, behind.Delete(Within(t), "other"))
	view.UntilEqual(map[string]string{"mine": "v"})
	soon(t, began)
	if p.proxy.accepted() == before {
		t.Error("no other connection was made")
	}
	select {
	case <-l.Lost():
		t.Error("the lease was lost, though a new connection could have kept it")
	case <-time.After(l.TTL()):
	}
	Must(t, l.Close(Within(t)))
	view.UntilEqual(map[string]string{})
}

func TestAWatchAloneNoticesThatItsConnectionDied(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	view, behind := Watch(t, p.Open(t), ""), p.Behind(t)
	view.UntilEqual(map[string]string{})
	Must(t, behind.Put(Within(t), "k", []byte("v"), nil))
	view.UntilEqual(map[string]string{"k": "v"})
	began := time.Now()
	p.proxy.freeze()
	Must(t, behind.Put(Within(t), "k", []byte("w"), nil))
	view.UntilEqual(map[string]string{"k": "w"})
	soon(t, began)
}

// soon fails the test if a dead connection was noticed later than is promised, and a
// busy machine may add. gRPC notices after twelve seconds.
func soon(t *testing.T, began time.Time) {
	t.Helper()
	took := time.Since(began)
	t.Logf("noticed after %v", took)
	if limit := 3*time.Second + 3*time.Second; took > limit {
		t.Errorf("noticed after %v, later than %v", took, limit)
	}
}

func TestAQuietServerIsNotTakenForDead(t *testing.T) {
	t.Parallel()
	p := ownPlace(t) // nobody else writes there
	st := p.Open(t)
	empty, view := Watch(t, st, "nothing"), Watch(t, st, "")
	empty.UntilEqual(map[string]string{})
	Must(t, st.Put(Within(t), "k", []byte("v"), nil))
	view.UntilEqual(map[string]string{"k": "v"})
	late := Watch(t, st, "")
	late.UntilEqual(map[string]string{"k": "v"})
	before := p.proxy.accepted()
	<-time.After(askEvery + askWait + 2*time.Second) // nothing must happen
	if n := p.proxy.accepted() - before; n > 0 {
		t.Errorf("%d connections were made to a server that is only quiet", n)
	}
	for _, v := range []*View{empty, view, late} {
		if n := v.Snapshots(); n != 1 {
			t.Errorf("%d snapshots from a server that is only quiet", n)
		}
	}
	if events := late.Events(); len(events) != 1 {
		t.Errorf("what the snapshot had was told again: %v", events)
	}
}

func TestASilentServerKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	st := p.Open(t)
	fleet := Follow(t, p.Open(t))
	r, err := discovery.Register(t.Context(), st, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
	Must(t, err)
	fleet.UntilIDs("w0")
	first, _, _ := r.Current()
	p.proxy.set(silent)
	began := time.Now()
	err = st.Put(Within(t), "k", nil, nil)
	t.Logf("a call failed after %v: %v", time.Since(began), err)
	if err == nil || time.Since(began) > callWait+3*time.Second {
		t.Errorf("a call to a silent server: %v after %v", err, time.Since(began))
	}
	Eventually(t, "the registration to be lost", func() bool { _, registered, _ := r.Current(); return !registered }, func() any { return "a registration" })
	if set := fleet.UntilIDs("w0"); set[0].Incarnation != first.Incarnation {
		t.Errorf("the worker became %v while nothing could be known", set[0])
	}
	p.proxy.set(passing)
	fleet.Until("the new incarnation", func(set []discovery.Worker) bool {
		return len(set) == 1 && set[0].Incarnation != first.Incarnation
	})
	Must(t, r.Stop(Within(t)))
}

func TestAnOutageIsNoStormOfConnections(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	st := p.Open(t)
	view := Watch(t, st, "")
	view.UntilEqual(map[string]string{})
	r, err := discovery.Register(t.Context(), st, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
	Must(t, err)
	Must(t, r.Ready(Within(t)))
	before := p.proxy.accepted()
	p.proxy.set(refusing)
	<-time.After(4 * time.Second) // there is nothing to wait for
	if n := p.proxy.accepted() - before; n > 40 {
		t.Errorf("%d connections in four seconds", n)
	} else {
		t.Logf("%d connections in four seconds", n)
	}
	p.proxy.set(passing)
	Must(t, r.Ready(Within(t)))
	w, _, _ := r.Current()
	view.Until("the new incarnation", func(m map[string]string) bool { return m["workers/w0/"+w.Incarnation] != "" })
	Must(t, r.Stop(Within(t)))
}

func TestKeysThatAreNoneAreSkipped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(t, p.server)
	client := raw(t, p.server)
	for _, key := range []string{"/bad\xff", "/a//b", "/", "/\n", "-outside/k", "/good"} {
		_, err := client.Put(Within(t), p.root+key, "v")
		Must(t, err)
	}
	want := map[string]string{"good": "v"}
	if got := Listing(t, s, ""); !maps.Equal(got, want) {
		t.Errorf("there is %v", got)
	}
	view := Watch(t, s, "")
	view.UntilEqual(want)
	_, err := client.Put(Within(t), p.root+"/later\xfe", "v")
	Must(t, err)
	_, err = client.Delete(Within(t), p.root+"/later\xfe")
	Must(t, err)
	Must(t, s.Put(Within(t), "after", nil, nil))
	view.UntilEqual(map[string]string{"good": "v", "after": ""})
	if n := s.Stats().Skipped; n != 9 {
		t.Errorf("%d keys skipped, want 4 by the list, 4 by the snapshot and one change", n)
	}
}

func TestAProcessHasOneLease(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	st := p.Open(t)
	for i := range 5 {
		r, err := discovery.Register(t.Context(), st, "workers", discovery.Worker{ID: fmt.Sprint(i), URL: "http://h:1", Models: []string{"m"}}, 2*time.Second, Log(t))
		Must(t, err)
		Must(t, r.Ready(Within(t)))
	}
	client := raw(t, p.server)
	resp, err := client.Get(Within(t), p.root, clientv3.WithPrefix())
	Must(t, err)
	if len(resp.Kvs) != 5 {
		t.Fatalf("%d records", len(resp.Kvs))
	}
	for _, kv := range resp.Kvs {
		if kv.Lease == 0 || kv.Lease != resp.Kvs[0].Lease {
			t.Errorf("%s is under lease %x, %s under %x", kv.Key, kv.Lease, resp.Kvs[0].Key, resp.Kvs[0].Lease)
		}
	}
}

func TestALeaseThatEtcdEndsIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	fleet := Follow(t, p.Open(t))
	r, err := discovery.Register(t.Context(), p.Open(t), "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, 3*time.Second, Log(t))
	Must(t, err)
	first := fleet.UntilIDs("w0")[0].Incarnation
	client := raw(t, p.server)
	lease := func() clientv3.LeaseID {
		resp, err := client.Get(Within(t), p.root, clientv3.WithPrefix())
		Must(t, err)
		if len(resp.Kvs) != 1 {
			return 0
		}
		return clientv3.LeaseID(resp.Kvs[0].Lease)
	}
	old := lease()
	_, err = client.Revoke(Within(t), old)
	Must(t, err)
	fleet.Until("another incarnation", func(set []discovery.Worker) bool { return len(set) == 1 && set[0].Incarnation != first })
	if now := lease(); now == old || now == 0 {
		t.Errorf("the record is under lease %x, after %x was revoked", now, old)
	}
	Must(t, r.Stop(Within(t)))
	if resp, err := client.TimeToLive(Within(t), old); err != nil || resp.TTL != -1 {
		t.Errorf("the old lease: %+v, %v", resp, err)
	}
}

func TestClosingDuringAnOutageTakesNotLong(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	st := p.open(t, p.proxy.address())
	view := Watch(t, st, "")
	view.UntilEqual(map[string]string{})
	l, err := st.Grant(Within(t), ttl)
	Must(t, err)
	Must(t, st.Put(Within(t), "k", nil, l))
	p.proxy.set(silent)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing a lease: %v", err)
	}
	began := time.Now()
	Must(t, st.Close())
	if took := time.Since(began); took > callWait {
		t.Errorf("closing took %v", took)
	}
}
