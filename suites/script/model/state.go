package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

// state is what a table of sessions may hold. It is a value: what changes it makes a
// new one.
type state struct {
	rules   rules
	now     time.Duration
	lives   int // how many lives places have had
	workers []script.Worker
	places  []place  // that neither lapsed nor were given up; those of dead workers are among them
	ghosts  []key    // of places that lapsed: they may still be counted, and are nothing else
	leases  []lease  // all there ever were
	waiting []waiter // in the order in which they came
}

// rules are an instance's settings.
type rules struct {
	ttl, wait time.Duration
	capacity  int
	full      string // refuse, unpinned or evict
	tables    tables
}

// tables says which sessions share one capacity: decision 1 has one coordinator for each
// model and phase, and an instance (suites/target/component.md) may be several of them.
type tables int

const (
	one tables = iota
	onePerPhase
	onePerModelAndPhase
)

// table is the part of a key that sessions in one table have in common.
func (t tables) table(k key) key {
	switch t {
	case onePerPhase:
		return key{phase: k.phase}
	case onePerModelAndPhase:
		return key{phase: k.phase, model: k.model}
	}
	return key{}
}

// The specification's own settings (suites/target/component.md, Affinity).
const (
	defaultCapacity = 65_536
	defaultWait     = 30 * time.Second
)

// place is a session that is bound or being initialized.
type place struct {
	key   key
	life  int // tells it from earlier and later ones of the same key
	bound bool
	at    script.Where  // while bound
	idle  time.Duration // when its last lease ended; counts while none is held
}

// lease is what an acquire got.
type lease struct {
	name string
	life int // of its place, which may be over
	pin  *script.Where
	over bool
	free bool // it was served at a rank that its binding lacks: where it is dispatched may be taken either way
}

// waiter is an acquire that is not answered.
type waiter struct {
	name string
	key  key
	pin  *script.Where
	due  time.Duration
}

func (s state) clone() state {
	s.places, s.ghosts, s.leases, s.waiting = slices.Clone(s.places), slices.Clone(s.ghosts), slices.Clone(s.leases), slices.Clone(s.waiting)
	return s
}

// key tells sessions apart (decision 1).
type key struct{ model, tenant, phase, session string }

func keyOf(a *script.Ask) key {
	return key{or(a.Model, usualModel), a.Tenant, or(a.Phase, usualPhase), a.Session}
}

// What an ask means that names no model or phase.
const (
	usualModel = "m"
	usualPhase = "decode"
)

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// place finds a key's; -1 if there is none.
func (s state) place(k key) int {
	return slices.IndexFunc(s.places, func(p place) bool { return p.key == k })
}

// of finds the place of a life; -1 if that is over.
func (s state) of(life int) int {
	return slices.IndexFunc(s.places, func(p place) bool { return p.life == life })
}

func (s state) lease(name string) int {
	return slices.IndexFunc(s.leases, func(l lease) bool { return l.name == name })
}

// held is how many leases a place has in flight.
func (s state) held(p place) (n int) {
	for _, l := range s.leases {
		if l.life == p.life && !l.over {
			n++
		}
	}
	return n
}

// there says whether a target, or what a pin names, is among the living.
func (s state) there(w script.Where) bool {
	i := slices.IndexFunc(s.workers, func(x script.Worker) bool { return x.ID == w.Worker })
	return i >= 0 && (w.Rank == nil || *w.Rank < max(1, s.workers[i].Ranks))
}

func (s state) dead(p place) bool { return p.bound && !s.there(p.at) }

// without gives places up.
func (s state) without(gone ...place) state {
	s = s.clone()
	s.places = slices.DeleteFunc(s.places, func(p place) bool {
		return slices.ContainsFunc(gone, func(g place) bool { return g.life == p.life })
	})
	return s
}

// with adds a place that is being initialized, and its initializer's lease.
func (s state) with(k key, name string, pin *script.Where) state {
	s = s.clone()
	s.lives++
	s.places = append(s.places, place{key: k, life: s.lives})
	s.leases = append(s.leases, lease{name: name, life: s.lives, pin: pin})
	s.ghosts = slices.DeleteFunc(s.ghosts, func(g key) bool { return g == k })
	return s
}

// joined adds a lease on a bound place.
func (s state) joined(p place, name string, pin *script.Where, free bool) state {
	s = s.clone()
	s.leases = append(s.leases, lease{name: name, life: p.life, pin: pin, free: free})
	return s
}

// ended ends a lease; its place's idle time begins if it was the last.
func (s state) ended(i int) state {
	s = s.clone()
	s.leases[i].over = true
	if p := s.of(s.leases[i].life); p >= 0 {
		s.places[p].idle = s.now
	}
	return s
}

// lapse makes ghosts of what has been idle for too long. A deadline that equals now has
// passed (decision 4).
func (s state) lapse() state {
	s = s.clone()
	s.places = slices.DeleteFunc(s.places, func(p place) bool {
		gone := p.bound && s.held(p) == 0 && p.idle+s.rules.ttl <= s.now
		if gone {
			s.ghosts = append(s.ghosts, p.key)
		}
		return gone
	})
	return s
}

// leaves takes waiters out.
func (s state) leaves(names ...string) state {
	s = s.clone()
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return slices.Contains(names, w.name) })
	return s
}

// digest is the same for states that cannot be told apart.
func (s state) digest() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v %v|", s.rules.tables, s.now, s.workers)
	places := slices.SortedFunc(slices.Values(s.places), func(a, b place) int { return strings.Compare(fmt.Sprint(a.key), fmt.Sprint(b.key)) })
	for _, p := range places {
		fmt.Fprintf(&b, "%q %v %s %v:", p.key, p.bound, p.at, p.idle)
		for _, l := range s.leases {
			if l.life == p.life && !l.over {
				fmt.Fprintf(&b, " %s %v", l.name, l.free)
			}
		}
		b.WriteByte(';')
	}
	for _, l := range s.leases {
		if !l.over && s.of(l.life) < 0 {
			fmt.Fprintf(&b, " %s", l.name)
		}
	}
	b.WriteByte('|')
	for _, k := range slices.SortedFunc(slices.Values(s.ghosts), func(a, b key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		fmt.Fprintf(&b, "%q", k)
	}
	b.WriteByte('|')
	for _, w := range s.waiting {
		fmt.Fprintf(&b, " %s", w.name)
	}
	return b.String()
}
