package guard

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestTheKernelsListsGiveTheFamilyThatAScanGives(t *testing.T) {
	if !lists() {
		t.Skip("this kernel does not list children")
	}
	g, log := start(t, "family")
	all := append(pids(t, log, 2), g.GuardPID())
	scan := scanned()
	for name, next := range map[string]func(int) []int{"listed": listed, "scanned": scan} {
		found := descendants(next(os.Getpid()), next)
		for _, pid := range all {
			if !slices.Contains(found, pid) {
				t.Errorf("%s: %d of %v is not among %v", name, pid, all, found)
			}
		}
	}
}

// init plays the parts that only Linux has; the first thread runs it.
func init() {
	switch os.Getenv(roleEnv) {
	case "headless":
		runtime.LockOSThread()
		playHeadless()
	case "headless's parent":
		spawn("headless", true)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
}

// playHeadless ends its first thread, after which it looks like a zombie, and lives on.
func playHeadless() {
	go func() {
		for s, ok := statOf(os.Getpid()); ok && s.state != 'Z'; s, ok = statOf(os.Getpid()) {
			time.Sleep(time.Millisecond)
		}
		fmt.Printf("pid %d headless\n", os.Getpid())
		_ = os.NewFile(spawnedFD, "spawned").Close()
		time.Sleep(time.Minute)
		os.Exit(0)
	}()
	_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

func TestAProcessWhoseFirstThreadEndedIsNoZombie(t *testing.T) {
	g, log := start(t, "headless's parent")
	all := pids(t, log, 1)
	if s, ok := statOf(all[0]); !ok || s.state != 'Z' || !s.alive {
		t.Fatalf("it is %+v, %v", s, ok)
	}
	if err := g.Stop(context.Background(), syscall.SIGKILL, time.Second); err != nil {
		t.Error(err)
	}
	if syscall.Kill(all[0], 0) == nil {
		t.Error("it is still there")
	}
}
