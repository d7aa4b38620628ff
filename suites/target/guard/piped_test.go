//go:build unix

package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// piped starts a target that is spoken to.
func piped(t *testing.T, role string) (*Guard, *buffer) {
	t.Helper()
	return started(t, StartPiped, role)
}

func TestAPipedTargetIsSpokenToAndItsLogIsStandardErrorAlone(t *testing.T) {
	g, log := piped(t, "echo")
	answers := bufio.NewReader(g.Stdout())
	for _, word := range []string{"one\n", strings.Repeat("long ", 50000) + "\n"} { // longer than a pipe holds
		go func() { _, _ = io.WriteString(g.Stdin(), word) }()
		if got, err := answers.ReadString('\n'); err != nil || got != word {
			t.Fatalf("%d bytes came back, %v; want %d", len(got), err, len(word))
		}
	}
	if err := g.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(answers); err != nil || len(rest) != 0 {
		t.Errorf("after the end came %q, %v", rest, err)
	}
	<-g.Exited()
	if e, _ := g.Exit(); e.Code != 5 {
		t.Errorf("Exit() = %v; the end of its input was not seen", e)
	}
	if s := log.String(); strings.Contains(s, "one") || !strings.Contains(s, "heard all") {
		t.Errorf("log %.200q", s)
	}
}

func TestTheOutputOfAPipedTargetEndsWithItWhoeverElseHoldsIt(t *testing.T) {
	if !seesAll {
		t.Skip("only Linux finds what left the process group")
	}
	g, log := piped(t, "held")
	pids(t, log, 1)
	if rest, err := io.ReadAll(g.Stdout()); err != nil || !strings.Contains(string(rest), "grandchild") {
		t.Errorf("output %q, %v", rest, err)
	}
	if err := g.Stop(context.Background(), syscall.SIGTERM, time.Second); err != nil {
		t.Error(err)
	}
}

func TestStopEndsAPipedTargetThatNobodyReadsOrWritesTo(t *testing.T) {
	g, log := piped(t, "echo")
	all := pids(t, log, 1)
	stuck := make(chan error, 1)
	go func() { // fills both pipes, for the target cannot go on either
		_, err := g.Stdin().Write(make([]byte, 1<<20))
		stuck <- err
	}()
	if err := g.Stop(context.Background(), syscall.SIGTERM, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-stuck; err == nil {
		t.Error("all was written")
	}
	if _, err := g.Stdout().Read(make([]byte, 1)); err == nil {
		t.Error("standard output is still open after Stop")
	}
	if lives(all[0]) {
		t.Error("the target lives after Stop")
	}
}

func TestATargetWithoutPipesHasNone(t *testing.T) {
	g, log := start(t, "echo")
	pids(t, log, 1)
	if g.Stdin() != nil || g.Stdout() != nil {
		t.Error("it has")
	}
	<-g.Exited() // its input is empty
}

func TestKillingTheParentLeavesNothingOfAPipedTarget(t *testing.T) {
	t.Setenv("GUARD_TEST_PIPED", "1")
	parent, log := runParent(t, "held")
	until(t, "the target's word", func() bool { return strings.Contains(log.String(), "held\n") })
	all, dir := pids(t, log, 2), dirOf(log)
	_ = parent.Process.Kill()
	for _, pid := range append(all, parent.Process.Pid) {
		until(t, fmt.Sprintf("the end of %d\n%s", pid, log), func() bool { return !lives(pid) })
	}
	until(t, "the directory's end", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
}
