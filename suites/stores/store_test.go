package stores

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKindsAreReadAndMistakesNameTheKinds(t *testing.T) {
	for _, k := range Kinds() {
		if got, err := ParseKind(string(k)); got != k || err != nil {
			t.Errorf("ParseKind(%s) = %s, %v", k, got, err)
		}
	}
	if _, err := ParseKind("redis"); err == nil || !strings.Contains(err.Error(), "three-embedded") {
		t.Errorf("ParseKind(redis) = %v", err)
	}
}

func openFile(t *testing.T) *Store {
	t.Helper()
	s, err := OpenFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestADirectoryIsReachedByItselfAndByLinks(t *testing.T) {
	s := openFile(t)
	if err := os.WriteFile(filepath.Join(s.Linked, "a"), []byte("v"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(s.Root, "a")); string(b) != "v" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	for _, link := range []string{s.Linked, filepath.Dir(s.Linked)} {
		if i, err := os.Lstat(link); err != nil || i.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no symbolic link: %v, %v", link, i, err)
		}
	}
	if real, err := filepath.EvalSymlinks(s.Root); err != nil || real != s.Root {
		t.Errorf("the root is really %s, %v; want no link on the way to %s", real, err, s.Root)
	}
}

func TestTheKeysOfADirectoryAreItsFiles(t *testing.T) {
	s := openFile(t)
	for _, key := range []string{"b", "d/e/f", ".tmp_1"} {
		path := filepath.Join(s.Root, key)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := s.Keys(t.Context())
	if want := []string{".tmp_1", "b", "d/e/f"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("Keys = %v, %v; want %v", keys, err, want)
	}
	if err := os.RemoveAll(s.Root); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.Keys(t.Context()); err != nil || len(keys) > 0 {
		t.Errorf("without a root Keys = %v, %v", keys, err)
	}
}

func TestACloseLeavesNothingOfADirectory(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Root, "a"), nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := OpenFile(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("below a missing directory: %v", err)
	}
}

func TestADirectoryKnowsNoFaultOfEtcd(t *testing.T) {
	s := openFile(t)
	for _, f := range []Fault{Latency, Cut, HalfOpen, Stop, Kill, Pause, Partition, Disconnect, Compact} {
		if s.Supports(f) {
			t.Errorf("%s is supported", f)
		}
	}
	ctx := t.Context()
	_, leader := s.KillLeader(ctx)
	_, compact := s.Compact(ctx)
	for what, err := range map[string]error{
		"Latency": s.Latency(ctx, time.Second), "Cut": s.Cut(ctx), "HalfOpen": s.HalfOpen(ctx), "Heal": s.Heal(ctx),
		"Stop": s.Stop(ctx, 0), "Kill": s.Kill(ctx, 0), "Start": s.Start(ctx, 0), "KillLeader": leader, "Compact": compact,
		"Pause": s.Pause(ctx, 0), "Resume": s.Resume(ctx, 0), "Partition": s.Partition(ctx, 0), "Rejoin": s.Rejoin(ctx),
		"Disconnect": s.Disconnect(ctx, 0), "Reconnect": s.Reconnect(ctx, 0),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s = %v, want ErrUnsupported", what, err)
		}
	}
}

// cluster does nothing, or fails.
type cluster struct {
	directory
	Cluster
	err error
}

func (c cluster) Stop(context.Context, int) error { return c.err }

func TestAnErrorNamesTheKindTheFaultAndTheNode(t *testing.T) {
	s := New(Embedded, cluster{err: errors.New("broken")}, nil)
	s.Endpoints = []string{"a", "b"}
	if err := s.Stop(t.Context(), 1); err == nil || err.Error() != "store embedded: stop of node [1]: broken" {
		t.Errorf("Stop = %v", err)
	}
	for _, node := range []int{-1, 2} {
		if err := s.Stop(t.Context(), node); err == nil || !strings.Contains(err.Error(), "there are 2") {
			t.Errorf("Stop(%d) = %v", node, err)
		}
	}
}
