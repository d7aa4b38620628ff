package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/internal/shrink"
	"github.com/routeproof/routeproof/suites/script"
)

// Shrink looks for a smaller conversation that still goes wrong: with fewer steps, then
// with simpler ones. try has a conversation held and returns the part of it up to the
// step that went wrong, nil if none did; steps that cannot be asked are left out of it. It
// says false when it will not hold another. The result is the last that try returned, s if
// it returned none.
func Shrink(s *script.Script, try func(*script.Script) (wrong *script.Script, goOn bool)) *script.Script {
	x := &shrinker{now: s, try: try, more: true}
	x.fewer()
	for _, simpler := range []func(*script.Config){
		func(c *script.Config) { c.Capacity, c.AtCapacity = 0, "" },
		func(c *script.Config) { c.InitWait = 0 },
	} {
		c := x.now.Config
		if simpler(&c); c != x.now.Config {
			x.attempt(c, x.now.Steps)
		}
	}
	for _, simpler := range []func(*script.Step){unpinned, plain, rankless, alone} {
		for i := 0; i < len(x.now.Steps); i++ {
			st := *x.now.Steps[i]
			if simpler(&st); st.String() != x.now.Steps[i].String() {
				steps := slices.Clone(x.now.Steps)
				steps[i] = &st
				x.attempt(x.now.Config, steps)
			}
		}
	}
	x.fewer() // what is simpler may need less
	return x.now
}

type shrinker struct {
	now  *script.Script // the smallest so far
	try  func(*script.Script) (*script.Script, bool)
	more bool
}

func (x *shrinker) attempt(c script.Config, steps []*script.Step) (wrong bool) {
	if !x.more {
		return false
	}
	var smaller *script.Script
	smaller, x.more = x.try(&script.Script{Config: c, Steps: steps})
	if smaller != nil {
		x.now = smaller
	}
	return smaller != nil
}

// fewer leaves steps out until none can be. The first stays, which says who lives.
func (x *shrinker) fewer() {
	shrink.Fewer(1, func() []*script.Step { return x.now.Steps },
		func(steps []*script.Step) bool { return x.attempt(x.now.Config, steps) }, func() bool { return x.more })
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

func alone(st *script.Step) {
	st.Workers = slices.Clone(st.Workers)
	for i := range st.Workers {
		st.Workers[i].Ranks = 1
	}
}
