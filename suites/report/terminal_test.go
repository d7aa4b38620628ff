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
	withLog := c
	withLog.Observed = long + "\nfrom its log:" + strings.Repeat("\n  "+long, 20)
	for _, width := range []int{40, 80, 200} {
		var l bytes.Buffer
		(&Terminal{W: &l, Width: width}).block(&withLog)
		if n := strings.Count(strings.Trim(l.String(), "\n"), "\n") + 1; n > 24 {
			t.Errorf("width %d, with a log: %d lines, want at most 24", width, n)
		}
		var b bytes.Buffer
		(&Terminal{W: &b, Width: width}).block(&c)
		lines := strings.Split(strings.Trim(b.String(), "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("width %d: %d lines, want at most 24", width, len(lines))
		}
		for _, l := range lines {
			copied := strings.HasPrefix(l, "  again") || strings.HasPrefix(l, "  evidence") || strings.HasPrefix(l, "  replay") || strings.HasPrefix(l, "  explain")
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

// logged is an error's text as package target writes it, with n lines of log,
// and a gap behind the first five.
func logged(n int) string {
	var b strings.Builder
	b.WriteString("target unreachable: it ended before it was ready; its process ended: exit status 1\nfrom its log:")
	for i := range n {
		if i == 5 {
			b.WriteString("\n  ... 1000 lines ...")
		}
		fmt.Fprintf(&b, "\n  line %d of the log, %s", i+1, strings.Repeat("which is long ", 20))
	}
	return b.String()
}

func TestTheBeginningAndTheEndOfATargetsLogAreShown(t *testing.T) {
	r := sample()
	r.Cases = r.Cases[2:4]
	r.Cases[0].Observed, r.Cases[1].Detail = logged(20), logged(3)+"\nand process 7 was left"
	r.Problems = []Problem{{ProblemTarget, "target", logged(20)}}
	r.Conclude([]string{"routing"})
	var b bytes.Buffer
	(&Terminal{W: &b, Width: 70}).Summary(r)
	got := b.String()
	block, rest, _ := strings.Cut(got, "\nerror ")
	second, problems, _ := strings.Cut(rest, "\nproblems of the run\n")
	for what, c := range map[string]struct {
		text  string
		lines []int // of the log: the last of its beginning and the first of its end
		head  string
	}{
		"a failed case": {block, []int{2, 16}, "  observed  target unreachable: it ended"},
		"an error":      {second, []int{3, 16}, "and process 7 was left\n            from its log:\n"},
		"a problem":     {problems, []int{2, 16}, "  target unreachable: it ended"},
	} {
		if !strings.Contains(c.text, c.head) {
			t.Errorf("%s: lacks %q:\n%s", what, c.head, c.text)
		}
		for n := 1; n <= 20; n++ {
			want := n <= c.lines[0] || n >= c.lines[1] && c.lines[0] == 2
			if got := strings.Contains(c.text, fmt.Sprintf("\n%s  line %d of the log, which", strings.Repeat(" ", len(c.head)-len(strings.TrimLeft(c.head, " "))), n)) ||
				strings.Contains(c.text, fmt.Sprintf("              line %d of the log, which", n)); got != want {
				t.Errorf("%s: line %d is shown: %v\n%s", what, n, got, c.text)
			}
		}
	}
	for _, text := range []string{block, problems} {
		if !strings.Contains(text, "  ... 1013 lines ...\n") {
			t.Errorf("does not say how many lines are left out:\n%s", text)
		}
	}
	if n := strings.Count(problems, "line 20 of the log"); n != 1 {
		t.Errorf("the log is shown %d times among problems and profiles", n)
	}
	for _, l := range strings.Split(got, "\n") {
		if utf8.RuneCountInString(l) > 70 && !strings.Contains(l, "again") {
			t.Errorf("wider than 70: %s", l)
		}
	}
}

func TestAProblemSaysNoWordTwice(t *testing.T) {
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{ProblemTarget, "target", "target unreachable: x"}, "target unreachable: x"},
		{Problem{ProblemTarget, "AFF-001/turns", "target unreachable: x"}, "target: AFF-001/turns: target unreachable: x"},
		{Problem{ProblemTarget, "target", "the target ended by itself"}, "target: the target ended by itself"},
		{Problem{ProblemHarness, "shard 1", "crashed"}, "harness: shard 1: crashed"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
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

func TestDeclinedCasesAreCountedByReason(t *testing.T) {
	r := sample()
	declined := r.Cases[1]
	r.Cases = nil
	for reason, n := range map[string]int{"the claim b is answered no": 3, "the claim c is answered no": 3, "the claim a is answered no\nand more": 12, "": 1} {
		declined.Detail = reason
		for range n {
			r.Cases = append(r.Cases, declined)
		}
	}
	want := `
declined, by reason
   12  the claim a is answered no and more
    3  the claim b is answered no
    3  the claim c is answered no
    1  no reason is given
`
	if got := show(r, &Terminal{}); !strings.Contains(got, want) {
		t.Errorf("lacks %q:\n%s", want, got)
	}
	for i := range 200 {
		declined.Detail = fmt.Sprint(strings.Repeat("a long reason ", 40), i)
		r.Cases = append(r.Cases, declined)
	}
	_, got, _ := strings.Cut(show(r, &Terminal{}), "declined, by reason")
	if n := strings.Count(got, "\n"); n > maxReasons+20 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(got, "and 164 more reasons") {
		t.Errorf("does not say how many are left out:\n%s", got)
	}
	r.Cases = r.Cases[:0]
	if got := show(r, &Terminal{}); strings.Contains(got, "by reason") {
		t.Errorf("speaks of declined cases, and there are none:\n%s", got)
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

func TestEvidenceIsNamedWithWhatReadsIt(t *testing.T) {
	r := sample()
	c := &r.Cases[2]
	c.Evidence = []Evidence{{File: "evidence/AFF-020_random.json.gz"}, {File: "evidence/AFF-020_random.jsonl"}}
	var b bytes.Buffer
	(&Terminal{W: &b, Dir: "out"}).block(c)
	for _, want := range []string{
		"  evidence  routeproof evidence out/evidence/AFF-020_random.json.gz\n",
		"  replay    routeproof adapter check --conversation out/evidence/AFF-020_random.jsonl ADAPTER\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}
