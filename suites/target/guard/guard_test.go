//go:build unix

package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary play a part instead of running tests.
const roleEnv = "GUARD_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		// The race detector lets every process sleep for a second at its end; we start many.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		goleak.VerifyTestMain(m)
	case "parent":
		playParent()
	case "reaper":
		playReaper()
	case "unprivileged":
		playUnprivileged()
	default:
		playTarget(role)
	}
}

// buffer is a log for tests.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// until waits for a condition with a deadline.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// pids waits until n processes have named themselves in the log.
func pids(t *testing.T, log *buffer, n int) []int {
	t.Helper()
	var all []int
	until(t, fmt.Sprintf("%d pids in the log", n), func() bool {
		all = nil
		for line := range strings.Lines(log.String()) {
			if f := strings.Fields(line); strings.HasSuffix(line, "\n") && len(f) == 3 && f[0] == "pid" {
				pid, _ := strconv.Atoi(f[1])
				all = append(all, pid)
			}
		}
		return len(all) >= n
	})
	return all
}

// lives says whether a process exists and is no zombie.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(f) == 0 || f[0] != "Z"
}

// start starts a target.
func start(t *testing.T, role string) (*Guard, *buffer) {
	t.Helper()
	return started(t, Start, role)
}

// started starts a target in one of the ways there are.
func started(t *testing.T, how func(context.Context, io.Writer) (*Guard, error), role string) (*Guard, *buffer) {
	t.Helper()
	log := &buffer{}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	g, err := how(ctx, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Stop(ctx, syscall.SIGKILL, 0) })
	if err := g.Launch(ctx, target(role)); err != nil {
		t.Fatal(err)
	}
	return g, log
}

func TestStopLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name, role string
		pids       int
		grace      time.Duration
		forced     bool
	}{
		{"of a target that ends on SIGTERM", "polite", 1, 20 * time.Second, false},
		{"of a target that ignores SIGTERM", "stubborn", 1, 50 * time.Millisecond, true},
		{"of a target with a grandchild in a session of its own", "family", 2, 50 * time.Millisecond, true},
		{"of a target that daemonized and stays", "daemon", 2, 20 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GUARD_TEST_STAY", "1")
			g, log := start(t, c.role)
			all := append(pids(t, log, c.pids), g.GuardPID())
			if got := g.PID(); got != all[0] {
				t.Errorf("PID() = %d, the target says %d", got, all[0])
			}
			if err := os.WriteFile(filepath.Join(g.Dir(), "f"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := g.Stop(context.Background(), syscall.SIGTERM, c.grace); err != nil {
				t.Fatal(err)
			}
			for _, pid := range all {
				if lives(pid) {
					t.Errorf("process %d lives after Stop\n%s", pid, log)
				}
			}
			if _, err := os.Stat(g.Dir()); !os.IsNotExist(err) {
				t.Errorf("directory after Stop: %v", err)
			}
			if g.Forced() != c.forced {
				t.Errorf("Forced() = %v", g.Forced())
			}
			if err := g.Stop(context.Background(), syscall.SIGTERM, c.grace); err != nil {
				t.Errorf("second Stop: %v", err)
			}
		})
	}
}

func TestAnEndedContextShortensTheGrace(t *testing.T) {
	g, log := start(t, "stubborn")
	pids(t, log, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := g.Stop(ctx, syscall.SIGTERM, 25*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("Stop took %v", took)
	}
}

func TestExitIsReported(t *testing.T) {
	g, log := start(t, "exit")
	<-g.Exited()
	e, ok := g.Exit()
	if !ok || e.Code != 7 || e.Signal != 0 || e.String() != "exit status 7" {
		t.Errorf("Exit() = %+v %v", e, ok)
	}
	if err := g.Stop(context.Background(), syscall.SIGTERM, time.Second); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "going with 7") {
		t.Errorf("log %q", log)
	}
	if err := g.Signal(syscall.SIGHUP); err == nil {
		t.Error("Signal after Stop succeeded")
	}
}

// slow is a log that takes its time.
type slow struct{ buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return s.buffer.Write(p)
}

