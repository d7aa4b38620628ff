package judge_test

import (
	"fmt"
	"math"
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

func TestReplacedNeedsNoMoreOnceABindingIsExcluded(t *testing.T) {
	tell := func(n, back int) func(*story) {
		return func(h *story) {
			for i := range n {
				to := "w1"
				if i < back {
					to = "w0"
				}
				again(h, i, []string{"w0>" + to})
			}
		}
	}
	try(t, judge.Replaced(judge.ByShape, 53, 1e-8, "first", "second", "free", "to be placed anew"),
		trial{"four of twelve came back", tell(12, 4), ""},
		trial{"six of twelve did", tell(12, 6), doubt + "12 of 53"},
		trial{"none of five", tell(5, 0), doubt + "5 of 53"},
		trial{"none of six", tell(6, 0), ""},
	)
}

func TestPlacedAnewExcludesABindingOfNineteenInTwenty(t *testing.T) {
	for n := range 60 {
		for back := range n + 1 {
			// The chance of so few returns or fewer, summed up by hand.
			p, term := 0.0, math.Pow(0.05, float64(n))
			for k := range back + 1 {
				p += term
				term *= float64(n-k) / float64(k+1) * 0.95 / 0.05
			}
			if got := judge.PlacedAnew(n, back); got != (p <= 1e-7) && math.Abs(p-1e-7) > 1e-12 {
				t.Errorf("PlacedAnew(%d, %d) = %t at a chance of %g", n, back, got, p)
			}
		}
	}
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
