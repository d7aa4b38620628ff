package target

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// ManifestError is a manifest that cannot be used as it is, at one place. The
// command line answers it with exit status 2.
type ManifestError struct {
	File         string
	Line, Column int    // from 1
	Key          string // path of the key, dots between; empty for a syntax error
	Value        string // the offending value where there is one
	Problem      string
	Remedy       string
}

func (e *ManifestError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Key != "" {
		fmt.Fprintf(&b, "key %q: ", e.Key)
	}
	b.WriteString(e.Problem)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// UnreachableError is a target that could not be started or did not get ready
// (exit status 3).
type UnreachableError struct {
	Reason string
	Exit   string // how the process ended; empty if it did not
	Log    string // how what it wrote began and ended
}

func (e *UnreachableError) Error() string {
	s := "target unreachable: " + e.Reason
	if e.Exit != "" {
		s += "; its process ended: " + e.Exit
	}
	return s + guard.Quote(e.Log)
}

// PortInUseError is a target that found its port taken, again and again (exit
// status 3).
type PortInUseError struct {
	Port   int // 0 if the target's log does not name it
	Tries  int
	Log    string
	Remedy string
}

func (e *PortInUseError) Error() string {
	what := "a port"
	if e.Port != 0 {
		what = fmt.Sprintf("port %d", e.Port)
	}
	return fmt.Sprintf("the target finds %s in use (launched %d times); %s", what, e.Tries, e.Remedy) + guard.Quote(e.Log)
}

// ApplyError is a running target that was told about other workers and was not
// seen to follow.
type ApplyError struct {
	Generation int           // that was expected
	Waited     time.Duration // until we gave up
	Signals    int           // sent
	Last       string        // last answer of verify.http, or why there was none
	Exit       string        // how the process ended; empty if it did not
	Log        string
}

func (e *ApplyError) Error() string {
	s := fmt.Sprintf("the target did not take over the new workers (generation %d) within %v and %d signals; verify last saw %s",
		e.Generation, e.Waited.Round(time.Millisecond), e.Signals, e.Last)
	if e.Exit != "" {
		s += "; its process ended: " + e.Exit
	}
	return s + guard.Quote(e.Log)
}

// ExitError is a target that ended without being asked to.
type ExitError struct {
	How  string // "exit status 1", "ended by signal 11 (segmentation fault)"
	Lost bool   // our own guard was killed and took the target along: not the target's doing
	Log  string
}

func (e *ExitError) Error() string {
	return "the target ended by itself: " + e.How + guard.Quote(e.Log)
}

// ErrNoApply: the manifest gives no way to change the workers of a running target.
var ErrNoApply = errors.New("the manifest has no wiring.apply: the workers of a running target cannot be changed")
