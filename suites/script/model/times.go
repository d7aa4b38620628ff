package model

import (
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

// by is a stretch of time: some part of an idle time, or what ends shortly before, at, or
// after the moment in which something comes due.
func (g *Generator) by(s state) time.Duration {
	if g.rnd.IntN(5) < 2 {
		return g.part()
	}
	edge := pick(g.rnd, -time.Millisecond, 0, 0, time.Millisecond)
	if len(s.waiting) > 0 && g.rnd.IntN(2) == 0 {
		return max(0, pick(g.rnd, s.waiting...).due-s.now+edge)
	}
	idle := s.idling()
	if len(idle) == 0 {
		return g.config.IdleTTL + edge
	}
	p := pick(g.rnd, idle...)
	g.plan = []func(state, *script.Step){g.looks(p)}
	if !s.dead(p) && g.rnd.IntN(2) == 0 { // something in between must not count as a turn
		g.plan = []func(state, *script.Step){g.probes(p), g.lets(p), g.looks(p)}
		return ((p.idle + s.rules.ttl - s.now) * time.Duration(1+g.rnd.IntN(9)) / 10).Truncate(time.Millisecond)
	}
	return max(0, p.idle+s.rules.ttl-s.now+edge)
}

func (g *Generator) part() time.Duration {
	return time.Duration(1+g.rnd.IntN(9)) * g.config.IdleTTL / 10
}

// idling are the bindings that nobody holds.
func (s state) idling() []place {
	return slices.DeleteFunc(slices.Clone(s.places), func(p place) bool { return !p.bound || s.held(p) > 0 })
}

func askOf(k key) script.Ask {
	a := script.Ask{Session: k.session, Model: k.model, Tenant: k.tenant, Phase: k.phase}
	if a.Model == usualModel {
		a.Model = ""
	}
	if a.Phase == usualPhase {
		a.Phase = ""
	}
	return a
}

// looks asks where a session is bound, or acquires it.
func (g *Generator) looks(p place) func(state, *script.Step) {
	return func(_ state, st *script.Step) {
		a := askOf(p.key)
		st.Op, st.Ask = pick(g.rnd, script.Query, script.Acquire), &a
	}
}

// probes does something about a session that is none of its turns.
func (g *Generator) probes(p place) func(state, *script.Step) {
	return func(s state, st *script.Step) {
		others := slices.DeleteFunc(slices.Clone(g.ids), func(id string) bool { return id == p.at.Worker })
		a, other := askOf(p.key), script.At(pick(g.rnd, others...))
		st.Ask, st.Op = &a, script.Query
		switch g.rnd.IntN(6) {
		case 0:
		case 1:
			a.Pin = &other
		case 2, 3:
			a.Pin, st.Op = &other, script.Acquire
		default:
			old := slices.DeleteFunc(slices.Clone(s.leases), func(l lease) bool { return !l.over && s.of(l.life) >= 0 })
			if len(old) > 0 {
				st.Op, st.Ask, st.Ref = script.Release, nil, pick(g.rnd, old...).name
			}
		}
	}
}

// lets a binding's time pass.
func (g *Generator) lets(p place) func(state, *script.Step) {
	return func(s state, st *script.Step) {
		if left := p.idle + s.rules.ttl - s.now; left > 0 {
			st.Op, st.By = script.Advance, left
		}
	}
}

// settings are some that may be, and some that may not.
func (g *Generator) settings() *script.Config {
	c := script.Config{IdleTTL: pick(g.rnd, 0, minTTL-time.Millisecond, minTTL, maxTTL, maxTTL+time.Millisecond, -time.Second)}
	if g.rnd.IntN(4) == 0 {
		c = script.Config{IdleTTL: time.Minute, Capacity: -1}
	}
	return &c
}

// Idle times that may be (decision 4).
const (
	minTTL = time.Second
	maxTTL = 31_536_000 * time.Second
)
