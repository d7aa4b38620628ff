// Package require says what a test does when a program that it needs is not
// installed: it skips, with a line that says what to install, unless the
// environment variable ROUTEPROOF_REQUIRE (names with commas between, or "all")
// lists the program; then it fails. A pipeline that means to run everything sets it.
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
}

// Require returns the program's path, or skips or fails the test.
func Require(t TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	how := install[program]
	if how == "" {
		how = "install it, so that it is found in PATH"
	}
	text := fmt.Sprintf("%s is not installed; %s", program, how)
	if listed(program) {
		t.Fatal(text + " (" + Env + " demands it)")
	}
	t.Skip(text + ", or set " + Env + "=" + program + " to make this a failure")
	return ""
}

func listed(program string) bool {
	for name := range strings.SplitSeq(os.Getenv(Env), ",") {
		if name = strings.TrimSpace(name); name == program || name == "all" {
			return true
		}
	}
	return false
}
