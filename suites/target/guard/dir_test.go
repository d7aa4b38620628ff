//go:build unix

package guard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

func TestADirectoryThatMayNotBeWrittenIsRemovedOrNamed(t *testing.T) {
	for _, c := range []struct{ name, above, want string }{
		{"where chmod helps", "0700", "stopped: <nil>, removed: true\n"},
		{"where it does not", "0500", "removed: false\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			above, err := os.MkdirTemp("", "guard-test-") // all above it must be open to the unprivileged
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = removeDir(above) })
			if os.Getuid() == 0 {
				if err := os.Chown(above, nobody, nobody); err != nil {
					t.Fatal(err)
				}
			}
			out := play(t, "unprivileged", "TMPDIR="+above, "GUARD_TEST_MODE="+c.above)
			if !strings.HasSuffix(out, c.want) {
				t.Error(out)
			}
			if named := strings.Contains(out, filepath.Join(above, dirPrefix)) && strings.Contains(out, "by hand"); named != (c.above == "0500") {
				t.Errorf("the directory is named: %v\n%s", named, out)
			}
		})
	}
}

// nobody is a user without rights.
const nobody = 65534

// playUnprivileged holds a target that makes a directory in which nothing may be
// removed, and gives the directory above a mode before its end.
func playUnprivileged() {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if os.Getuid() == 0 {
		fail(syscall.Setgid(nobody))
		fail(syscall.Setuid(nobody))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	g, err := Start(ctx, os.Stdout)
	fail(err)
	script := `cd "$` + dirEnv + `" && mkdir -p ro/under && : >ro/f && : >ro/under/f && chmod 0 ro/under && chmod 0555 ro`
	fail(g.Launch(ctx, Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}}))
	<-g.Exited()
	if e, _ := g.Exit(); e.Code != 0 {
		fail(fmt.Errorf("the script: %v", e))
	}
	mode, err := strconv.ParseUint(os.Getenv("GUARD_TEST_MODE"), 8, 32)
	fail(err)
	fail(os.Chmod(filepath.Dir(g.Dir()), os.FileMode(mode)))
	err = g.Stop(ctx, syscall.SIGTERM, time.Second)
	_, gone := os.Stat(g.Dir())
	fmt.Printf("stopped: %v, removed: %v\n", err, os.IsNotExist(gone))
	os.Exit(0)
}
