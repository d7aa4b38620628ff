package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
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

func TestUsedSinceLooksAtAWindowAfterTheMark(t *testing.T) {
	since := func(*history.History) time.Duration { return time.Second }
	until := func(*history.History) time.Duration { return 2 * time.Second }
	at := func(worker string) func(*story) {
		return func(h *story) {
			h.mark("freeze", "w3", "")
			h.ask("w3") // too early to count
			h.pause(time.Second)
			if worker != "" {
				h.ask(worker)
			}
			h.ask("w1")
			h.pause(time.Second)
			h.ask("w3") // too late
		}
	}
	try(t, judge.UsedSince("freeze", since, until, 2),
		trial{"in it", at("w3"), ""},
		trial{"before and after alone", at("w0"), violated + "none of 2"},
		trial{"hardly anything was sent in it", at(""), doubt + "1 got none"},
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
