// Package require says what a test does when a program that it needs is not
// installed: it skips, with a line that says what to install, unless the
// environment variable ROUTEPROOF_REQUIRE (names with commas between, or "all")
// lists the program; then it fails. A pipeline that means to run everything sets it.
// The name "docker" stands for a container engine that answers.
package require

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Env lists the programs that must be there.
const Env = "ROUTEPROOF_REQUIRE"

// TB is what Require needs of a test.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// install says how to get the programs that we know.
var install = map[string]string{
	"haproxy": "install it with: apt-get install haproxy",
	"nginx":   "install it with: apt-get install nginx-light",
	"python3": "install it with: apt-get install python3",
	Docker:    "install it with: apt-get install docker.io, and start it (DOCKER_HOST names another)",
}

// Docker is the container engine's name among the programs.
const Docker = "docker"

// Require returns the program's path (for Docker the engine's address), or skips
// or fails the test.
func Require(t TB, program string) string {
	t.Helper()
	path, text := "", program+" is not installed"
	var err error
	if program == Docker {
		path, err = engine()
		text = fmt.Sprintf("no container engine answers (%v)", err)
	} else {
		path, err = exec.LookPath(program)
	}
	if err == nil {
		return path
	}
	how := install[program]
	if how == "" {
		how = "install it, so that it is found in PATH"
	}
	Missing(t, program, text+"; "+how)
	return ""
}

// Missing skips or fails the test because of something that the program's users
// need beside it, which the text names with a remedy.
func Missing(t TB, program, text string) {
	t.Helper()
	if listed(program) {
		t.Fatal(text + " (" + Env + " demands it)")
	}
	t.Skip(text + ", or set " + Env + "=" + program + " to make this a failure")
}

func listed(program string) bool {
	for name := range strings.SplitSeq(os.Getenv(Env), ",") {
		if name = strings.TrimSpace(name); name == program || name == "all" {
			return true
		}
	}
	return false
}
