package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/judge"
)

func TestUsedWantsARequestWithinTheBound(t *testing.T) {
	try(t, judge.Used("register", judge.Converged, 2),
		trial{"at once", func(h *story) { h.Convergence = time.Second; h.mark("register", "w3", ""); h.ask("w3") }, ""},
		trial{"after some others", func(h *story) {
			h.Convergence = time.Second
			h.mark("register", "w3", "")
			h.ask("w0")
			h.ask("w1")
			h.ask("w3")
		}, ""},
		trial{"too late", func(h *story) {
			h.Convergence = time.Second
			h.mark("register", "w3", "")
			h.ask("w0")
			h.ask("w1")
			h.pause(time.Second)
			h.ask("w3")
		}, violated + "none of 2"},
		trial{"before, and not since", func(h *story) {
			h.Convergence = time.Second
			h.ask("w3")
			h.mark("register", "w3", "")
			h.ask("w0")
			h.ask("w1")
		}, violated + "none of 2"},
		trial{"one of two", func(h *story) {
			h.Convergence = time.Second
			h.mark("register", "w3", "")
			h.mark("register", "w4", "")
			h.ask("w3")
			h.ask("w1")
		}, violated + "none of 2"},
		trial{"hardly anything was sent", func(h *story) { h.Convergence = time.Second; h.mark("register", "w3", ""); h.ask("w0") }, doubt + "1 got none"},
		trial{"nobody registered", func(h *story) { h.ask("w0") }, doubt + "of 0 workers"},
	)
}

func TestUnnamedFindsSessionsInTheStore(t *testing.T) {
	left := func(all ...string) func(*story) {
		return func(h *story) {
			h.turn("s-1", "w0")
			h.turn("s-2", "w1")
			h.ask("w0")
			h.Store.Left = all
		}
	}
	try(t, judge.Unnamed(2),
		trial{"workers alone", left(`/workers/w0 {"id":"w0"}`), ""},
		trial{"a key", left(`/workers/w0 {}`, `/claims/s-2 w1`), violated + "one named"},
		trial{"a value", left(`/workers/w0 {"bound":["s-1"]}`), violated + "one named"},
		trial{"nothing at all", left(), doubt + "0 entries"},
		trial{"too few sessions", func(h *story) { h.turn("s-1", "w0"); h.Store.Left = []string{"x"} }, doubt + "1 sessions"},
	)
}
