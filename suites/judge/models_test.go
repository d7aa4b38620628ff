package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func model(name string) opt { return func(q *told) { q.Model = name } }

func TestOfModelWantsWorkersOfTheModel(t *testing.T) {
	tell := func(f func(h *story)) func(h *story) {
		return func(h *story) {
			h.Fleet = []history.Worker{{ID: "w0", Model: "mock"}, {ID: "w1", Model: "other"}}
			f(h)
		}
	}
	try(t, judge.OfModel(1, "served"),
		trial{"each at its own", tell(func(h *story) { h.ask("w0", in("served")); h.ask("w1", in("served"), model("other")) }), ""},
		trial{"one at the other's", tell(func(h *story) { h.ask("w0", in("served")); h.ask("w0", in("served"), model("other")) }), violated + "at one that serves another"},
		trial{"a try at the other's before", tell(func(h *story) { h.ask("w0", in("served")); h.ask("w0 w1", in("served"), model("other")) }), violated + "at one that serves another"},
		trial{"by another name", tell(func(h *story) {
			h.Aliases = map[string]string{"another": "other"}
			h.ask("w0", in("served"))
			h.ask("w1", in("served"), model("another"))
		}), ""},
		trial{"by another name at the other's", tell(func(h *story) {
			h.Aliases = map[string]string{"another": "other"}
			h.ask("w0", in("served"))
			h.ask("w0", in("served"), model("another"))
		}), violated + "at one that serves another"},
		trial{"in another phase", tell(func(h *story) {
			h.ask("w0", in("served"))
			h.ask("w1", in("served"), model("other"))
			h.ask("w0", in("else"), model("other"))
		}), ""},
		trial{"one model alone", tell(func(h *story) { h.ask("w0", in("served")) }), doubt + "of 1 models only 1"},
		trial{"one reached nobody", tell(func(h *story) { h.ask("w0", in("served")); h.ask("", in("served"), model("other")) }), doubt + "of 1 models"},
		trial{"nothing sent", tell(func(*story) {}), doubt + "of 0 models"},
	)
}
