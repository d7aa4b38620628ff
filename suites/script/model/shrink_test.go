package model

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/routeproof/routeproof/suites/script"
)

var claims = []string{"clock", "ranks", "tenant", "phases", "count"}

// generated makes a conversation whose answers are the first that are allowed.
func generated(seed uint64, steps int, claims []string) *script.Script {
	g := NewGenerator(rand.New(rand.NewPCG(seed, 0)), claims)
	m := New(g.Config())
	made := &script.Script{Config: g.Config()}
	for range steps {
		next := g.Next(m)
		st := next[0]
		made.Steps = append(made.Steps, st)
		way := m.states[0].step(st)[0].named()
		turn := script.Turn{Step: st.Name, Waiting: way.Waiting}
		for _, w := range way.Wants {
			turn.Answers = append(turn.Answers, script.Answer{Name: w.Name, Outcome: w.AnyOf[0]})
		}
		if d := m.Follow(next, []script.Turn{turn}); d != nil {
			panic(d.Expected) // it was one of the ways
		}
	}
	return made
}

func TestAConversationFollowsFromItsSeed(t *testing.T) {
	one, err := json.Marshal(generated(3, 60, claims))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(generated(3, 60, claims)); string(one) != string(again) {
		t.Error("the same seed made another conversation")
	}
	if next, _ := json.Marshal(generated(4, 60, claims)); string(one) == string(next) {
		t.Error("another seed made the same conversation")
	}
}

func TestOnlyWhatIsClaimedIsAsked(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		if s := generated(seed, 60, nil); len(s.Needs()) > 0 {
			t.Fatalf("seed %d needs %v", seed, s.Needs())
		}
		full := generated(seed, 60, claims)
		for _, n := range full.Needs() {
			seen[n] = true
		}
		for _, st := range full.Steps {
			seen[st.Op] = true
		}
	}
	for _, want := range []string{"clock", "ranks", "tenant", "phases", script.Acquire, script.Commit, script.Release, script.Invalidate,
		script.Query, script.Cancel, script.Advance, script.SetWorkers, script.Count, script.Create} {
		if !seen[want] {
			t.Errorf("60 conversations show no %s", want)
		}
	}
}

func TestShrinkFindsWhatItTakes(t *testing.T) {
	whole := generated(1, 60, claims)
	tries := 0
	// A component that goes wrong at the first count after an invalidation.
	wrong := func(s *script.Script) (*script.Script, bool) {
		tries++
		ended := false
		for i, st := range s.Steps {
			ended = ended || st.Op == script.Invalidate
			if ended && st.Op == script.Count {
				return &script.Script{Config: s.Config, Steps: s.Steps[:i+1]}, true
			}
		}
		return nil, true
	}
	start, _ := wrong(whole)
	if start == nil {
		t.Fatal("the conversation holds no count after an invalidation; choose another seed")
	}
	small := Shrink(start, wrong)
	if len(small.Steps) != 3 || small.Steps[1].Op != script.Invalidate || small.Steps[2].Op != script.Count {
		t.Errorf("after %d tries: %v", tries, small.Steps)
	}
	if tries = 0; len(Shrink(start, func(*script.Script) (*script.Script, bool) { tries++; return nil, false }).Steps) != len(start.Steps) || tries != 1 {
		t.Errorf("it tried %d times after it was told to stop", tries)
	}
}
