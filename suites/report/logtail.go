package report

import "strings"

// logMark introduces a target's log in an error's text, as package target writes
// it: the log's lines follow, each behind two blanks.
const logMark = "last lines of its log:"

// logShown is how many of these lines a reader is shown, from the end: what a
// program says last is why it ended.
const logShown = 6

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
