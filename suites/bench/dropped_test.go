package bench

import (
	"testing"
)

func TestDroppedPacketsAreCountedOverAllProcessors(t *testing.T) {
	const text = "entries  clashres found drop early_drop search_restart\n" +
		"00029df7  00000000 00000001 0000009c 00000001 00000000\n" +
		"00029df7  00000000 00000002 00000010 00000000 00000000\n"
	if n := droppedIn([]byte(text)); n != 0x9c+0x10 {
		t.Errorf("%d dropped, want %d", n, 0x9c+0x10)
	}
	for _, none := range []string{"", "entries found\n0001 0002\n", "entries drop\n0001\n", "entries drop\n0001 -\n"} {
		if n := droppedIn([]byte(none)); n != 0 {
			t.Errorf("%q: %d dropped, want 0", none, n)
		}
	}
}
