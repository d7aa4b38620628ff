package component

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// FaultKind says what an adapter did wrong.
type FaultKind string

// The faults of adapters.
const (
	Malformed    FaultKind = "malformed line"
	TooLong      FaultKind = "line too long"
	UnknownID    FaultKind = "answer to an unknown id"
	SecondAnswer FaultKind = "second answer"
	LateAnswer   FaultKind = "late answer"
	NoAnswer     FaultKind = "no answer"
	OutOfOrder   FaultKind = "out of order"
	Ended        FaultKind = "ended"
	Stays        FaultKind = "does not end"
)

// Fault is an adapter that breaks the protocol: nothing can be said about the
// library behind it. All but NoAnswer and Stays end the conversation.
type Fault struct {
	Kind    FaultKind
	Problem string // what is wrong with it
	Line    string // the offending line, shortened; empty where there is none
	Request string // the request that it answers or should answer, shortened; may be empty
	Exit    string // how the adapter's process ended, if it did
	Log     string // how what it wrote to standard error began and ended
}

func (f *Fault) Error() string {
	s := "adapter fault: " + string(f.Kind) + ": " + f.Problem
	if f.Line != "" {
		s += "; line: " + f.Line
	}
	if f.Request != "" {
		s += "; request: " + f.Request
	}
	if f.Exit != "" {
		s += "; its process ended: " + f.Exit
	}
	return s + guard.Quote(f.Log)
}

// What is shown of a line.
const (
	shownHead = 240 // bytes from its beginning
	shownTail = 60  // bytes from its end, of a longer one
)

// shorten makes a line, whatever it holds, fit to be read in a report.
func shorten(line []byte) string {
	if len(line) <= shownHead+shownTail {
		return printable(line)
	}
	return printable(line[:shownHead]) + fmt.Sprintf(" ... (%d bytes) ... ", len(line)) + printable(line[len(line)-shownTail:])
}

// printable escapes what is no printable text.
func printable(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, b[0])
		case !unicode.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteRune(r)
		}
		b = b[n:]
	}
	return out.String()
}
