package judge_test

import (
	"fmt"
	"testing"

	"github.com/routeproof/routeproof/suites/judge"
)

// ways tells of four sessions of each endpoint, streamed and not, in one pair of phases:
// goes says where the second turn of one that was at w0 is.
func ways(h *story, pair string, goes func(older, stream bool) string) {
	for i := range 16 {
		older, stream := i%2 == 1, i/2%2 == 1
		var how []opt
		if older {
			how = append(how, completions)
		}
		if stream {
			how = append(how, streamed(1))
		}
		s := fmt.Sprint(pair, i)
		h.turn(s, "w0", append([]opt{in("first" + pair)}, how...)...)
		h.turn(s, goes(older, stream), append([]opt{in("second" + pair)}, how...)...)
	}
}

func TestReplacedInHalvesSeesOneWayToAsk(t *testing.T) {
	tell := func(goes func(older, stream bool) string) func(*story) {
		return func(h *story) {
			ways(h, " a", goes)
			ways(h, " b", goes)
			h.turn("", "w1", in("free"))
		}
	}
	when := func(back bool) string {
		if back {
			return "w0"
		}
		return "w1"
	}
	turns := []judge.Turns{{Before: "first a", After: "second a"}, {Before: "first b", After: "second b"}}
	try(t, judge.ReplacedInHalves(16, 0.001, "free", "to be placed anew", turns...),
		trial{"all went elsewhere", tell(func(bool, bool) string { return "w1" }), ""},
		trial{"all went back", tell(func(bool, bool) string { return "w0" }), violated + "16 of 16 sessions"},
		trial{"streams went back", tell(func(_, stream bool) string { return when(stream) }), violated + "to be placed anew (streamed"},
		trial{"what was whole went back", tell(func(_, stream bool) string { return when(!stream) }), violated + "to be placed anew (not streamed"},
		trial{"one endpoint's went back", tell(func(older, _ bool) string { return when(older) }), violated + "to be placed anew (completions"},
		trial{"the other's went back", tell(func(older, _ bool) string { return when(!older) }), violated + "to be placed anew (chat"},
		trial{"one in four went back", tell(func(older, stream bool) string { return when(older && stream) }), ""},
		trial{"one pair is missing", func(h *story) { ways(h, " a", func(bool, bool) string { return "w1" }) }, doubt + "8 of 16"},
		trial{"nothing was sent", nil, doubt + "no session"},
	)
	try(t, judge.ReplacedInHalves(4, 0.25, "free", "to be placed anew", judge.Turns{Before: "first", After: "second"}),
		trial{"one way to ask only", func(h *story) { again(h, 0, []string{"w0>w1", "w1>w2", "w0>w3", "w2>w3"}) }, doubt + "of two ways to ask only 1"},
	)
}
