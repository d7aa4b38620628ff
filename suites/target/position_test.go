package target

import "testing"

func TestAPositionIsTheKeysOrItsNearestAncestors(t *testing.T) {
	m := &Manifest{source: []byte("a: 1\nclaims:\n  x.y: yes\n  z: {q: 1}\n")}
	for name, tc := range map[string]struct {
		path         []string
		line, column int
	}{
		"a key with a dot in it":   {[]string{"claims", "x.y"}, 3, 3},
		"a key in a flow mapping":  {[]string{"claims", "z", "q"}, 4, 7},
		"an absent key's ancestor": {[]string{"claims", "none"}, 2, 1},
		"a path through a scalar":  {[]string{"a", "b"}, 1, 1},
		"nothing at all":           {[]string{"none"}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if line, column := m.At(tc.path...); line != tc.line || column != tc.column {
				t.Errorf("got %d:%d, want %d:%d", line, column, tc.line, tc.column)
			}
		})
	}
}
