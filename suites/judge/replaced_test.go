package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/judge"
)

// again tells of sessions, each with a first turn that fails and a second one:
// "w0 w1 > w2" was tried at w0 and w1 and is at w2 now.
func again(h *story, from int, sessions []string, opts ...opt) {
	for i, moves := range sessions {
		first, second, _ := strings.Cut(moves, ">")
		s := fmt.Sprint("s", from+i)
		h.turn(s, first, append([]opt{in("first"), status(500)}, opts...)...)
		h.turn(s, second, in("second"))
	}
}

func TestReplacedWantsSomeSessionElsewhereInEveryCell(t *testing.T) {
	tell := func(sessions ...string) func(*story) { return func(h *story) { again(h, 0, sessions) } }
	try(t, judge.Replaced(judge.ByShape, 3, "first", "second", "to be placed anew"),
		trial{"one of three went elsewhere", tell("w0>w0", "w0>w1", "w2>w2"), ""},
		trial{"all went back", tell("w0>w0", "w1>w1", "w0>w0"), violated + "all 3 sessions went back"},
		trial{"all went back in one cell", func(h *story) {
			again(h, 0, []string{"w0>w1", "w0>w2", "w0>w3"})
			again(h, 10, []string{"w0>w0", "w1>w1", "w0>w0"}, completions)
		}, violated + "to be placed anew (completions"},
		trial{"a second turn that was tried there first went back", tell("w0>w0 w1", "w1>w1 w2", "w0>w0 w1"), violated + "all 3 sessions"},
		trial{"the last of several workers is kept", tell("w1 w0>w0", "w0 w1>w1", "w1 w0>w0"), violated + "all 3 sessions"},
		trial{"the first of several workers is kept", tell("w0 w1>w0", "w1 w2>w1", "w0 w1>w0", "w2 w0>w2"), violated + "all 4 sessions"},
		trial{"the first of several is kept, one session too few to tell it from chance", tell("w0 w1>w0", "w1 w2>w1", "w0 w1>w0"), ""},
		trial{"some at the first and some at the last is chance", tell("w0 w1>w0", "w0 w1>w1", "w2 w3>w2", "w2 w3>w3"), ""},
		trial{"one worker is left, and tried first", tell("w0 w1>w0", "w0 w2>w0", "w0 w3>w0", "w0 w1>w0"), ""},
		trial{"one worker is left and no other was tried", tell("w0>w0", "w0>w0", "w0>w0"), doubt + "having no choice"},
		trial{"too few sessions in a cell", tell("w0>w0", "w1>w1"), doubt + "2 of 3"},
		trial{"too few second turns at a worker", tell("w0>w0", "w1>w1", "w0>"), doubt + "2 of 3"},
		trial{"first turns that reached no worker", tell(">w0", ">w1", ">w0"), doubt + "no session"},
		trial{"nothing was sent", nil, doubt + "no session"},
	)
}

func TestReplacedBlamesNobodyForOneCellsLack(t *testing.T) {
	try(t, judge.Replaced(judge.ByShape, 3, "first", "second", "to be placed anew"),
		trial{"a violation outweighs another cell's lack", func(h *story) {
			again(h, 0, []string{"w0>w0", "w1>w1", "w0>w0"})
			again(h, 10, []string{"w0>w0"}, completions)
		}, violated + "all 3 sessions"},
		trial{"a good cell does not hide another's lack", func(h *story) {
			again(h, 0, []string{"w0>w1", "w0>w0", "w0>w0"})
			again(h, 10, []string{"w0>w0"}, completions)
		}, doubt + "1 of 3"},
	)
}
