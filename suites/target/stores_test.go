package target

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// What the built-in manifest writes into a store is what the reference reads.
func TestTheReferenceReadsItsManifestsRecords(t *testing.T) {
	m := Reference(nil)
	w := Worker{ID: "w3", URL: "http://127.0.0.1:9", Model: "mock", Role: "decode", Ranks: 4}
	want := discovery.Worker{ID: "w3", URL: "http://127.0.0.1:9", Models: []string{"mock"}, Role: discovery.Decode, Ranks: 4, Incarnation: "7"}
	key, value, err := m.Record(StoreAt{Kind: StoreEtcd}, w, "7", 0)
	if err != nil || key != referencePrefix+"/w3" {
		t.Fatalf("key %q, %v", key, err)
	}
	if got, err := discovery.DecodeRecord(value); err != nil || got.ID != want.ID || got.URL != want.URL || got.Models[0] != "mock" || got.Role != want.Role || got.Ranks != 4 || got.Incarnation != "7" {
		t.Errorf("%s: %+v, %v", value, got, err)
	}

	at := StoreAt{Kind: StoreFile, Root: t.TempDir()}
	key, value, err = m.Record(at, w, "7", 0)
	if err != nil || key != "w3" {
		t.Fatalf("key %q, %v", key, err)
	}
	if err := os.WriteFile(filepath.Join(at.Root, key), value, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReferenceStore(at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	all, err := s.List(ctx, "")
	if err != nil || len(all) != 1 || all[0].Key != "w3" {
		t.Fatalf("%+v, %v", all, err)
	}
	if got, err := discovery.DecodeRecord(all[0].Value); err != nil || got.URL != want.URL {
		t.Errorf("%s: %+v, %v", all[0].Value, got, err)
	}
}

func TestStoresAreReadStrictly(t *testing.T) {
	const good = `etcd: {key: "/w/{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 2s}`
	with := func(stores string) string {
		return strings.Replace(playManifest("ok"), "wiring:\n", "wiring:\n  stores: {"+stores+"}\n", 1)
	}
	if m := parsed(t, with(good)); m.Wiring.Stores[StoreEtcd].TTL != 2*time.Second || m.Wiring.Stores[StoreEtcd].KeepAlive != KeepAliveTouch {
		t.Errorf("%+v", m.Wiring.Stores)
	}
	for name, c := range map[string]struct{ stores, want string }{
		"no store":              {``, "names no store"},
		"an unknown store":      {`zookeeper: {}`, "zookeeper"},
		"no key":                {`etcd: {value: "{{.Worker.URL}}", ttl: 2s}`, "key"},
		"one key for all":       {`etcd: {key: "/w", value: "{{.Worker.URL}}", ttl: 2s}`, "is the same for every worker"},
		"one record for all":    {`etcd: {key: "/w/{{.Worker.ID}}", value: "up", ttl: 2s}`, "is the same for every worker"},
		"no ttl":                {`etcd: {key: "/w/{{.Worker.ID}}", value: "{{.Worker.URL}}"}`, "ttl"},
		"half a second":         {`etcd: {key: "/w/{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 1500ms}`, "whole number of seconds"},
		"an hour":               {`etcd: {key: "/w/{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 1h}`, "30s"},
		"a bad template":        {`etcd: {key: "/w/{{.Worker.Name}}", value: "{{.Worker.URL}}", ttl: 2s}`, "Name"},
		"a keep-alive of etcd":  {`etcd: {key: "/w/{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 2s, keepAlive: touch}`, "keepAlive"},
		"an unknown keep-alive": {`file: {key: "{{.Worker.ID}}", value: "{{.Worker.URL}}", ttl: 2s, keepAlive: never}`, "rewrite"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("play.yaml", []byte(with(c.stores)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
