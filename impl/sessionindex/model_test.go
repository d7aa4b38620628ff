package sessionindex

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// model is the index as decision 25 puts it: for each session and rank the whole set of
// blocks, worked out again after everything that happens. It shares nothing with the
// core but the types of its calls.
type model struct {
	limit     int
	retention time.Duration
	now       time.Duration
	known     map[Hash]Parent
	phantoms  map[Hash]bool
	has       map[string]map[WorkerRank]map[Hash]bool
	used      []string // sessions, the least recently used first
	idle      map[Hash]time.Duration
}

func newModel(c Config) *model {
	return &model{
		limit: c.Sessions, retention: c.Retention, known: map[Hash]Parent{}, phantoms: map[Hash]bool{},
		has: map[string]map[WorkerRank]map[Hash]bool{}, idle: map[Hash]time.Duration{},
	}
}

// path is the block and what is above it, root last.
func (m *model) path(h Hash) (path []Hash) {
	for at := Under(h); at.given; at = m.known[at.hash] {
		path = append(path, at.hash)
	}
	return path
}

// deepest are the blocks of the set without a child in it, by hash.
func (m *model) deepest(set map[Hash]bool) []Hash {
	inner := map[Hash]bool{}
	for h := range set {
		if p := m.known[h]; p.given {
			inner[p.hash] = true
		}
	}
	var found []Hash
	for h := range set {
		if !inner[h] {
			found = append(found, h)
		}
	}
	slices.Sort(found)
	return found
}

// judge says why the store must be refused, or nil.
func (m *model) judge(s Store) *BlockError {
	seen := map[Hash]bool{}
	for _, b := range s.Blocks {
		if seen[b] || s.Parent == Under(b) {
			return &BlockError{ErrCyclicParent, b}
		}
		seen[b] = true
	}
	var conflict *BlockError
	rooted, inner := false, false
	before := s.Parent
	for _, b := range s.Blocks {
		if parent, ok := m.known[b]; ok && parent.given && parent != before && conflict == nil {
			conflict = &BlockError{ErrConflictingParent, b}
		} else if ok && !parent.given {
			rooted = true
			inner = inner || before.given && slices.Contains(slices.Collect(maps.Values(m.known)), Under(b))
		}
		before = Under(b)
	}
	_, parentKnown := m.known[s.Parent.hash]
	parentKnown = parentKnown && s.Parent.given
	if inner && parentKnown {
		for _, above := range m.path(s.Parent.hash) {
			if seen[above] {
				return &BlockError{ErrCyclicParent, above}
			}
		}
	}
	if conflict == nil && s.Parent.given && !parentKnown && !rooted {
		return &BlockError{ErrUnknownParent, s.Parent.hash}
	}
	return conflict
}

func (m *model) store(now time.Duration, s Store) (changed bool, err *BlockError) {
	if len(s.Blocks) == 0 || len(s.Session) > 256 {
		return false, nil
	}
	if err := m.judge(s); err != nil {
		return false, err
	}
	before := m.deepest(m.has[s.Session][s.At])
	if _, ok := m.known[s.Parent.hash]; s.Parent.given && !ok {
		m.known[s.Parent.hash], m.phantoms[s.Parent.hash] = Parent{}, true
	}
	above := s.Parent
	for _, b := range s.Blocks {
		if above.given {
			m.known[b] = above
		} else if _, ok := m.known[b]; !ok {
			m.known[b] = Parent{}
		}
		delete(m.phantoms, b)
		above = Under(b)
	}
	m.gain(s.Session, s.At, s.Blocks[len(s.Blocks)-1])
	changed = !slices.Equal(before, m.deepest(m.has[s.Session][s.At]))
	m.end(now)
	return changed, nil
}

func (m *model) match(now time.Duration, a Match) bool {
	if len(a.Session) > 256 {
		return false
	}
	before := m.deepest(m.has[a.Session][a.At])
	if _, ok := m.known[a.Block]; !ok {
		m.known[a.Block] = Parent{}
	}
	delete(m.phantoms, a.Block)
	m.gain(a.Session, a.At, a.Block)
	changed := !slices.Equal(before, m.deepest(m.has[a.Session][a.At]))
	m.end(now)
	return changed
}

