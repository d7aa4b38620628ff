package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/script"
)

// Shrink looks for a smaller conversation that still goes wrong: with fewer steps, then
// with simpler ones. try has a conversation held and returns the part of it up to the
// step that went wrong, nil if none did; steps that cannot be asked are left out of it. It
// says false when it will not hold another. The result is what try returned last.
func Shrink(s *script.Script, try func(*script.Script) (wrong *script.Script, goOn bool)) {
	more := true
	attempt := func(c script.Config, steps []*script.Step) bool {
		if !more {
			return false
		}
		var wrong *script.Script
		wrong, more = try(&script.Script{Config: c, Steps: steps})
		if wrong == nil {
			return false
		}
		s = wrong
		return true
	}
	for size := max(1, len(s.Steps)/2); size >= 1 && more; {
		shrunk := false
		// The first step says who lives, and the last is the one that goes wrong.
		for at := max(1, len(s.Steps)-1-size); more; at -= size {
			at = max(1, at)
			if to := min(at+size, len(s.Steps)-1); at < to {
				shrunk = attempt(s.Config, slices.Delete(slices.Clone(s.Steps), at, to)) || shrunk
			}
			if at == 1 {
				break
			}
		}
		if size == 1 && !shrunk {
			break
		}
		size = max(1, size/2)
	}
	for _, simpler := range []func(*script.Config){
		func(c *script.Config) { c.Capacity, c.AtCapacity = 0, "" },
		func(c *script.Config) { c.InitWait = 0 },
	} {
		if c := s.Config; true {
			simpler(&c)
			if c != s.Config {
				attempt(c, s.Steps)
			}
		}
	}
	for i := 0; i < len(s.Steps); i++ {
		for _, simpler := range []func(*script.Step){unpinned, plain, rankless, alone} {
			st := *s.Steps[i]
			simpler(&st)
			if st.String() != s.Steps[i].String() {
				steps := slices.Clone(s.Steps)
				steps[i] = &st
				attempt(s.Config, steps)
			}
			if i >= len(s.Steps) {
				return
			}
		}
	}
}

func alone(st *script.Step) {
	if len(st.Workers) > 0 {
		st.Workers = slices.Clone(st.Workers)
		for i := range st.Workers {
			st.Workers[i].Ranks = 1
		}
	}
}

func unpinned(st *script.Step) {
	if st.Ask != nil {
		a := *st.Ask
		a.Pin, st.Ask = nil, &a
	}
}

func plain(st *script.Step) {
	if st.Ask != nil {
		a := *st.Ask
		a.Model, a.Tenant, a.Phase, st.Ask = "", "", "", &a
	}
}

func rankless(st *script.Step) {
	if st.At != nil {
		at := script.At(st.At.Worker)
		st.At = &at
	}
}
