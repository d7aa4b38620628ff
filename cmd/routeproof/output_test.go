package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// unheard runs a command whose output nobody reads: its pipes are closed before it starts.
func unheard(ts *testscript.TestScript, _ bool, args []string) {
	r, w, err := os.Pipe()
	ts.Check(err)
	defer w.Close()
	r.Close()
	if args[1] == "full" {
		if w, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
			ts.Fatalf("%v", err)
		}
		defer w.Close()
	}
	var heard bytes.Buffer
	cmd := exec.Command(lookPath(ts, "routeproof"), args[2:]...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), mark+ts.Getenv("ROUTEPROOF_SCRIPT"), "TMPDIR="+ts.Getenv("TMPDIR"))
	cmd.Stdout, cmd.Stderr = io.Writer(w), io.Writer(&heard)
	switch args[1] {
	case "err":
		cmd.Stdout, cmd.Stderr = &heard, w
	case "both":
		cmd.Stderr = w
	}
	ts.Check(cmd.Start())
	limit := time.AfterFunc(scriptLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("heard"), heard.Bytes(), 0o644))
	got := strconv.Itoa(cmd.ProcessState.ExitCode())
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		got = strconv.Itoa(128 + int(status.Signal()))
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s\n%s", got, args[0], heard.String())
	}
}

func fifo(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

func feed(ts *testscript.TestScript, _ bool, args []string) {
	var w *os.File
	until(ts, "feed "+args[0], func() (bool, string) { // it cannot be opened before there is a reader
		var err error
		w, err = os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil, "nobody reads it"
	})
	defer w.Close()
	send(ts, false, []string{args[3], args[2]})
	await(ts, false, []string{args[3] + ".err", "stopping"})
	_, err := w.WriteString(ts.ReadFile(args[1]))
	ts.Check(err)
}

// What is started meets SIGPIPE as it always was: sh -c 'yes | head -1' ends.
func TestChildrenDoNotIgnoreWhatWeOutlive(t *testing.T) {
	outlive()
	text, err := exec.Command("cat", "/proc/self/status").Output()
	if err != nil {
		t.Skip("needs /proc: ", err)
	}
	_, rest, _ := strings.Cut(string(text), "SigIgn:")
	ignored, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
	if err != nil || ignored&(1<<(syscall.SIGPIPE-1)) != 0 {
		t.Errorf("error %v; a child ignores the signals %x, SIGPIPE among them", err, ignored)
	}
}

// gappy writes two lines, fails, and would write again.
type gappy struct{ lines int }

func (g *gappy) Write(b []byte) (int, error) {
	if g.lines++; g.lines == 3 {
		return 0, errors.New("full")
	}
	return len(b), nil
}

func TestALostListIsNotAllRight(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "--matrix"}, {"explain", "RTE-001"}} {
		var out gappy
		var errs bytes.Buffer
		code := run(args, strings.NewReader(""), &out, &errs)
		if code != 4 || errs.String() != "routeproof: standard output cannot be written: full; write it elsewhere\n" || out.lines != 3 {
			t.Errorf("%v: exit %d, %q; %d writes, want 3", args, code, errs.String(), out.lines)
		}
	}
}
