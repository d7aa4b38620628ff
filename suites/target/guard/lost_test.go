//go:build unix

package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bystander starts a child of this process that is no guard and has to live on.
func bystander(t *testing.T, session bool) int {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestWhatALostGuardLeavesIsEndedAndNothingElse(t *testing.T) {
	if !seesAll {
		t.Skip("only Linux finds what left the process group")
	}
	other, second := start(t, "family")
	spared := append(pids(t, second, 2), other.GuardPID(), bystander(t, true))
	born := uptime(t) // what is as old as a guard, to the clock's tick, might be its own
	until(t, "the clock's next tick", func() bool { return uptime(t) != born })
	g, log := start(t, "hider")
	younger, third := start(t, "family")
	spared = append(append(spared, pids(t, third, 2)...), younger.GuardPID(), bystander(t, false))
	all := pids(t, log, 2)
	if err := syscall.Kill(g.GuardPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-g.Exited()
	for _, pid := range all {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d is there, alive or not reaped\n%s", pid, log)
		}
	}
	for _, pid := range spared {
		if !lives(pid) {
			t.Errorf("process %d was ended too", pid)
		}
	}
	err := g.Stop(context.Background(), syscall.SIGTERM, time.Second)
	if err == nil || !strings.Contains(err.Error(), "what was left of its target was killed") {
		t.Errorf("Stop: %v", err)
	}
}

// uptime is the machine's, to the hundredth of a second.
func uptime(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))[0]
}

// play runs the test binary in a part that ends by itself and returns its output.
func play(t *testing.T, role string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), roleEnv+"="+role), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A chain of processes, each of which starts the next and ends, leaves a zombie for
// each. It is bounded: nothing here may fill the machine's process table.
const chain = `f() { if [ $1 -gt 0 ]; then f $(($1-1)) & fi; }; f 200`

func TestWhatTheTargetLeavesIsReapedWhetherOrNotAnybodyListens(t *testing.T) {
	if !seesAll {
		t.Skip("only Linux adopts orphans")
	}
	if out := play(t, "reaper"); out != "all reaped\n" {
		t.Error(out)
	}
}

// playReaper is a guard that is too busy to hear of its children's ends.
func playReaper() {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fail(becomeReaper())
	sh, err := exec.LookPath("sh")
	fail(err)
	r, w, err := os.Pipe() // ends with the chain
	fail(err)
	_, err = syscall.ForkExec(sh, []string{"sh", "-c", chain}, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, w.Fd(), 2}})
	fail(err)
	_ = w.Close()
	g := &standing{pid: os.Getpid(), ended: make(chan syscall.WaitStatus)}
	go g.wait()
	fail(r.SetReadDeadline(time.Now().Add(20 * time.Second)))
	if _, err = r.Read(make([]byte, 1)); err == nil {
		err = fmt.Errorf("the chain said something")
	}
	if os.IsTimeout(err) {
		fail(err)
	}
	select {
	case status, told := <-g.ended:
		if told {
			fail(fmt.Errorf("the end of a child that is not the target is told (%v), the rest waits", status))
		}
	case <-time.After(10 * time.Second):
		fail(fmt.Errorf("not all are reaped"))
	}
	fmt.Println("all reaped")
	os.Exit(0)
}
