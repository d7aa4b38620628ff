package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// logMark introduces a target's log in an error's text, as package target writes
// it: the log's lines follow, each behind two blanks.
const logMark = "from its log:"

// How much of it a reader is shown: what a program says first is often the cause, and
// what it says last is why it ended.
const (
	logFirst = 2
	logLast  = 5
)

// logGap is the line that package target puts in the place of others.
var logGap = regexp.MustCompile(`^\.\.\. (\d+) lines \.\.\.$`)

// shorten keeps the first and the last lines of a log, with a line between them that
// says how many there are.
func shorten(log []string) []string {
	if len(log) <= logFirst+logLast+1 {
		return log
	}
	gone := 0
	for _, l := range log[logFirst : len(log)-logLast] {
		n := 1
		if m := logGap.FindStringSubmatch(l); m != nil {
			n, _ = strconv.Atoi(m[1])
		}
		gone += n
	}
	out := append([]string{}, log[:logFirst]...)
	return append(append(out, fmt.Sprintf("... %d lines ...", gone)), log[len(log)-logLast:]...)
}

// splitLog separates a text from the log in it, if there is one.
func splitLog(text string) (rest string, log []string) {
	before, after, found := strings.Cut(text, "\n"+logMark+"\n")
	if !found {
		return text, nil
	}
	lines := strings.Split(after, "\n")
	n := 0
	for n < len(lines) && (strings.HasPrefix(lines[n], "  ") || strings.TrimSpace(lines[n]) == "") {
		if l := strings.TrimSpace(lines[n]); l != "" {
			log = append(log, l)
		}
		n++
	}
	if n < len(lines) { // what was joined to the error goes on behind it
		before += "\n" + strings.Join(lines[n:], "\n")
	}
	return before, log
}
