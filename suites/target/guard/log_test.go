package guard

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheLogKeepsItsEnd(t *testing.T) {
	var b Log
	if b.Tail(3) != "" {
		t.Error("an empty log has a tail")
	}
	for i := range 200_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if got := b.Tail(2); got != "line 199998\nline 199999" {
		t.Errorf("tail %q", got)
	}
	if got := len(b.Bytes()); got != keepLog {
		t.Errorf("kept %d bytes", got)
	}
	if cap(b.data) > 4*keepLog {
		t.Errorf("holds %d bytes", cap(b.data))
	}
	if got := b.Tail(1 << 30); len(got) != keepLog-1 {
		t.Errorf("the whole tail has %d bytes", len(got))
	}
}

func TestAnExcerptShowsHowALogBeganAndEnded(t *testing.T) {
	var none *Log
	if none.Excerpt() != "" || new(Log).Excerpt() != "" || Quote("") != "" {
		t.Error("an empty log has an excerpt")
	}
	for _, c := range []struct{ lines, between int }{{1, 0}, {20, 0}, {21, 1}, {200, 180}, {200_000, 199_980}} {
		var b Log
		for i := range c.lines {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		var want []string
		for i := range c.lines {
			switch {
			case c.between == 0 || i < 5 || i >= c.lines-15:
				want = append(want, fmt.Sprint("line ", i))
			case i == 5:
				want = append(want, fmt.Sprintf("... %d lines ...", c.between))
			}
		}
		if got := b.Excerpt(); got != strings.Join(want, "\n") {
			t.Errorf("%d lines: %s", c.lines, got)
		}
	}
	var b Log
	fmt.Fprint(&b, strings.Repeat("x", 3*keepLog)) // one line, longer than what is kept
	if got := b.Excerpt(); strings.Count(got, "\n") != 0 || len(got) > 2*keepLog {
		t.Errorf("%d bytes, %d line breaks", len(got), strings.Count(got, "\n"))
	}
	if got := Quote("a\nb"); got != "\nfrom its log:\n  a\n  b" {
		t.Errorf("%q", got)
	}
}
