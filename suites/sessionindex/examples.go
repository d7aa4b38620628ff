package sessionindex

import (
	"encoding/json"
	"fmt"
	"strings"

	fixture "github.com/routeproof/routeproof/fixtures/sessionindex"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// examples are the file's; it says itself what they mean.
type examples struct {
	Hashes   map[string]string `json:"hashes"`
	Forest   []event           `json:"forest"`
	Examples []struct {
		ID     string  `json:"id"`
		Name   string  `json:"name"`
		Events []event `json:"events"`
		Expect struct {
			Accepted  bool       `json:"accepted"`
			Changed   bool       `json:"changed"`
			Kind      string     `json:"kind"`
			KindLevel string     `json:"kind_level"`
			Block     string     `json:"block"`
			Known     int        `json:"known"`
			Frontiers []frontier `json:"frontiers"`
		} `json:"expect"`
	} `json:"examples"`
}

type event struct {
	Op      string   `json:"op"`
	Session string   `json:"session"`
	Worker  string   `json:"worker"`
	Rank    int      `json:"rank"`
	Parent  string   `json:"parent"`
	Blocks  []string `json:"blocks"`
}

type frontier struct {
	Session string `json:"session"`
	Worker  string `json:"worker"`
	Rank    int    `json:"rank"`
	Block   string `json:"block"`
}

// ask adds an event to a script.
func (f examples) ask(sc *lineage.Script, e event) *lineage.Step {
	blocks := make([]string, len(e.Blocks))
	for i, name := range e.Blocks {
		blocks[i] = f.Hashes[name]
	}
	if e.Op == lineage.Match {
		return sc.Match(e.Session, script.On(e.Worker, e.Rank), blocks[0])
	}
	return sc.Under(e.Session, script.On(e.Worker, e.Rank), f.Hashes[e.Parent], blocks...)
}

// SPX002Examples are the file's twenty-eight, and once more those that are refused for one
// of several reasons, with the one that is to be named.
func (Cases) SPX002Examples() (all []bench.Case) {
	var f examples
	if err := json.Unmarshal(fixture.Examples, &f); err != nil {
		panic(fmt.Sprintf("fixtures/sessionindex/examples.json: %v", err)) // a test reads it, too
	}
	for i := range f.Examples {
		all = append(all, f.example(i, false))
		if f.Examples[i].Expect.KindLevel == "SHOULD" {
			all = append(all, f.example(i, true))
		}
	}
	return all
}

// example makes a case of one; exact says that a refusal must be put into the file's words
// where others would do as well.
func (f examples) example(i int, exact bool) bench.Case {
	e := f.Examples[i]
	sc := talk()
	for _, before := range f.Forest {
		f.ask(sc, before).Is(changed)
	}
	sc.Dump("before")
	for _, before := range e.Events[:len(e.Events)-1] {
		f.ask(sc, before)
	}
	want := unchanged
	switch {
	case e.Expect.Changed:
		want = changed
	case e.Expect.Accepted:
	case exact || e.Expect.KindLevel == "MUST":
		want = lineage.FailsAt(e.Expect.Kind, f.Hashes[e.Expect.Block])
	default:
		want = refused
	}
	f.ask(sc, e.Events[len(e.Events)-1]).Is(want)
	after := sc.Dump("")
	if !e.Expect.Accepted {
		after.SameAs("before")
	}
	reached := map[string][]lineage.Frontier{"author": {}, "visitor": {}}
	for _, x := range e.Expect.Frontiers {
		reached[x.Session] = append(reached[x.Session], at(script.On(x.Worker, x.Rank), f.Hashes[x.Block]))
	}
	sessions := 2
	if len(reached["visitor"]) == 0 {
		sessions = 1
	}
	for _, id := range []string{"author", "visitor"} {
		sc.Frontiers(id).Is(reaches(reached[id]...))
	}
	sc.Size().Is(sized(e.Expect.Known, sessions))
	parent := "no parent"
	if p := e.Events[len(e.Events)-1].Parent; p != "" {
		parent = "parent " + p
	}
	stimulus := fmt.Sprintf("a above b above c, s above t, and r alone; then another session stores [%s] with %s", strings.Join(e.Events[len(e.Events)-1].Blocks, " "), parent)
	id := strings.ToLower(e.ID)
	if exact {
		return bench.Indexed("SPX-003/"+id, stimulus, fmt.Sprintf("%s: %s at %s", e.Name, e.Expect.Kind, e.Expect.Block), sc)
	}
	return bench.Indexed("SPX-002/"+id, stimulus, e.Name, sc)
}
