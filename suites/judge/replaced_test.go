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

func TestReplacedWantsSessionsPlacedAnewInEveryCell(t *testing.T) {
	tell := func(sessions ...string) func(*story) { return func(h *story) { again(h, 0, sessions) } }
	try(t, judge.Replaced(judge.ByShape, 3, 0.25, "first", "second", "free", "to be placed anew"),
		trial{"one of three went elsewhere", tell("w0>w0", "w0>w1", "w2>w2"), ""},
		trial{"all went back", tell("w0>w0", "w1>w1", "w0>w0"), violated + "3 of 3 sessions went back"},
		trial{"all went back in one cell", func(h *story) {
			again(h, 0, []string{"w0>w1", "w0>w2", "w0>w3"})
			again(h, 10, []string{"w0>w0", "w1>w1", "w0>w0"}, completions)
		}, violated + "to be placed anew (completions"},
		trial{"a second turn that was tried there first went back", tell("w0>w0 w1", "w1>w1 w2", "w0>w0 w1"), violated + "3 of 3 sessions"},
		trial{"the last of several workers is kept", tell("w1 w0>w0", "w0 w1>w1", "w1 w0>w0"), violated + "3 of 3 sessions"},
		trial{"the first of several workers is kept", tell("w0 w1>w0", "w1 w2>w1", "w0 w1>w0", "w2 w0>w2"), violated + "4 of 4 sessions"},
		trial{"some at the first and some at the last is chance", tell("w0 w1>w0", "w0 w1>w1", "w2 w3>w2", "w2 w3>w3"), ""},
		trial{"one worker is left, and tried first", tell("w0 w1>w0", "w0 w2>w0", "w0 w3>w0", "w0 w1>w0"), doubt + "having no choice"},
		trial{"one worker is left and no other was tried", tell("w0>w0", "w0>w0", "w0>w0"), doubt + "having no choice"},
		trial{"all are at one worker, and free requests elsewhere", func(h *story) {
			again(h, 0, []string{"w0>w0", "w0>w0", "w0>w0"})
			h.turn("", "w1", in("free"))
		}, violated + "3 of 3 sessions"},
		trial{"all are at one worker, and free requests too", func(h *story) {
			again(h, 0, []string{"w0>w0", "w0>w0", "w0>w0"})
			h.turn("", "w0", in("free"))
		}, doubt + "having no choice"},
		trial{"too few sessions in a cell", tell("w0>w0", "w1>w1"), doubt + "2 of 3"},
		trial{"too few second turns at a worker", tell("w0>w0", "w1>w1", "w0>"), doubt + "2 of 3"},
		trial{"first turns that reached no worker", tell(">w0", ">w1", ">w0"), doubt + "no session"},
		trial{"nothing was sent", nil, doubt + "no session"},
	)
}

func TestReplacedBlamesNobodyForOneCellsLack(t *testing.T) {
	try(t, judge.Replaced(judge.ByShape, 3, 0.25, "first", "second", "free", "to be placed anew"),
		trial{"a violation outweighs another cell's lack", func(h *story) {
			again(h, 0, []string{"w0>w0", "w1>w1", "w0>w0"})
			again(h, 10, []string{"w0>w0"}, completions)
		}, violated + "3 of 3 sessions"},
		trial{"a good cell does not hide another's lack", func(h *story) {
			again(h, 0, []string{"w0>w1", "w0>w0", "w0>w0"})
			again(h, 10, []string{"w0>w0"}, completions)
		}, doubt + "1 of 3"},
	)
}

// With the numbers that cases use: 47 sessions a cell, a rate of 1e-6 over 4 cells.
func TestReplacedTellsAPartialBindingFromChance(t *testing.T) {
	tell := func(back int) func(*story) {
		return func(h *story) {
			moves := make([]string, 47)
			for i := range moves {
				from, to := fmt.Sprint("w", i%4), fmt.Sprint("w", i%4)
				if i >= back {
					to = fmt.Sprint("w", (i+1)%4)
				}
				moves[i] = from + ">" + to
			}
			again(h, 0, moves)
		}
	}
	try(t, judge.Replaced(judge.ByShape, 35, 1e-6/4, "first", "second", "free", "to be placed anew"),
		trial{"a quarter came back, as chance has it", tell(12), ""},
		trial{"forty did", tell(40), ""},
		trial{"forty-one did", tell(41), violated + "41 of 47"},
	)
}
