package sessionindex

import (
	"iter"
	"math/bits"
	"time"
)

// set is a set of blocks below 64: bit n is Hash(n).
type set uint64

func one(h Hash) set            { return 1 << h }
func (s set) holds(h Hash) bool { return h < 64 && s&one(h) != 0 }
func (s set) size() int         { return bits.OnesCount64(uint64(s)) }
func (s set) all() iter.Seq[Hash] {
	return func(yield func(Hash) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Hash(bits.TrailingZeros64(uint64(s)))) {
				return
			}
		}
	}
}

// The sessions and ranks of a bitModel. The last id is too long.
const (
	bitSessions = 5
	bitRanks    = 3
)

// bitModel is the model (decision 25 taken by its word) over at most 64 blocks, four
// sessions and three ranks, with sets as bits, so that a hundred million operations take
// minutes. TestTheModelsAgree compares it with the one that is written in maps.
type bitModel struct {
	limit                int
	retention, now       time.Duration
	known, phantom, idle set
	parent               [64]Parent
	idleSince            [64]time.Duration
	has                  [bitSessions][bitRanks]set
	used                 []int // sessions, the least recently used first
}

// path is the block and what is above it.
func (m *bitModel) path(h Hash) (path set) {
	for at := Under(h); at.given; at = m.parent[at.hash] {
		path |= one(at.hash)
	}
	return path
}

// deepest are the blocks of the set without a child in it.
func (m *bitModel) deepest(s set) set { return s &^ m.parents(s) }

func (m *bitModel) parents(s set) (parents set) {
	for h := range s.all() {
		if p := m.parent[h]; p.given {
			parents |= one(p.hash)
		}
	}
	return parents
}

// judge says why a store must be refused, or nil.
func (m *bitModel) judge(parent Parent, blocks []Hash) *BlockError {
	var event set
	for _, b := range blocks {
		if event.holds(b) || parent == Under(b) {
			return &BlockError{ErrCyclicParent, b}
		}
		event |= one(b)
	}
	var conflict *BlockError
	roots, inner := false, m.parents(m.known)
	walk := false
	before := parent
	for _, b := range blocks {
		switch {
		case !m.known.holds(b):
		case !m.parent[b].given:
			roots = true
			walk = walk || before.given && inner.holds(b)
		case m.parent[b] != before && conflict == nil:
			conflict = &BlockError{ErrConflictingParent, b}
		}
		before = Under(b)
	}
	isKnown := parent.given && m.known.holds(parent.hash)
	if walk && isKnown {
		for at := parent; at.given; at = m.parent[at.hash] {
			if event.holds(at.hash) {
				return &BlockError{ErrCyclicParent, at.hash}
			}
		}
	}
	if conflict == nil && parent.given && !isKnown && !roots {
		return &BlockError{ErrUnknownParent, parent.hash}
	}
	return conflict
}

func (m *bitModel) store(now time.Duration, session, rank int, parent Parent, blocks []Hash) (changed bool, err *BlockError) {
	if len(blocks) == 0 || session == bitSessions-1 {
		return false, nil
	}
	if err := m.judge(parent, blocks); err != nil {
		return false, err
	}
	before := m.deepest(m.has[session][rank])
	if parent.given && !m.known.holds(parent.hash) {
		m.known |= one(parent.hash)
		m.phantom |= one(parent.hash)
		m.parent[parent.hash] = Parent{}
	}
	above := parent
	for _, b := range blocks {
		if above.given || !m.known.holds(b) {
			m.parent[b] = above
		}
		m.known |= one(b)
		m.phantom &^= one(b)
		above = Under(b)
	}
	m.gain(session, rank, above.hash)
	changed = before != m.deepest(m.has[session][rank])
	m.end(now)
	return changed, nil
}

func (m *bitModel) match(now time.Duration, session, rank int, b Hash) bool {
	if session == bitSessions-1 {
		return false
	}
	before := m.deepest(m.has[session][rank])
	if !m.known.holds(b) {
		m.known |= one(b)
		m.parent[b] = Parent{}
	}
	m.phantom &^= one(b)
	m.gain(session, rank, b)
	changed := before != m.deepest(m.has[session][rank])
	m.end(now)
	return changed
}

// gain adds the block to what the session has, and closes every set again.
func (m *bitModel) gain(session, rank int, b Hash) {
	m.has[session][rank] |= one(b)
	for s := range m.has {
		for r, have := range m.has[s] {
			for h := range have.all() {
				m.has[s][r] |= m.path(h) &^ m.phantom
			}
		}
	}
	m.forget(session)
	m.used = append(m.used, session)
	for len(m.used) > m.limit {
		m.has[m.used[0]] = [bitRanks]set{}
		m.used = m.used[1:]
	}
}

// forget takes a session out of the order of use.
func (m *bitModel) forget(session int) {
	for i, s := range m.used {
		if s == session {
			m.used = append(m.used[:i:i], m.used[i+1:]...)
			return
		}
	}
}

func (m *bitModel) remove(now time.Duration, rank int, blocks []Hash) (hit int) {
	if len(blocks) == 0 {
		return 0
	}
	var gone set
	for _, b := range blocks {
		gone |= one(b)
	}
	for s := range m.has {
		have := m.has[s][rank]
		for h := range have.all() {
			if m.path(h)&gone != 0 {
				m.has[s][rank] &^= one(h)
				if m.deepest(have).holds(h) {
					hit++
				}
			}
		}
	}
	m.end(now)
	return hit
}

func (m *bitModel) clear(now time.Duration, ranks ...int) (dropped int) {
	for s := range m.has {
		for _, r := range ranks {
			dropped += m.deepest(m.has[s][r]).size()
			m.has[s][r] = 0
		}
	}
	m.end(now)
	return dropped
}

// end forgets sessions that have nothing left, and blocks that have been without
// references for the retention time, with those above that nobody else needs.
func (m *bitModel) end(now time.Duration) {
	m.now = max(m.now, now)
	var frontiers set
	for s, ranks := range m.has {
		if ranks == [bitRanks]set{} {
			m.forget(s)
		}
		for _, have := range ranks {
			frontiers |= m.deepest(have)
		}
	}
	free := m.known &^ m.parents(m.known) &^ frontiers
	for h := range (free &^ m.idle).all() {
		m.idleSince[h] = m.now
	}
	m.idle = free
	var due set
	for h := range m.idle.all() {
		if m.now-m.idleSince[h] >= m.retention {
			due |= one(h)
		}
	}
	for due != 0 {
		m.known &^= due
		m.phantom &^= due
		m.idle &^= due
		due = m.known &^ m.parents(m.known) &^ frontiers &^ m.idle // freed in this pass
	}
}
