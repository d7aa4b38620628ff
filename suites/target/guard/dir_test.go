//go:build unix

package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestTheNextGuardClearsWhatTwoDeathsLeft(t *testing.T) {
	if !seesAll {
		t.Skip("only Linux shows the environment of a process")
	}
	t.Setenv("TMPDIR", t.TempDir())
	parent, log := runParent(t, "family")
	all := pids(t, log, 3) // guard, target, a grandchild in a session of its own
	dir := dirOf(log)
	for _, pid := range []int{all[0], parent.Process.Pid} {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // neither may see the other's end
	}
	for _, pid := range []int{all[0], parent.Process.Pid} {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	until(t, "the guard's end", func() bool { return !lives(all[0]) })
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("nothing was left to clear: %v", err)
	}
	// A process counts as dead when its first thread is; its lock goes with the last one.
	until(t, "the end of the guard's lock", func() bool {
		lock, err := lockDir(dir)
		if err != nil {
			return false
		}
		return lock.Close() == nil
	})

	g, second := start(t, "polite")
	pids(t, second, 1)
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a directory that may be a moment old was cleared: %v", err)
	}
	old := time.Now().Add(-time.Hour)
	for _, d := range []string{dir, g.Dir()} {
		if err := os.Chtimes(d, old, old); err != nil {
			t.Fatal(err)
		}
	}
	third, _ := start(t, "polite")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("what was left is still there: %v", err)
	}
	for _, pid := range all {
		until(t, fmt.Sprintf("the end of %d", pid), func() bool { return !lives(pid) })
	}
	if !lives(g.PID()) {
		t.Error("a living target was cleared away")
	}
	for _, d := range []string{g.Dir(), third.Dir()} {
		if _, err := os.Stat(d); err != nil {
			t.Errorf("a living guard's directory %s: %v", filepath.Base(d), err)
		}
	}
}
