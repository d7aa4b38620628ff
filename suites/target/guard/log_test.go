package guard

import (
	"fmt"
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
