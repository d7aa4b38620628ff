package model

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/routeproof/routeproof/suites/lineage"
)

var claims = []string{"clock", "dump", "lifecycle", "admission", "physical", "barrier"}

// generated makes a conversation whose answers are the likeliest that are allowed.
func generated(t *testing.T, seed uint64, steps int, claims []string) (*lineage.Script, []lineage.Answer) {
	t.Helper()
	g := NewGenerator(rand.New(rand.NewPCG(seed, 0)), claims)
	m, follower := New(g.Config(), claims), New(g.Config(), claims)
	made := &lineage.Script{Config: g.Config()}
	var answers []lineage.Answer
	for range steps {
		st := g.Next(m)
		a := m.Step(st)[0]
		if d := follower.Follow(st, a); d != nil {
			t.Fatalf("seed %d: %s: %+v", seed, st, d)
		}
		made.Steps, answers = append(made.Steps, st), append(answers, a)
	}
	return made, answers
}

func TestAConversationFollowsFromItsSeed(t *testing.T) {
	one, _ := generated(t, 3, 60, claims)
	text, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := generated(t, 3, 60, claims)
	if same, _ := json.Marshal(again); string(text) != string(same) {
		t.Error("the same seed made another conversation")
	}
	next, _ := generated(t, 4, 60, claims)
	if other, _ := json.Marshal(next); string(text) == string(other) {
		t.Error("another seed made the same conversation")
	}
}

func TestConversationsComeByEverything(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(600) {
		if s, _ := generated(t, seed, 60, nil); len(s.Needs()) > 0 {
			t.Fatalf("seed %d needs %v", seed, s.Needs())
		}
		s, answers := generated(t, seed, 60, claims)
		for i, st := range s.Steps {
			seen[st.Op]++
			seen[st.Op+" "+answers[i].State+answers[i].Kind]++
			if d := answers[i].Dump; d != nil {
				if problem := lineage.Audit(d, 1<<20); problem != "" {
					t.Fatalf("seed %d: %s", seed, problem)
				}
			}
		}
	}
	for _, want := range []string{
		"store changed", "store unchanged", "store discarded", "store errorcyclic_parent", "store errorconflicting_parent", "store errorunknown_parent",
		"match changed", "match unchanged", "match discarded", "lineages errorunknown_anchor", "lineages chains", "remove counted", "clear counted", "clear errorunavailable",
		"store.apply changed", "store.apply discarded", "store.apply errorconflicting_parent", "match.apply changed", "match.apply discarded",
		"worker.remove counted", "worker.remove errorunavailable", "remove.await counted", "remove.await errorunavailable", "flush done", "flush errorunavailable",
		"dump dump", "size size", "frontiers frontiers", "clock.advance done", "register done",
	} {
		if seen[want] < 2 {
			t.Errorf("%d times %q in 600 conversations", seen[want], want)
		}
	}
}
