package filestore

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	. "github.com/routeproof/routeproof/impl/discovery/storetest"
)

// smallDisk mounts a file system that has room for little.
func smallDisk(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v; run the tests as root", err)
	}
	t.Cleanup(func() { Must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	p := newPlace(t)
	p.root = filepath.Join(dir, "root")
	Must(t, os.Mkdir(p.root, 0o755))
	return p
}

func remount(t *testing.T, p *place, flags uintptr) {
	t.Helper()
	Must(t, syscall.Mount("tmpfs", filepath.Dir(p.root), "tmpfs", syscall.MS_REMOUNT|flags, "size=128k"))
}

func TestAReadOnlyFileSystemIsSaidAndSurvived(t *testing.T) {
	t.Parallel()
	p := smallDisk(t)
	s, reader := p.open(t, p.root), p.open(t, p.root)
	fleet := Follow(t, reader)
	Must(t, s.Put(Within(t), "workers/other", []byte(`{"id":"other","url":"http://h:1","models":["m"]}`), nil))
	r, err := discovery.Register(t.Context(), s, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
	Must(t, err)
	first := fleet.UntilIDs("other", "w0")[1].Incarnation
	from := len(fleet.Sets())
	remount(t, p, syscall.MS_RDONLY)
	for call, err := range map[string]error{
		"Create": s.Create(Within(t), "new", nil, nil), "Put": s.Put(Within(t), "workers/other", nil, nil),
		"Replace": s.Replace(Within(t), "workers/other", nil, nil), "Delete": s.Delete(Within(t), "workers/other"),
	} {
		if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "read-only: remount it") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if got := Listing(t, reader, "workers"); got["workers/other"] == "" {
		t.Errorf("there is %v", got)
	}
	// Nobody can be kept alive, and nobody is taken for dead.
	Eventually(t, "the registration to be lost", func() bool { _, registered, _ := r.Current(); return !registered }, func() any { return "a registration" })
	<-time.After(2 * ttl)
	if set := fleet.UntilIDs("other", "w0"); set[1].Incarnation != first || len(fleet.Sets()) > from {
		t.Errorf("the worker set has changed: %v", fleet.Sets())
	}
	Watch(t, p.open(t, p.root), "").Until("the record that does not expire", func(m map[string]string) bool { return m["workers/other"] != "" })
	remount(t, p, 0)
	fleet.Until("the worker's next incarnation", func(set []discovery.Worker) bool { return len(set) == 2 && set[1].Incarnation != first })
	for _, set := range fleet.Sets()[from:] {
		if len(set) != 2 {
			t.Errorf("a worker was gone for a while: %v", set)
		}
	}
	view := Watch(t, reader, "")
	view.Until("the old incarnation to be gone", func(m map[string]string) bool { return len(m) == 2 })
	Must(t, r.Stop(Within(t)))
	fleet.UntilIDs("other")
}

func TestAFullDiskIsSaidAndSurvived(t *testing.T) {
	t.Parallel()
	p := smallDisk(t)
	s := p.open(t, p.root)
	fleet := Follow(t, p.open(t, p.root))
	r, err := discovery.Register(t.Context(), s, "workers", discovery.Worker{ID: "w0", URL: "http://h:1", Models: []string{"m"}}, ttl, Log(t))
	Must(t, err)
	first := fleet.UntilIDs("w0")[0].Incarnation
	Must(t, s.Put(Within(t), "k", []byte("v"), nil))
	filler := filepath.Join(filepath.Dir(p.root), "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<10), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	large := []byte(strings.Repeat("x", 8<<10))
	for call, err := range map[string]error{
		"Create": s.Create(Within(t), "new", large, nil), "Put": s.Put(Within(t), "k", large, nil), "Replace": s.Replace(Within(t), "k", []byte("v"), large),
	} {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if got := Listing(t, s, ""); got["k"] != "v" || len(got) != 2 {
		t.Errorf("there is %v", got)
	}
	entries, err := os.ReadDir(p.root)
	Must(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	<-time.After(2 * ttl) // keeping alive needs no space
	if set := fleet.UntilIDs("w0"); set[0].Incarnation != first || len(fleet.Sets()) > 2 {
		t.Errorf("the worker set changed: %v", fleet.Sets())
	}
	Must(t, os.Remove(filler))
	Must(t, s.Put(Within(t), "k", large, nil))
	Must(t, r.Stop(Within(t)))
	fleet.UntilIDs()
	if got := Listing(t, s, ""); !maps.Equal(got, map[string]string{"k": string(large)}) {
		t.Errorf("there is %d records", len(got))
	}
}
