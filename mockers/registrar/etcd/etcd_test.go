package etcd

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/routeproof/routeproof/mockers/registrar"
)

// server is an etcd inside the test.
func server(t *testing.T) string {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 10, 100
	any := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls, cfg.ListenPeerUrls = any, any
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(20 * time.Second):
		t.Fatal("etcd is not ready in time")
	}
	return e.Clients[0].Addr().String()
}

type bed struct {
	t *testing.T
	*Registrar
	ctx      context.Context
	endpoint string
	client   *clientv3.Client // an observer
}

func open(t *testing.T, o Options) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	b := &bed{t: t, ctx: ctx, endpoint: server(t)}
	o.Endpoints = []string{b.endpoint}
	r, err := New(ctx, o)
	b.must(err)
	b.Registrar = r
	t.Cleanup(func() { r.Close() })
	b.client, err = clientv3.New(clientv3.Config{Endpoints: o.Endpoints, Logger: zap.NewNop()})
	b.must(err)
	t.Cleanup(func() { b.client.Close() })
	return b
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) register(key string) {
	b.t.Helper()
	b.must(b.Register(b.ctx, registrar.Entry{Key: key, Value: []byte("v"), TTL: time.Second}))
}

// get is a key's value, empty without it, and its lease.
func (b *bed) get(key string) (string, clientv3.LeaseID) {
	b.t.Helper()
	got, err := b.client.Get(b.ctx, key)
	b.must(err)
	if len(got.Kvs) == 0 {
		return "", 0
	}
	return string(got.Kvs[0].Value), clientv3.LeaseID(got.Kvs[0].Lease)
}

