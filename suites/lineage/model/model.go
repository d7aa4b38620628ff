// Package model is the session index as its rules say it, one operation after another:
// for each session and rank it keeps the whole set of blocks, and works everything else
// out anew after whatever happens. It was written from decision 25 and from
// suites/target/sessionindex.md, and knows nothing of any library. It says what may be
// answered, makes conversations at random, and shrinks those that went otherwise.
package model

import (
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// Model follows one conversation. What can be asked has exactly one effect; only how it
// is put into words is now and then free.
type Model struct {
	claims    []string
	sessions  int
	retention time.Duration
	now       time.Duration

	parent   map[string]string // of known blocks; "" of a root
	phantoms set
	has      map[string]map[place]set // by session
	used     []string                 // sessions that have something, the least recently used first
	idle     map[string]time.Duration // blocks without frontier and child, and since when
	fills    int                      // how often sessions were filled in
	filled   int                      // how many

	life
}

type set map[string]bool

// place is a worker's rank.
type place struct {
	worker string
	rank   int
}

// at is the place of a step; of a step about a whole worker, rank -1.
func at(w *script.Where) place {
	if w.Rank == nil {
		return place{w.Worker, -1}
	}
	return place{w.Worker, *w.Rank}
}

// where is the place as answers have it.
func (p place) where() script.Where { return script.On(p.worker, p.rank) }

// New begins with an empty instance of an adapter that makes these claims.
func New(c lineage.Config, claims []string) *Model {
	m := &Model{
		claims: claims, sessions: lineage.DefaultSessions, retention: lineage.DefaultRetention,
		parent: map[string]string{}, phantoms: set{}, has: map[string]map[place]set{}, idle: map[string]time.Duration{},
		life: newLife(),
	}
	if c.Sessions != nil {
		m.sessions = *c.Sessions
	}
	if c.Retention != nil {
		m.retention = *c.Retention
	}
	return m
}

func (m *Model) claimed(claim string) bool { return slices.Contains(m.claims, claim) }

func (m *Model) known(b string) bool { _, ok := m.parent[b]; return ok }

// path is the block and what is above it, root last.
func (m *Model) path(b string) (path []string) {
	for ; b != ""; b = m.parent[b] {
		path = append(path, b)
	}
	return path
}

// frontiers are the blocks of a set without a child in it, in order.
func (m *Model) frontiers(d set) (all []string) {
	inner := set{}
	for b := range d {
		inner[m.parent[b]] = true
	}
	for b := range d {
		if !inner[b] {
			all = append(all, b)
		}
	}
	slices.Sort(all)
	return all
}

// close makes every set closed under parent again; a phantom belongs to none.
func (m *Model) close() {
	for _, ranks := range m.has {
		for _, d := range ranks {
			for b := range d { // what is added meanwhile has nothing above it that is not added too
				for _, above := range m.path(b) {
					if !m.phantoms[above] {
						d[above] = true
					}
				}
			}
		}
	}
}

// gain makes a block part of what the session has on a rank, and says whether its
// frontiers there are others than before. link changes the forest meanwhile.
func (m *Model) gain(session string, p place, block string, link func()) (changed bool) {
	before := m.frontiers(m.has[session][p])
	link()
	if m.has[session] == nil {
		m.has[session] = map[place]set{}
	}
	if m.has[session][p] == nil {
		m.has[session][p] = set{}
	}
	m.has[session][p][block] = true
	m.close()
	changed = !slices.Equal(before, m.frontiers(m.has[session][p]))
	m.used = append(slices.DeleteFunc(m.used, func(s string) bool { return s == session }), session)
	for len(m.used) > m.sessions {
		delete(m.has, m.used[0])
		m.used = m.used[1:]
	}
	return changed
}

func (m *Model) store(session string, p place, parent string, blocks []string) (changed bool) {
	return m.gain(session, p, blocks[len(blocks)-1], func() {
		if parent != "" && !m.known(parent) {
			m.parent[parent], m.phantoms[parent] = "", true
		}
		for above, rest := parent, blocks; len(rest) > 0; above, rest = rest[0], rest[1:] {
			if m.parent[rest[0]] == "" {
				m.parent[rest[0]] = above
			}
			delete(m.phantoms, rest[0])
		}
	})
}

func (m *Model) match(session string, p place, block string) (changed bool) {
	return m.gain(session, p, block, func() {
		if !m.known(block) {
			m.parent[block] = ""
		}
		delete(m.phantoms, block)
	})
}

// fill is a match by each of many sessions of an index that holds nothing else yet: so
// nobody but they can have the block, and there is nothing above it.
func (m *Model) fill(from, sessions int, p place, block string) {
	m.parent[block] = ""
	m.fills++
	m.filled += sessions
	for i := range sessions {
		session := lineage.Numbered(from + i)
		m.has[session] = map[place]set{p: {block: true}}
		m.used = append(m.used, session)
	}
	for len(m.used) > m.sessions {
		delete(m.has, m.used[0])
		m.used = m.used[1:]
	}
}

// lose takes from every session what it has on the places and says how many frontiers
// that hit. gone says which blocks are lost.
func (m *Model) lose(which func(place) bool, gone func(block string) bool) (hit int) {
	for session, ranks := range m.has {
		for p, d := range ranks {
			if !which(p) {
				continue
			}
			for _, b := range m.frontiers(d) {
				if gone(b) {
					hit++
				}
			}
			for b := range d {
				if gone(b) {
					delete(d, b)
				}
			}
			if len(d) == 0 {
				delete(ranks, p)
			}
		}
		if len(ranks) == 0 {
			delete(m.has, session)
			m.used = slices.DeleteFunc(m.used, func(s string) bool { return s == session })
		}
	}
	return hit
}

func (m *Model) remove(p place, blocks []string) (hit int) {
	return m.lose(func(x place) bool { return x == p }, func(b string) bool {
		return slices.ContainsFunc(m.path(b), func(above string) bool { return slices.Contains(blocks, above) })
	})
}

// clear ends all claims on a rank, or on all ranks of a worker.
func (m *Model) clear(p place) (dropped int) {
	return m.lose(p.covers, func(string) bool { return true })
}

// covers says whether a place is this one, or one of this worker's.
func (p place) covers(x place) bool {
	return p.worker == x.worker && (p.rank == -1 || p.rank == x.rank)
}

// reclaim forgets the blocks that have been without frontier and child for the retention
// time, and with them those above that nobody else needs.
func (m *Model) reclaim() {
	held := set{}
	for _, ranks := range m.has {
		for _, d := range ranks {
			for _, b := range m.frontiers(d) {
				held[b] = true
			}
		}
	}
	parents := set{}
	for _, p := range m.parent {
		parents[p] = true
	}
	var due []string
	for b := range m.parent {
		if held[b] || parents[b] {
			delete(m.idle, b)
			continue
		}
		if _, ok := m.idle[b]; !ok {
			m.idle[b] = m.now
		}
		if m.now-m.idle[b] >= m.retention {
			due = append(due, b)
		}
	}
	for _, b := range due {
		m.forget(b, held)
	}
}

// forget takes a block out, and what is above it as far as nothing else is below.
func (m *Model) forget(b string, held set) {
	for b != "" && !held[b] && !m.isParent(b) {
		above := m.parent[b]
		delete(m.parent, b)
		delete(m.phantoms, b)
		delete(m.idle, b)
		b = above
	}
}

func (m *Model) isParent(b string) bool {
	for _, p := range m.parent {
		if p == b {
			return true
		}
	}
	return false
}
