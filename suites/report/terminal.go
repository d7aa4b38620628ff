package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Terminal shows a run to people: a line per finished case, and at the end what
// failed and what it came to. Set the fields before the first call. Its methods
// may be called from several goroutines.
type Terminal struct {
	W     io.Writer
	Color bool   // ANSI colours
	Live  bool   // W is a terminal: keep one line redrawn with what is running
	Width int    // columns; 0 means 80, and fewer than 40 count as 40
	Total int    // cases to come; 0 if unknown
	Dir   string // the report's folder, put before evidence files; may be empty

	mu      sync.Mutex
	done    int
	running []string
	err     error
}

const (
	clearLine  = "\r\x1b[K"
	resetColor = "\x1b[0m"
)

var colors = map[Verdict]string{
	Pass: "\x1b[32m", Fail: "\x1b[1;31m", UnexpectedPass: "\x1b[1;31m", Error: "\x1b[1;35m",
	Inconclusive: "\x1b[33m", NotRun: "\x1b[33m", Exempt: "\x1b[36m", Declined: "\x1b[2m",
}

// Started says that a case, by its CaseResult.Name, is running. It prints only
// where the line can be redrawn: in a log, a line per finished case is enough.
func (t *Terminal) Started(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = append(t.running, name)
	t.status()
}

// Finished prints the case's line. A case need not have been Started.
func (t *Terminal) Finished(c CaseResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.running, c.Name()); i >= 0 {
		t.running = slices.Delete(t.running, i, i+1)
	}
	t.done++
	count := fmt.Sprintf("[%d]", t.done)
	if t.Total > 0 {
		of := fmt.Sprint(t.Total)
		count = fmt.Sprintf("[%*d/%s]", len(of), t.done, of)
	}
	head := fmt.Sprintf("%s %-12s ", count, c.Verdict)
	rest := cut(oneLine(c.Name()+" "+c.Title), t.width()-len(head)-8)
	t.clear()
	t.printf("%s %s %s %s\n", count, t.verdict(c.Verdict, 12), rest, c.Duration)
	t.status()
}

// Err is the first error of writing, if any. Nothing is printed after it.
func (t *Terminal) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Terminal) width() int {
	if t.Width == 0 {
		return 80
	}
	return max(t.Width, 40)
}

func (t *Terminal) verdict(v Verdict, pad int) string {
	s := fmt.Sprintf("%-*s", pad, oneLine(string(v)))
	if c := colors[v]; t.Color && c != "" {
		return c + s + resetColor
	}
	return s
}

func (t *Terminal) clear() {
	if t.Live {
		t.printf(clearLine)
	}
}

func (t *Terminal) status() {
	if !t.Live || len(t.running) == 0 {
		return
	}
	t.printf("%s%s", clearLine, cut(oneLine("running "+strings.Join(t.running, ", ")), t.width()-1))
}

func (t *Terminal) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.W, format, args...)
	}
}