func (b *bed) until(what string, seen func() bool) {
	b.t.Helper()
	for !seen() {
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("not seen in time: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (b *bed) gone(key string) func() bool {
	return func() bool { _, lease := b.get(key); return lease == 0 }
}

func (b *bed) refreshes(key string) (n int) {
	for _, e := range b.Log().Events(0) {
		if e.Key == key && e.Op == registrar.Refreshed && e.Err == nil {
			n++
		}
	}
	return n
}

func TestARecordOutlivesItsLeaseWhileItIsKeptAliveAndIsGoneAfterwards(t *testing.T) {
	b := open(t, Options{})
	b.register("a")
	b.register("b")
	_, la := b.get("a")
	_, lb := b.get("b")
	if la == 0 || la == lb {
		t.Errorf("leases %x and %x, want one each", la, lb)
	}
	b.until("more refreshes than a lease lasts without", func() bool { return b.refreshes("a") > 6 })
	if v, lease := b.get("a"); v != "v" || lease != la {
		t.Errorf("a = %q in lease %x, was in %x", v, lease, la)
	}
	b.must(b.Update(b.ctx, "a", []byte("w")))
	if v, lease := b.get("a"); v != "w" || lease != la {
		t.Errorf("updated: %q in lease %x, was in %x", v, lease, la)
	}
	b.must(b.Unregister(b.ctx, "a"))
	if !b.gone("a")() {
		t.Error("an unregistered record is there")
	}
	began := time.Now()
	b.must(b.Abandon("b"))
	if b.gone("b")() && time.Since(began) < 500*time.Millisecond {
		t.Error("an abandoned record went at once")
	}
	b.until("the abandoned record is gone", b.gone("b"))
	alive, _ := b.Log().LastAlive("b")
	if d := time.Since(alive.Done); d > 3*time.Second {
		t.Errorf("gone only %s after the log's last sign of life", d)
	}
}

func TestThawSaysWhetherTheLeaseWasLost(t *testing.T) {
	b := open(t, Options{})
	b.register("short")
	b.must(b.Register(b.ctx, registrar.Entry{Key: "long", TTL: time.Minute}))
	b.must(b.Freeze(b.ctx, "short"))
	b.must(b.Freeze(b.ctx, "long"))
	b.until("the frozen record is gone", b.gone("short"))
	for key, want := range map[string]registrar.Lapse{"short": registrar.Gone, "long": registrar.Kept} {
		if got, err := b.Thaw(b.ctx, key); got != want || err != nil {
			t.Errorf("Thaw(%s) = %s, %v; want %s", key, got, err, want)
		}
	}
	b.register("short") // a new incarnation
	if _, lease := b.get("short"); lease == 0 {
		t.Error("it is not there")
	}
}

func TestALostLeaseIsReplacedWhereThatIsAskedFor(t *testing.T) {
	b := open(t, Options{Reregister: true})
	b.register("a")
	_, was := b.get("a")
	b.must(b.RevokeLease(b.ctx, "a"))
	b.until("a new lease", func() bool { _, lease := b.get("a"); return lease != 0 && lease != was })
}

func TestRawBytesGoInAndOutBehindTheOwnersBack(t *testing.T) {
	b := open(t, Options{Prefix: "w/"})
	b.register("w/a")
	_, lease := b.get("w/a")
	b.must(b.PutRaw(b.ctx, "w/a", []byte("{broken")))
	if v, l := b.get("w/a"); v != "{broken" || l != lease {
		t.Errorf("w/a = %q in lease %x, was in %x", v, l, lease)
	}
	b.must(b.PutRaw(b.ctx, "w/\xff\xfe", []byte("\x80")))
	b.must(b.PutRaw(b.ctx, "x", []byte("elsewhere")))
	records, err := b.List(b.ctx)
	b.must(err)
	got := []string{}
	for _, r := range records {
		got = append(got, r.Key+"="+string(r.Value))
	}
	if want := []string{"w/a={broken", "w/\xff\xfe=\x80"}; !slices.Equal(got, want) {
		t.Errorf("List = %q, want %q", got, want)
	}
	if records[0].Lease != int64(lease) || records[1].Lease != 0 {
		t.Errorf("leases %x and %x", records[0].Lease, records[1].Lease)
	}
	b.must(b.DeleteRaw(b.ctx, "w/a"))
	if !b.gone("w/a")() {
		t.Error("it is there")
	}
	b.until("the owner notices nothing", func() bool { return b.refreshes("w/a") > 0 })
	b.must(b.RemoveAll(b.ctx))
	if records, err := b.List(b.ctx); err != nil || len(records) > 0 {
		t.Errorf("left %v, %v", records, err)
	}
	if v, _ := b.get("x"); v != "elsewhere" {
		t.Error("RemoveAll went beyond the prefix")
	}
}

func TestAfterACompactionTheHistoryIsGone(t *testing.T) {
	b := open(t, Options{})
	b.must(b.PutRaw(b.ctx, "a", nil))
	b.must(b.PutRaw(b.ctx, "a", nil))
	b.must(b.DeleteRaw(b.ctx, "a"))
	revision, err := b.Compact(b.ctx)
	b.must(err)
	if _, err := b.client.Get(b.ctx, "a", clientv3.WithRev(revision-1)); !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("the past: %v", err)
	}
}

func TestCloseRevokesTheLeases(t *testing.T) {
	b := open(t, Options{})
	b.register("a")
	b.must(b.Register(b.ctx, registrar.Entry{Key: "left", TTL: time.Minute}))
	b.must(b.Abandon("left"))
	b.must(b.Close())
	if !b.gone("a")() {
		t.Error("a is there")
	}
	if b.gone("left")() {
		t.Error("the abandoned record was taken away")
	}
	for what, err := range map[string]error{"PutRaw": b.PutRaw(b.ctx, "a", nil), "Register": b.Register(b.ctx, registrar.Entry{Key: "b", TTL: time.Second})} {
		if !errors.Is(err, registrar.ErrClosed) {
			t.Errorf("%s after Close = %v", what, err)
		}
	}
	b.must(b.Close())
}

func TestBadOptionsAndEntriesAreRefused(t *testing.T) {
	b := open(t, Options{})
	if err := b.Register(b.ctx, registrar.Entry{Key: "a", TTL: 1500 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "whole seconds") {
		t.Errorf("half a second: %v", err)
	}
	if err := b.RevokeLease(b.ctx, "none"); !errors.Is(err, registrar.ErrUnowned) {
		t.Errorf("RevokeLease(none) = %v", err)
	}
	if _, err := New(b.ctx, Options{}); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
		t.Errorf("no endpoints: %v", err)
	}
	began := time.Now()
	if _, err := New(b.ctx, Options{Endpoints: []string{"127.0.0.1:1"}, Dial: 200 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody there: %v", err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %s to find nobody", d)
	}
}
