package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/internal/shrink"
	"github.com/routeproof/routeproof/suites/lineage"
)

// Shrink looks for a smaller conversation that still goes wrong: with fewer steps, then
// with simpler ones. try has a conversation held and returns the part of it up to the
// step that went wrong, nil if none did; steps that cannot be asked are left out of it. It
// says false when it will not hold another. The result is the last that try returned, s if
// it returned none.
func Shrink(s *lineage.Script, try func(*lineage.Script) (wrong *lineage.Script, goOn bool)) *lineage.Script {
	now, more := s, true
	attempt := func(c lineage.Config, steps []*lineage.Step) bool {
		if !more {
			return false
		}
		var smaller *lineage.Script
		if smaller, more = try(&lineage.Script{Config: c, Steps: steps}); smaller != nil {
			now = smaller
		}
		return smaller != nil
	}
	fewer := func() {
		shrink.Fewer(0, func() []*lineage.Step { return now.Steps },
			func(steps []*lineage.Step) bool { return attempt(now.Config, steps) }, func() bool { return more })
	}
	fewer()
	if c := now.Config; c.Sessions != nil {
		attempt(lineage.Config{Retention: c.Retention}, now.Steps)
	}
	if c := now.Config; c.Retention != nil {
		attempt(lineage.Config{Sessions: c.Sessions}, now.Steps)
	}
	for i := 0; i < len(now.Steps); i++ {
		for at := 0; at < len(now.Steps[i].Blocks) && len(now.Steps[i].Blocks) > 1; at++ {
			st := *now.Steps[i]
			st.Blocks = slices.Delete(slices.Clone(st.Blocks), at, at+1)
			steps := slices.Clone(now.Steps)
			steps[i] = &st
			if attempt(now.Config, steps) {
				at--
			}
			if i >= len(now.Steps) {
				break
			}
		}
	}
	fewer() // what is simpler may need less
	return now
}