// gain adds the block to what the session has, and closes every set again.
func (m *model) gain(session string, at WorkerRank, b Hash) {
	if m.has[session] == nil {
		m.has[session] = map[WorkerRank]map[Hash]bool{}
	}
	if m.has[session][at] == nil {
		m.has[session][at] = map[Hash]bool{}
	}
	m.has[session][at][b] = true
	for _, ranks := range m.has {
		for _, set := range ranks {
			for _, h := range slices.Collect(maps.Keys(set)) {
				for _, above := range m.path(h) {
					if !m.phantoms[above] {
						set[above] = true
					}
				}
			}
		}
	}
	m.used = append(slices.DeleteFunc(m.used, func(s string) bool { return s == session }), session)
	for len(m.used) > m.limit {
		delete(m.has, m.used[0])
		m.used = m.used[1:]
	}
}

func (m *model) remove(now time.Duration, at WorkerRank, blocks []Hash) (hit int) {
	if len(blocks) == 0 {
		return 0
	}
	lost := func(h Hash) bool {
		return slices.ContainsFunc(m.path(h), func(above Hash) bool { return slices.Contains(blocks, above) })
	}
	for _, ranks := range m.has {
		for _, h := range m.deepest(ranks[at]) {
			if lost(h) {
				hit++
			}
		}
		maps.DeleteFunc(ranks[at], func(h Hash, _ bool) bool { return lost(h) })
	}
	m.end(now)
	return hit
}

func (m *model) clear(now time.Duration, which func(WorkerRank) bool) (dropped int) {
	for _, ranks := range m.has {
		for at, set := range ranks {
			if which(at) {
				dropped += len(m.deepest(set))
				clear(set)
			}
		}
	}
	m.end(now)
	return dropped
}

// end forgets sessions that have nothing left, and blocks that have been without
// references for the retention time, with those above that nobody else needs.
func (m *model) end(now time.Duration) {
	m.now = max(m.now, now)
	for id, ranks := range m.has {
		maps.DeleteFunc(ranks, func(_ WorkerRank, set map[Hash]bool) bool { return len(set) == 0 })
		if len(ranks) == 0 {
			delete(m.has, id)
			m.used = slices.DeleteFunc(m.used, func(s string) bool { return s == id })
		}
	}
	needed := func() map[Hash]bool {
		n := map[Hash]bool{}
		for _, parent := range m.known {
			if parent.given {
				n[parent.hash] = true
			}
		}
		for _, ranks := range m.has {
			for _, set := range ranks {
				for _, h := range m.deepest(set) {
					n[h] = true
				}
			}
		}
		return n
	}
	n := needed()
	for h := range m.known {
		if _, idle := m.idle[h]; n[h] {
			delete(m.idle, h)
		} else if !idle {
			m.idle[h] = m.now
		}
	}
	for {
		var gone []Hash
		n := needed()
		for h := range m.known {
			since, idle := m.idle[h]
			if !n[h] && (!idle || m.now-since >= m.retention) { // not idle at the beginning: freed in this pass
				gone = append(gone, h)
			}
		}
		if gone == nil {
			return
		}
		for _, h := range gone {
			delete(m.known, h)
			delete(m.phantoms, h)
			delete(m.idle, h)
		}
	}
}

// dump is the model's state in the form of the core's.
func (m *model) dump() State {
	s := State{Blocks: []BlockState{}, Sessions: []SessionState{}}
	for _, h := range slices.Sorted(maps.Keys(m.known)) {
		b := BlockState{Hash: h, Phantom: m.phantoms[h]}
		if p := m.known[h]; p.given {
			b.Parent = &p.hash
		}
		if since, ok := m.idle[h]; ok {
			b.IdleSince = &since
		}
		s.Blocks = append(s.Blocks, b)
	}
	for _, id := range m.used {
		s.Sessions = append(s.Sessions, SessionState{id, m.frontiers(id)})
	}
	return s
}

func (m *model) frontiers(id string) (found []Frontier) {
	for at, set := range m.has[id] {
		for _, h := range m.deepest(set) {
			found = append(found, Frontier{at, h})
		}
	}
	slices.SortFunc(found, func(a, b Frontier) int {
		return cmp.Or(cmp.Compare(a.At.Worker, b.At.Worker), cmp.Compare(a.At.Rank, b.At.Rank), cmp.Compare(a.Block, b.Block))
	})
	return found
}

func (m *model) lineages(id string, at WorkerRank) (chains [][]Hash) {
	for _, h := range m.deepest(m.has[id][at]) {
		chain := m.path(h)
		slices.Reverse(chain)
		chains = append(chains, chain)
	}
	return chains
}
