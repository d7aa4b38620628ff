package shrink

import (
	"slices"
	"testing"
)

// goesWrong is a conversation that goes wrong at its last step if the needed ones came.
func goesWrong(steps, needed []int) bool {
	for _, n := range needed {
		if !slices.Contains(steps, n) {
			return false
		}
	}
	return true
}

func TestFewerLeavesOutWhatIsNotNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		keep         int
		needed, want []int
	}{
		"nothing is needed":      {0, []int{99}, []int{99}},
		"the first stays":        {1, []int{99}, []int{0, 99}},
		"some are needed":        {0, []int{3, 40, 41, 99}, []int{3, 40, 41, 99}},
		"the first is one":       {0, []int{0, 98, 99}, []int{0, 98, 99}},
		"and all that is needed": {2, []int{1, 50, 99}, []int{0, 1, 50, 99}},
	} {
		t.Run(name, func(t *testing.T) {
			now := make([]int, 100)
			for i := range now {
				now[i] = i
			}
			tries := 0
			Fewer(c.keep, func() []int { return now }, func(s []int) bool {
				tries++
				if goesWrong(s, c.needed) {
					now = s
					return true
				}
				return false
			}, func() bool { return true })
			if !slices.Equal(now, c.want) || tries > 300 {
				t.Errorf("got %v after %d tries, want %v", now, tries, c.want)
			}
		})
	}
}

func TestFewerStopsWhenItIsTold(t *testing.T) {
	now, tries := []int{1, 2, 3, 4, 5, 6}, 0
	Fewer(0, func() []int { return now }, func([]int) bool { tries++; return false }, func() bool { return tries == 0 })
	if tries > 6 {
		t.Errorf("%d tries after it was told to stop", tries)
	}
}
