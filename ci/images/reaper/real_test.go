package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

const socket = "/var/run/docker.sock"

// TestARealEngineLosesWhatHasTheLabelsAndNothingElse makes a network and a volume
// twice, with labels that differ in one value. Containers and images need an image:
// package containers of the stores, which kills a process that has some, looks at
// those.
func TestARealEngineLosesWhatHasTheLabelsAndNothingElse(t *testing.T) {
	e := newEngine(socket, 10*time.Second)
	defer e.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := e.do(ctx, http.MethodGet, "/_ping"); err != nil {
		text := "no container engine answers: " + err.Error() + "; install it with: apt-get install docker.io, and start it"
		if demanded := os.Getenv("ROUTEPROOF_REQUIRE"); demanded == "all" || strings.Contains(demanded, "docker") {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	run := "routeproof.test=" + rand.Text()
	// create makes a thing and takes it away with the test, whatever becomes of it.
	create := func(kind, name string, labels ...string) {
		t.Helper()
		set := map[string]string{}
		for _, l := range labels {
			k, v, _ := strings.Cut(l, "=")
			set[k] = v
		}
		b, err := json.Marshal(map[string]any{"Name": name, "Labels": set})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := e.client.Post("http://engine/"+kind+"/create", "application/json", strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Fatalf("create %s %s: %s", kind, name, resp.Status)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if _, err := e.do(ctx, http.MethodDelete, "/"+kind+"/"+url.PathEscape(name)); err != nil {
				t.Error(err)
			}
			e.client.CloseIdleConnections()
		})
	}
	for _, which := range []string{"goes", "stays"} {
		name := strings.ToLower(strings.TrimPrefix(run, "routeproof.test=")) + "-" + which
		create("networks", name, run, "which="+which)
		create("volumes", name, run, "which="+which)
	}
	count := func(labels ...string) (n int) {
		t.Helper()
		for _, k := range kinds {
			ids, err := e.list(ctx, k, labels)
			if err != nil {
				t.Fatal(err)
			}
			n += len(ids)
		}
		return n
	}
	if n := count(run); n != 4 {
		t.Fatalf("%d things to begin with, want 4", n)
	}
	removed, err := e.prune(ctx, [][]string{{run, "which=goes"}})
	if err != nil || removed.String() != "0 containers, 1 networks, 1 volumes, 0 images" {
		t.Errorf("removed %s, %v", removed, err)
	}
	if goes, stays := count(run, "which=goes"), count(run, "which=stays"); goes != 0 || stays != 2 {
		t.Errorf("left: %d that go, %d that stay; want 0 and 2", goes, stays)
	}
}