func TestWhatATargetSaidIsThereWhenItsEndIsTold(t *testing.T) {
	t.Setenv("GUARD_TEST_SAY", strings.Repeat("a long story. ", 6000))
	log := &slow{}
	g, err := Start(context.Background(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Stop(context.Background(), syscall.SIGKILL, 0) })
	if err := g.Launch(context.Background(), target("exit")); err != nil {
		t.Fatal(err)
	}
	<-g.Exited()
	if s := log.String(); !strings.HasSuffix(s, "going with 7\n") {
		t.Errorf("%d bytes, which end in %q", len(s), s[max(0, len(s)-40):])
	}
}

func TestWhatADaemonLeavesBehindIsEndedWithIt(t *testing.T) {
	if !seesAll {
		t.Skip("only Linux finds what left the process group")
	}
	t.Setenv("GUARD_TEST_SLOW", "1")
	g, log := start(t, "daemon")
	all := pids(t, log, 2)
	<-g.Exited()
	until(t, "the daemon's end", func() bool { return !lives(all[1]) })
	if err := g.Stop(context.Background(), syscall.SIGTERM, time.Second); err != nil {
		t.Fatal(err)
	}
}

func TestSignalsReachTheTarget(t *testing.T) {
	g, log := start(t, "usr1")
	pids(t, log, 1)
	if err := g.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-g.Exited()
	if e, _ := g.Exit(); e.Code != 3 {
		t.Errorf("Exit() = %+v", e)
	}
}

func TestAProgramThatCannotRunIsNamed(t *testing.T) {
	g, err := Start(context.Background(), &buffer{})
	if err != nil {
		t.Fatal(err)
	}
	err = g.Launch(context.Background(), Spec{Path: "/nonexistent/router", Args: []string{"router"}})
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "/nonexistent/router") {
		t.Errorf("Launch: %v", err)
	}
	if err := g.Stop(context.Background(), syscall.SIGTERM, time.Second); err != nil {
		t.Error(err)
	}
}

// The one that matters: our own process dies without a chance to do anything.
func TestKillingTheParentLeavesNothing(t *testing.T) {
	for _, role := range []string{"polite", "stubborn", "family", "daemon"} {
		t.Run(role, func(t *testing.T) {
			n := map[string]int{"polite": 2, "stubborn": 2, "family": 3, "daemon": 3}[role]
			parent, log := runParent(t, role)
			all := pids(t, log, n)
			dir := dirOf(log)
			if _, err := os.Stat(dir); err != nil {
				t.Fatal(err)
			}
			_ = parent.Process.Kill()
			for _, pid := range append(all, parent.Process.Pid) {
				until(t, fmt.Sprintf("the end of %d\n%s", pid, log), func() bool { return !lives(pid) })
			}
			until(t, "the directory's end", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
		})
	}
}

func TestKillingTheParentAtAnyMomentLeavesNothing(t *testing.T) {
	for i := range 12 {
		parent, log := runParent(t, "family")
		time.Sleep(time.Duration(i) * 6 * time.Millisecond)
		_ = parent.Process.Kill()
		_ = parent.Wait() // returns when nobody holds its output any more
		for _, pid := range pids(t, log, 0) {
			until(t, fmt.Sprintf("the end of %d", pid), func() bool { return !lives(pid) })
		}
		if dir := dirOf(log); dir != "" {
			until(t, "the directory's end", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
		}
	}
}

func runParent(t *testing.T, child string) (*exec.Cmd, *buffer) {
	t.Helper()
	log := &buffer{}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=parent", "GUARD_TEST_CHILD="+child, "GUARD_TEST_STAY=1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, log
}

func dirOf(log *buffer) string {
	_, rest, found := strings.Cut(log.String(), "dir ")
	dir, _, whole := strings.Cut(rest, "\n")
	if !found || !whole {
		return ""
	}
	return dir
}

func TestALostGuardIsNoticedAndTakesTheTargetAlong(t *testing.T) {
	g, log := start(t, "family")
	all := pids(t, log, 2)
	if err := syscall.Kill(g.GuardPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-g.Exited()
	if e, _ := g.Exit(); !e.Lost {
		t.Errorf("Exit() = %+v", e)
	}
	for _, pid := range all {
		until(t, fmt.Sprintf("the end of %d\n%s", pid, log), func() bool { return !lives(pid) })
	}
	if err := g.Stop(context.Background(), syscall.SIGTERM, time.Second); err == nil {
		t.Error("Stop says nothing about the loss")
	}
	if _, err := os.Stat(g.Dir()); !os.IsNotExist(err) {
		t.Errorf("directory: %v", err)
	}
}
