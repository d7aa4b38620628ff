package model

import (
	"slices"
	"testing"

	"github.com/routeproof/routeproof/suites/lineage"
)

// TestShrinkFindsWhatIsNeeded: an index is taken for wrong that has met block 1 and then
// evicts it.
func TestShrinkFindsWhatIsNeeded(t *testing.T) {
	found := 0
	for seed := range uint64(40) {
		made, _ := generated(t, seed, 60, []string{"clock", "dump"})
		wrong := func(s *lineage.Script) *lineage.Script {
			met := false
			for i, st := range s.Steps {
				switch {
				case st.Op == lineage.Store && slices.Contains(st.Blocks, lineage.B(1)):
					met = true
				case met && st.Op == lineage.Remove && slices.Contains(st.Blocks, lineage.B(1)):
					return &lineage.Script{Config: s.Config, Steps: s.Steps[:i+1]}
				}
			}
			return nil
		}
		first := wrong(made)
		if first == nil {
			continue
		}
		found++
		small := Shrink(first, func(s *lineage.Script) (*lineage.Script, bool) { return wrong(s), true })
		if len(small.Steps) != 2 || len(small.Steps[0].Blocks) != 1 || len(small.Steps[1].Blocks) != 1 || small.Config != (lineage.Config{}) {
			t.Errorf("seed %d: %s: %v", seed, small.Config, small.Steps)
		}
	}
	if found < 5 {
		t.Errorf("only %d of 40 conversations go wrong", found)
	}
}

func TestShrinkStopsWhenItIsTold(t *testing.T) {
	made, _ := generated(t, 1, 60, nil)
	tries := 0
	same := Shrink(made, func(*lineage.Script) (*lineage.Script, bool) { tries++; return nil, tries < 7 })
	if same != made || tries != 7 {
		t.Errorf("%d tries, another script: %t", tries, same != made)
	}
}
