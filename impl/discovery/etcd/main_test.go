package etcd

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/storetest"
)

// common is the server that most tests share, in places of their own.
var common *embed.Etcd

func TestMain(m *testing.M) {
	storetest.Main(func(spec string, log *slog.Logger) (discovery.Store, error) {
		cfg := Config{Log: log}
		if err := json.Unmarshal([]byte(spec), &cfg); err != nil {
			return nil, err
		}
		return Open(cfg)
	})
	goleak.VerifyTestMain(&run{m})
}

// run keeps the common server up while the tests run.
type run struct{ m *testing.M }

func (r *run) Run() int {
	dir, err := os.MkdirTemp("", "etcd")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		common, err = serve(dir, "127.0.0.1:0")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "embedded etcd:", err)
		return 1
	}
	defer common.Close()
	return r.m.Run()
}

// serve starts an etcd server.
func serve(dir, address string) (*embed.Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.TickMs, cfg.ElectionMs = 10, 100
	cfg.UnsafeNoFsync = true
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewNopCore()))
	peer, client := url.URL{Scheme: "http", Host: "127.0.0.1:0"}, url.URL{Scheme: "http", Host: address}
	cfg.ListenPeerUrls, cfg.ListenClientUrls = []url.URL{peer}, []url.URL{client}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case <-time.After(storetest.Patience):
		e.Close()
		return nil, fmt.Errorf("not ready within %v", storetest.Patience)
	}
}

// ttl is the shortest that etcd grants.
const ttl = time.Second

var places atomic.Int64

// place is a part of a server, reached through a proxy that faults can be put into.
type place struct {
	root   string
	server string
	proxy  *proxy
}

func newPlace(t *testing.T) *place {
	server := common.Clients[0].Addr().String()
	return &place{root: fmt.Sprintf("/test-%d/workers", places.Add(1)), server: server, proxy: newProxy(t, server)}
}

// ownPlace is a place with a server of its own.
func ownPlace(t *testing.T) *place {
	server, err := serve(t.TempDir(), "127.0.0.1:0")
	storetest.Must(t, err)
	t.Cleanup(server.Close)
	address := server.Clients[0].Addr().String()
	p := &place{root: "/own/workers", server: address, proxy: newProxy(t, address)}
	t.Cleanup(func() { p.proxy.set(refusing) }) // the clients first, or closing the server takes five seconds
	return p
}

func (p *place) open(t *testing.T, address string) *Store {
	t.Helper()
	s, err := Open(Config{Endpoints: []string{"http://" + address}, Root: p.root, Log: storetest.Log(t)})
	storetest.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing a store: %v", err)
		}
	})
	return s
}

func (p *place) Open(t *testing.T) discovery.Store   { return p.open(t, p.proxy.address()) }
func (p *place) Behind(t *testing.T) discovery.Store { return p.open(t, p.server) }

func (p *place) Spec() string {
	spec, err := json.Marshal(Config{Endpoints: []string{"http://" + p.proxy.address()}, Root: p.root})
	if err != nil {
		panic(err)
	}
	return string(spec)
}

func (p *place) Away(*testing.T) func() {
	p.proxy.set(refusing)
	return func() { p.proxy.set(passing) }
}

// raw returns a client of the server itself.
func raw(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	storetest.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestContract(t *testing.T) {
	storetest.Suite{TTL: ttl, New: func(t *testing.T) storetest.Backend { return newPlace(t) }}.Run(t)
}
