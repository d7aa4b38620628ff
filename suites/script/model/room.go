package model

import (
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

// room finds a place for a new session: the states in which it has one, and how it may
// be refused otherwise (decision 12). What has lapsed holds no place.
func (s state) room(k key) (free []state, refused []script.Outcome) {
	table := s.table(s.rules.tables.table(k))
	if len(table) < s.rules.capacity {
		return []state{s}, nil
	}
	// Whether a binding to a worker that has left gives its place up, the rules do not say.
	for _, some := range subsets(slices.DeleteFunc(slices.Clone(table), func(p place) bool { return !s.dead(p) })) {
		free = append(free, s.without(some...))
	}
	switch s.rules.full {
	case "unpinned":
		return free, []script.Outcome{script.Unpinned}
	case "evict":
		for _, p := range s.longest(table) {
			free = append(free, s.without(p))
		}
		if len(s.longest(table)) > 0 {
			return free, nil
		}
		return free, []script.Outcome{script.Fails(script.ResourceExhausted), script.Unpinned}
	}
	return free, []script.Outcome{script.Fails(script.ResourceExhausted)}
}

// table are the places of one.
func (s state) table(t key) (all []place) {
	for _, p := range s.places {
		if s.rules.tables.table(p.key) == t {
			all = append(all, p)
		}
	}
	return all
}

// longest are the bindings of a table that have been idle for longest, equally.
func (s state) longest(table []place) (all []place) {
	var since time.Duration
	for _, p := range table {
		switch {
		case !p.bound || s.held(p) > 0:
		case len(all) == 0 || p.idle < since:
			all, since = []place{p}, p.idle
		case p.idle == since:
			all = append(all, p)
		}
	}
	return all
}

// subsets lists all that are not empty.
func subsets(of []place) (all [][]place) {
	for bits := 1; bits < 1<<len(of); bits++ {
		var some []place
		for i, p := range of {
			if bits>>i&1 == 1 {
				some = append(some, p)
			}
		}
		all = append(all, some)
	}
	return all
}

// sums are the counts that may be answered. The lapsed and the dead may count as sessions,
// leases of replaced bindings as leases.
func (s state) sums() (all []script.Outcome) {
	sessions, leases := 0, 0
	size := map[key]int{}
	for _, p := range s.places {
		if !s.dead(p) {
			sessions++
		}
		leases += s.held(p)
		size[s.rules.tables.table(p.key)]++
	}
	for _, g := range s.ghosts {
		size[s.rules.tables.table(g)]++
	}
	counted := 0
	for _, n := range size {
		counted += min(n, s.rules.capacity)
	}
	most := leases
	for _, l := range s.leases {
		if !l.over && s.of(l.life) < 0 {
			most++
		}
	}
	for n := sessions; n <= counted; n++ {
		for k := leases; k <= most; k++ {
			all = append(all, script.Holds(n, k))
		}
	}
	return all
}
