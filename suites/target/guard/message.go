package guard

import (
	"fmt"
	"syscall"
	"time"
)

// File descriptors of the guard besides the usual three. Its standard output and
// error are the target's, unless the target's are pipes.
const (
	controlFD = 3 // requests come in; end of file is the lifeline's end
	statusFD  = 4 // reports go out
	stdinFD   = 5 // the target's, where they are pipes
	stdoutFD  = 6
)

// dirEnv is the variable by which the processes of a target are known again if
// their guard is lost. It names the working directory.
const dirEnv = "ROUTEPROOF_TARGET_DIR"

// request is what we tell the guard. Exactly one field is set. Both ends are the
// same executable, so the encoding (gob: arguments and environment need not be
// UTF-8) is nobody else's business.
type request struct {
	Launch *launch
	Signal syscall.Signal
	Stop   *stop
}

// launch asks for the target. Piped says that the guard holds its standard input
// and output.
type launch struct {
	Spec
	Piped bool
}

// stop asks for the end: Signal now, SIGKILL to everything after Grace.
type stop struct {
	Signal syscall.Signal
	Grace  time.Duration
}

// report is what the guard tells us. Exactly one field is set.
type report struct {
	Dir      string // made, empty
	PID      int    // the target runs
	Failed   string // the guard or the launch failed
	NotFound bool   // with Failed: the program does not exist or may not be run
	TooLong  bool   // with Failed: the system does not start it with so much
	Exit     *Exit  // the target's own process ended
	Gone     *gone  // nothing is left; the guard exits
}

// gone sums up a tear-down.
type gone struct {
	Forced bool   // SIGKILL was needed
	Left   []int  // processes that even SIGKILL did not end in time
	Stays  string // why the directory could not be removed
}

// Spec is the program to launch.
type Spec struct {
	Path string   // executable, absolute or relative to the working directory of our process
	Args []string // with Args[0]
	Env  []string // the whole environment, "K=V"
}

// Exit says how the target's own process ended.
type Exit struct {
	Code   int            // exit status, -1 when a signal ended it
	Signal syscall.Signal // the signal that ended it, else 0
	Lost   bool           // unknown: the guard itself was killed, and the target with it
}

// String says it in words: "exit status 1", "ended by signal 11 (segmentation fault)".
func (e Exit) String() string {
	switch {
	case e.Lost:
		return "lost with its guard process"
	case e.Signal != 0:
		return fmt.Sprintf("ended by signal %d (%v)", int(e.Signal), e.Signal)
	default:
		return fmt.Sprintf("exit status %d", e.Code)
	}
}
