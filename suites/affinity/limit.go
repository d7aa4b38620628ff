package affinity

import (
	"strings"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// idLimit is the longest session id, in bytes (clause BND-001).
const idLimit = 256

// long is an id of exactly n bytes, as many of them as fit in the given character.
func long(n int, char string) string {
	return strings.Repeat(char, n/len(char)) + strings.Repeat("x", n%len(char))
}

// AFF015Limit: bytes are counted, not characters.
func (Cases) AFF015Limit() bench.Case {
	s := talk()
	for _, char := range []string{"a", "é", "漢", "😀"} {
		fits, over := script.S(long(idLimit, char)), script.S(long(idLimit+1, char))
		s.Acquire("256 bytes of "+char, fits).Is(script.Initializes)
		s.Acquire("257 bytes of "+char, over).Is(script.Fails(script.InvalidArgument))
		s.Query(over).Is(script.Fails(script.InvalidArgument))
	}
	s.Acquire("257 characters", script.S(strings.Repeat("漢", idLimit+1))).Is(script.Fails(script.InvalidArgument))
	s.Count().Is(script.Holds(4, 4))
	c := bench.Scripted("AFF-015/limit", "ids of 256 and 257 bytes, in characters of one to four bytes",
		"the longer ones are refused as invalid, by a query too, and take no place", s)
	c.Claims = append(c.Claims, "affinity.idLimit")
	return c
}
