package report

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func show(r *Report, t *Terminal) string {
	var b bytes.Buffer
	t.W = &b
	for _, c := range r.Cases {
		t.Started(c.Name())
		t.Finished(c)
	}
	t.Summary(r)
	return b.String()
}

func TestTheTerminalLooksAsAgreed(t *testing.T) {
	golden(t, "terminal.txt", []byte(show(sample(), &Terminal{Width: 100, Total: 9, Dir: "out"})))
}

func TestTheTerminalLooksAsAgreedInColorOnALiveLine(t *testing.T) {
	got := show(sample(), &Terminal{Color: true, Live: true, Width: 60, Total: 9})
	golden(t, "terminal-live.txt", []byte(strings.ReplaceAll(got, "\x1b", "<ESC>")))
}

func TestPlainOutputHoldsNoControlByteAndNoSecret(t *testing.T) {
	got := show(sample(), &Terminal{})
	for _, r := range got {
		if r < 0x20 && r != '\n' || r == utf8.RuneError || r == '\u202e' {
			t.Fatalf("holds %q", r)
		}
	}
	if strings.Contains(got, "verysecret") {
		t.Error("a bearer token is printed")
	}
	for _, v := range Verdicts {
		if !strings.Contains(got, string(v)) {
			t.Errorf("verdict %s is not shown", v)
		}
	}
}

func TestAFailedCaseFitsOneScreen(t *testing.T) {
	long := strings.Repeat("a long explanation of what was seen, ", 200)
	c := sample().Cases[2]
	c.Title, c.Why, c.Expected, c.Observed, c.Detail = long, long, long, long, long
	c.Keys = strings.Fields(long)
	c.Expectation = &Expectation{Verdict: Pass, Why: long}
	for _, width := range []int{40, 80, 200} {
		var b bytes.Buffer
		(&Terminal{W: &b, Width: width}).block(&c)
		lines := strings.Split(strings.Trim(b.String(), "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("width %d: %d lines, want at most 24", width, len(lines))
		}
		for _, l := range lines {
			copied := strings.HasPrefix(l, "  again") || strings.HasPrefix(l, "  evidence") || strings.HasPrefix(l, "  explain")
			if n := utf8.RuneCountInString(l); n > width && !copied {
				t.Errorf("width %d: a line of %d: %s", width, n, l)
			}
		}
		for _, part := range []string{"  explain   routeproof explain AFF-012\n", "  again     " + c.Reproduce + "\n",
			"evidence/AFF-012/chat,stream/history.json and 1 more\n"} {
			if !strings.Contains(b.String(), part) {
				t.Errorf("width %d: lacks %q", width, part)
			}
		}
	}
}

func TestManyFailuresDoNotFloodTheTerminal(t *testing.T) {
	r := sample()
	for i := range 200 {
		c := r.Cases[2]
		c.Permutation = fmt.Sprint(i)
		r.Cases = append(r.Cases, c)
	}
	r.Conclude(nil)
	var b bytes.Buffer
	(&Terminal{W: &b}).Summary(r)
	if n := strings.Count(b.String(), "\n"); n > 24*(maxBlocks+2) {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(b.String(), "and 185 more; see report.json") {
		t.Error("does not say how many are left out")
	}
}

func TestWithExpectationsOnlyDifferencesAreShownInFull(t *testing.T) {
	r := sample()
	Compare(r, &Expected{File: "e.yaml", Target: "t", Default: Wanted{Verdict: Pass}, Cases: map[string]Wanted{
		"AFF-012": {Verdict: Fail, Why: "moves sessions"},
		"STR-004": {Verdict: Pass},
	}})
	r.Conclude(nil)
	var b bytes.Buffer
	(&Terminal{W: &b}).Summary(r)
	got := b.String()
	if strings.Contains(got, "\nfail AFF-012") || !strings.Contains(got, "\ninconclusive STR-004") {
		t.Errorf("want STR-004 in full and AFF-012 not:\n%s", got)
	}
	if !strings.Contains(got, "7 differences from e.yaml in 9 cases") {
		t.Errorf("lacks the sum of differences:\n%s", got)
	}
}

func TestTheTerminalMayBeUsedFromSeveralShards(t *testing.T) {
	var b bytes.Buffer
	term := &Terminal{W: &b, Live: true, Total: 200}
	var wg sync.WaitGroup
	for shard := range 4 {
		wg.Go(func() {
			for i := range 50 {
				c := CaseResult{ID: fmt.Sprintf("RTE-%d%02d", shard, i), Verdict: Pass}
				term.Started(c.Name())
				term.Finished(c)
			}
		})
	}
	wg.Wait()
	if !strings.Contains(b.String(), "[200/200] pass") {
		t.Error("the last case is not counted as the last")
	}
	if n := strings.Count(b.String(), "\n"); n != 200 {
		t.Errorf("%d lines for 200 cases", n)
	}
}

type full struct{ writes int }

func (f *full) Write([]byte) (int, error) { f.writes++; return 0, errors.New("disk full") }

func TestAWriteErrorIsKeptAndEndsTheOutput(t *testing.T) {
	w := &full{}
	term := &Terminal{W: w}
	term.Finished(sample().Cases[0])
	term.Summary(sample())
	if err := term.Err(); err == nil || err.Error() != "disk full" || w.writes != 1 {
		t.Errorf("error %v after %d writes, want disk full after 1", err, w.writes)
	}
}
