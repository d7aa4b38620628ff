package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeEngine answers like a container engine for the few questions that a reaper
// has. Things are "kind/id" with their labels.
type fakeEngine struct {
	mu      sync.Mutex
	things  map[string][]string
	busy    map[string]int // how often removal fails first
	late    map[string][]string
	removed []string
	asked   int
	socket  string
}

func startEngine(t *testing.T, things map[string][]string) *fakeEngine {
	t.Helper()
	f := &fakeEngine{things: things, busy: map[string]int{}, socket: filepath.Join(t.TempDir(), "engine.sock")}
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containers/json", f.list("containers", "Id"))
	mux.HandleFunc("GET /networks", f.list("networks", "Id"))
	mux.HandleFunc("GET /volumes", f.list("volumes", "Name"))
	mux.HandleFunc("GET /images/json", f.list("images", "Id"))
	mux.HandleFunc("DELETE /{kind}/{id}", f.remove)
	srv := &http.Server{Handler: mux}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return f
}

func (f *fakeEngine) list(kind, field string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked++
		if kind == "containers" && r.FormValue("all") != "1" {
			http.Error(w, "stopped containers were not asked for", http.StatusTeapot)
			return
		}
		var filters map[string][]string
		if err := json.Unmarshal([]byte(r.FormValue("filters")), &filters); err != nil || len(filters["label"]) == 0 {
			http.Error(w, fmt.Sprint("no label filter: ", err), http.StatusBadRequest)
			return
		}
		var found []map[string]any
		for _, name := range slices.Sorted(maps.Keys(f.things)) {
			id, ok := strings.CutPrefix(name, kind+"/")
			if ok && !slices.ContainsFunc(filters["label"], func(l string) bool { return !slices.Contains(f.things[name], l) }) {
				found = append(found, map[string]any{field: id})
			}
		}
		if kind == "images" { // the last question of a round
			maps.Copy(f.things, f.late)
			f.late = nil
		}
		if kind == "volumes" {
			json.NewEncoder(w).Encode(map[string]any{"Volumes": found, "Warnings": nil})
			return
		}
		json.NewEncoder(w).Encode(found)
	}
}

func (f *fakeEngine) remove(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := r.PathValue("kind") + "/" + r.PathValue("id")
	switch {
	case f.busy[name] > 0:
		f.busy[name]--
		http.Error(w, `{"message":"in use"}`, http.StatusConflict)
	case r.PathValue("kind") != "networks" && r.FormValue("force") != "1":
		http.Error(w, "no force", http.StatusTeapot)
	case r.PathValue("kind") == "containers" && r.FormValue("v") != "1":
		http.Error(w, "its volumes stay", http.StatusTeapot)
	case f.things[name] == nil:
		http.Error(w, `{"message":"no such thing"}`, http.StatusNotFound)
	default:
		delete(f.things, name)
		f.removed = append(f.removed, name)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (f *fakeEngine) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.things))
}

func reaping(f *fakeEngine) *engine {
	e := newEngine(f.socket, 5*time.Second)
	e.pause = time.Millisecond
	return e
}

func TestWhatHasAllLabelsOfAFilterGoesAndNothingElse(t *testing.T) {
	f := startEngine(t, map[string][]string{
		"containers/c1": {"a=1", "b=2"},
		"containers/c2": {"a=1"},
		"containers/c3": {"c=3"},
		"containers/c4": {"x=1"},
		"networks/n1":   {"a=1", "b=2", "z=9"},
		"networks/n2":   {"b=2"},
		"volumes/v1":    {"a=1", "b=2"},
		"images/sha256:1": {
			"c=3"},
		"images/sha256:2": {"x=1"},
	})
	removed, err := reaping(f).prune(t.Context(), [][]string{{"a=1", "b=2"}, {"c=3"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"containers/c2", "containers/c4", "images/sha256:2", "networks/n2"}; !slices.Equal(f.left(), want) {
		t.Errorf("left %v, want %v", f.left(), want)
	}
	if want := []string{"containers/c1", "containers/c3", "networks/n1", "volumes/v1", "images/sha256:1"}; !slices.Equal(f.removed, want) {
		t.Errorf("removed %v, want %v in this order", f.removed, want)
	}
	if s := removed.String(); s != "2 containers, 1 networks, 1 volumes, 1 images" {
		t.Error(s)
	}
}

func TestWhatCannotGoYetIsTriedAgain(t *testing.T) {
	f := startEngine(t, map[string][]string{"networks/n": {"a=1"}})
	f.busy["networks/n"] = 3
	if _, err := reaping(f).prune(t.Context(), [][]string{{"a=1"}}); err != nil || len(f.left()) > 0 {
		t.Errorf("left %v, %v", f.left(), err)
	}
}

func TestWhatAppearsLateGoesToo(t *testing.T) {
	f := startEngine(t, map[string][]string{"containers/c": {"a=1"}})
	f.late = map[string][]string{"containers/late": {"a=1"}}
	if _, err := reaping(f).prune(t.Context(), [][]string{{"a=1"}}); err != nil || len(f.left()) > 0 {
		t.Errorf("left %v, %v", f.left(), err)
	}
}

func TestItGivesUpInTheEndAndSaysWhy(t *testing.T) {
	f := startEngine(t, map[string][]string{"networks/n": {"a=1"}, "volumes/v": {"a=1"}})
	f.busy["networks/n"] = 1 << 30
	e := reaping(f)
	e.rounds = 4
	removed, err := e.prune(t.Context(), [][]string{{"a=1"}})
	if err == nil || !strings.Contains(err.Error(), "in use") || removed["volumes"] != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
}

func TestWithoutAFilterNothingIsAskedAtAll(t *testing.T) {
	f := startEngine(t, map[string][]string{"containers/c": {"a=1"}})
	if _, err := reaping(f).prune(t.Context(), nil); err != nil || f.asked > 0 || len(f.left()) != 1 {
		t.Errorf("asked %d times, left %v, %v", f.asked, f.left(), err)
	}
}

func TestAnEngineThatIsNotThereIsAnErrorAndNoHang(t *testing.T) {
	e := newEngine(filepath.Join(t.TempDir(), "none.sock"), time.Second)
	e.pause, e.rounds = time.Millisecond, 3
	if _, err := e.prune(t.Context(), [][]string{{"a=1"}}); err == nil || !strings.Contains(err.Error(), "none.sock") {
		t.Errorf("prune = %v", err)
	}
}
