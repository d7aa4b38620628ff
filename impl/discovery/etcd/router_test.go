package etcd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/etcd"
	. "github.com/routeproof/routeproof/impl/discovery/storetest"
	"github.com/routeproof/routeproof/impl/serve"
)

func TestTheRouterFollowsWorkersInEtcd(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	Must(t, err)
	address := l.Addr().String()
	Must(t, l.Close())
	file := filepath.Join(t.TempDir(), "router.yaml")
	text := fmt.Sprintf("listen: %s\ndiscovery:\n  store: etcd\n  endpoints: [\"http://%s\"]\n  prefix: /router-test/\n", address, etcd.Address())
	Must(t, os.WriteFile(file, []byte(text), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Run(ctx, file, nil, Log(t)) }()
	defer func() {
		cancel()
		Must(t, <-ended)
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	used := func() (out []string) {
		resp, err := client.Get("http://" + address + serve.WorkersPath)
		if err != nil {
			return []string{err.Error()} // it does not listen yet
		}
		defer func() { _ = resp.Body.Close() }()
		var list []struct{ ID, Incarnation string }
		Must(t, json.NewDecoder(resp.Body).Decode(&list))
		for _, w := range list {
			out = append(out, w.ID+"="+w.Incarnation)
		}
		return out
	}
	is := func(want ...string) {
		t.Helper()
		Eventually(t, fmt.Sprintf("the workers %v", want), func() bool { return fmt.Sprint(used()) == fmt.Sprint(want) }, func() any { return used() })
	}
	is()
	store, err := etcd.Open(etcd.Config{Endpoints: []string{"http://" + etcd.Address()}, Root: "/router-test"})
	Must(t, err)
	defer func() { _ = store.Close() }()
	w := discovery.Worker{ID: "w0", URL: "http://127.0.0.1:1", Models: []string{"m"}, Incarnation: "1"}
	one, err := discovery.Register(t.Context(), store, "", w, time.Second, Log(t))
	Must(t, err)
	is("w0=1")
	w.Incarnation = "2"
	two, err := discovery.Register(t.Context(), store, "", w, time.Second, Log(t))
	Must(t, err)
	is("w0=2")
	Must(t, one.Stop(Within(t)))
	Must(t, two.Stop(Within(t)))
	is()
}
