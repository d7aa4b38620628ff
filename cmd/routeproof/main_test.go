package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// The test binary is the program in the scripts.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every process sleeps for a second at its end
	testscript.Main(leakless{m}, map[string]func(){
		"routeproof": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// leakless runs the tests and fails if a goroutine is left.
type leakless struct{ m *testing.M }

func (l leakless) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Each script shows one thing that the program does; see commands for its verbs.
func TestScripts(t *testing.T) { scripts(t, "testdata/script") }

// A full certification measures times, so nothing runs beside it. It is not held
// to them where the race detector makes everything several times as slow.
func TestFullCertification(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector is on")
	}
	scripts(t, "testdata/alone")
}

func scripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{Dir: dir, Cmds: commands(), Setup: setup, RequireExplicitExec: true, RequireUniqueNames: true})
}
