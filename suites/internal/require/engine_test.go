package require

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestAnEngineIsThereIfItAnswers(t *testing.T) {
	var status atomic.Int32
	status.Store(http.StatusOK)
	socket := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			status.Store(http.StatusNotFound)
		}
		w.WriteHeader(int(status.Load()))
	}))
	srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	defer srv.Close()
	tcp := httptest.NewServer(srv.Config.Handler)
	defer tcp.Close()

	t.Setenv(Env, "")
	for _, host := range []string{"unix://" + socket, "tcp://" + tcp.Listener.Addr().String()} {
		t.Setenv("DOCKER_HOST", host)
		f := &fake{}
		if got := Require(f, Docker); got != host || f.skipped != "" {
			t.Errorf("%s: found %q, skipped %q", host, got, f.skipped)
		}
	}
	status.Store(http.StatusInternalServerError)
	for _, host := range []string{"unix://" + socket, "unix://" + socket + "-none", "tcp://127.0.0.1:1", "://"} {
		t.Setenv("DOCKER_HOST", host)
		f := &fake{}
		if got := Require(f, Docker); got != "" || !strings.Contains(f.skipped, "no container engine answers") || !strings.Contains(f.skipped, "docker.io") {
			t.Errorf("%s: found %q, skipped %q", host, got, f.skipped)
		}
		t.Setenv(Env, "docker")
		f = &fake{}
		Require(haltless{f}, Docker)
		if !strings.Contains(f.failed, "demands it") || f.skipped != "" {
			t.Errorf("%s, demanded: %+v", host, f)
		}
		t.Setenv(Env, "")
	}
}
