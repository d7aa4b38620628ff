package near

import (
	"strings"
	"testing"
)

func TestNearestNamesComeFirst(t *testing.T) {
	names := []string{"aff/drifts", "aff/chat-only", "rte/herd", "scl/ghost", "str/buffers", "bnd/any-id"}
	for wrong, want := range map[string]string{"aff/chat-onyl": "aff/chat-only", "RTE/HERD": "rte/herd", "buffers": "str/buffers"} {
		if got := Names(names, wrong); got[0] != want || len(got) != 5 {
			t.Errorf("%s: %v", wrong, got)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	_ = Names(names, strings.Repeat("x", 1<<20)) // whatever is typed ends soon
}
