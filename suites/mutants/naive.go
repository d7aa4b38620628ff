package mutants

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

type (
	hash   = sessionindex.Hash
	blocks = map[hash]bool
	rank   = sessionindex.WorkerRank
)

// naive is a session index in the simplest way: it keeps all that a session has on a rank,
// and works everything else out when it is asked. It is right as it stands, which a test
// holds it to; a mutant breaks one of its rules.
type naive struct {
	mu       sync.Mutex
	limit    int
	keeps    time.Duration
	clock    sessionindex.Clock
	physical sessionindex.Physical
	rules    rules

	parents  map[hash]sessionindex.Parent // of the known blocks
	phantoms blocks
	has      map[string]map[rank]blocks
	used     []string // the least recently used first
	idle     map[hash]time.Time
	grafted  map[hash]bool // blocks that were roots once; for rules that look at it
	registry
}

// rules are what a mutant may break.
type rules struct {
	// session is the name by which a session is known; false: what comes under it is ignored.
	session func(id string) (string, bool)
	// refuses says why a store cannot be, or nil.
	refuses func(n *naive, s sessionindex.Store) *sessionindex.BlockError
	// refused is done after that.
	refused func(n *naive, s sessionindex.Store)
	// plant records blocks and parents.
	plant func(n *naive, p sessionindex.Parent, chain []hash)
	// meet records a block that was matched.
	meet func(n *naive, b hash)
	// gains are the blocks that an event gives to whom it is about.
	gains func(n *naive, last hash) []hash
	// phantom says whether nobody has a block.
	phantom func(n *naive, b hash) bool
	// deepest are the frontiers of what a session has on a rank.
	deepest func(n *naive, d blocks) []hash
	// close brings all claims up to date with the forest.
	close func(n *naive, session string, at rank)
	// lost says whether an eviction takes a block, on a rank.
	lost func(n *naive, b hash, removed []hash) bool
	// evicts says whether an eviction on one rank concerns another.
	evicts func(on, at rank) bool
	// uses says whether what has happened to a session counts as use.
	uses func(event string) bool
	// room takes sessions out until there is room.
	room func(n *naive, at rank)
	// due says whether a block that was idle for so long is forgotten.
	due func(idle, keeps time.Duration) bool
	// wakes is told of blocks that are in use.
	wakes func(n *naive, b hash)
	// forget takes a block out, and what that frees.
	forget func(n *naive, b hash, held blocks)
	// shown is a path as lineages show it, from the block up.
	shown func(n *naive, path []hash) []hash
	// anchored cuts a path at an anchor; false: it does not go through it.
	anchored func(path []hash, anchor hash) ([]hash, bool)
	// anchor says whether an anchor is known.
	anchor func(n *naive, session string, b hash) bool
	// changed says what a store or a match answers.
	changed func(before, after effect) bool
	// hit is what an eviction answers for one session.
	hit func(lost int) int
	// counts is what the size tells.
	counts func(n *naive) sessionindex.Counts
}

// effect is what the answer of an event may look at.
type effect struct {
	frontiers []hash
	known     int
	parents   int
}

// right are the rules as they are.
var right = rules{
	session:  func(id string) (string, bool) { return id, len(id) <= sessionindex.MaxSessionBytes },
	refuses:  (*naive).judge,
	refused:  func(*naive, sessionindex.Store) {},
	plant:    (*naive).grow,
	meet:     (*naive).see,
	gains:    (*naive).path,
	phantom:  func(n *naive, b hash) bool { return n.phantoms[b] },
	deepest:  (*naive).bottom,
	close:    func(n *naive, _ string, _ rank) { n.closeAll() },
	lost:     func(n *naive, b hash, removed []hash) bool { return crosses(n.path(b), removed) },
	evicts:   func(on, at rank) bool { return on == at },
	uses:     func(event string) bool { return event == "accepted" || event == "unchanged" },
	room:     func(n *naive, _ rank) { delete(n.has, n.used[0]); n.used = n.used[1:] },
	due:      func(idle, keeps time.Duration) bool { return idle >= keeps },
	wakes:    func(n *naive, b hash) { delete(n.idle, b) },
	forget:   (*naive).unwind,
	shown:    func(_ *naive, path []hash) []hash { return path },
	anchored: cut,
	anchor:   func(n *naive, _ string, b hash) bool { return n.knows(b) },
	changed:  func(before, after effect) bool { return !slices.Equal(before.frontiers, after.frontiers) },
	hit:      func(lost int) int { return lost },
	counts: func(n *naive) sessionindex.Counts {
		return sessionindex.Counts{Blocks: len(n.parents), Sessions: len(n.has)}
	},
}

// newNaive makes one whose rules f has changed.
func newNaive(f func(*rules)) func(sessionindex.Config, sessionindex.Clock, sessionindex.Physical) (sessionindex.Indexer, error) {
	return func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		n := &naive{
			limit: cfg.Sessions, keeps: cfg.Retention, clock: clock, physical: physical, rules: right,
			parents: map[hash]sessionindex.Parent{}, phantoms: blocks{}, has: map[string]map[rank]blocks{}, idle: map[hash]time.Time{}, grafted: map[hash]bool{}, registry: newRegistry(),
		}
		if n.limit == 0 {
			n.limit = sessionindex.DefaultSessions
		}
		if n.keeps == 0 {
			n.keeps = sessionindex.DefaultRetention
		}
		f(&n.rules)
		return n, nil
	}
}

func (n *naive) knows(b hash) bool { _, ok := n.parents[b]; return ok }

// path is a block and what is above it, root last. In a cycle, which only a mutant makes,
// it ends where it began.
func (n *naive) path(b hash) (path []hash) {
	for at, ok := b, n.knows(b); ok && len(path) <= len(n.parents); at, ok = n.parents[at].Value() {
		path = append(path, at)
	}
	return path
}

func crosses(path, others []hash) bool {
	return slices.ContainsFunc(path, func(b hash) bool { return slices.Contains(others, b) })
}

// bottom are the blocks of a set without a child in it.
func (n *naive) bottom(d blocks) (all []hash) {
	inner := blocks{}
	for b := range d {
		if p, ok := n.parents[b].Value(); ok {
			inner[p] = true
		}
	}
	for b := range d {
		if !inner[b] {
			all = append(all, b)
		}
	}
	slices.Sort(all)
	return all
}

func (n *naive) closeAll() {
	for _, ranks := range n.has {
		for _, d := range ranks {
			n.closeOne(d)
		}
	}
}

func (n *naive) closeOne(d blocks) {
	for _, b := range slices.Collect(maps.Keys(d)) {
		for _, above := range n.path(b) {
			if !n.rules.phantom(n, above) {
				d[above] = true
			}
		}
	}
}

// judge says why a store cannot be, the reason to be named first.
func (n *naive) judge(s sessionindex.Store) *sessionindex.BlockError {
	if b, ok := n.repeats(s); ok {
		return &sessionindex.BlockError{Kind: sessionindex.ErrCyclicParent, Block: b}
	}
	if b, ok := n.cycles(s); ok {
		return &sessionindex.BlockError{Kind: sessionindex.ErrCyclicParent, Block: b}
	}
	if all := n.conflicts(s); len(all) > 0 {
		return &sessionindex.BlockError{Kind: sessionindex.ErrConflictingParent, Block: all[0]}
	}
	if p, ok := s.Parent.Value(); ok && !n.knows(p) && !slices.ContainsFunc(s.Blocks, n.isRoot) {
		return &sessionindex.BlockError{Kind: sessionindex.ErrUnknownParent, Block: p}
	}
	return nil
}

func (n *naive) repeats(s sessionindex.Store) (hash, bool) {
	for i, b := range s.Blocks {
		if s.Parent == sessionindex.Under(b) || slices.Contains(s.Blocks[:i], b) {
			return b, true
		}
	}
	return 0, false
}

// cycles finds the member of an event that lies above its parent, if a root does that has
// children, the nearest first.
func (n *naive) cycles(s sessionindex.Store) (hash, bool) {
	p, ok := s.Parent.Value()
	if !ok {
		return 0, false
	}
	deep := slices.ContainsFunc(s.Blocks, func(b hash) bool { return n.isRoot(b) && n.isParent(b) })
	for _, above := range n.path(p) {
		if deep && slices.Contains(s.Blocks, above) {
			return above, true
		}
	}
	return 0, false
}

func (n *naive) conflicts(s sessionindex.Store) (all []hash) {
	before := s.Parent
	for _, b := range s.Blocks {
		recorded := n.parents[b]
		if _, ok := recorded.Value(); ok && recorded != before {
			all = append(all, b)
		}
		before = sessionindex.Under(b)
	}
	return all
}

func (n *naive) isRoot(b hash) bool {
	_, ok := n.parents[b].Value()
	return n.knows(b) && !ok
}

func (n *naive) isParent(b hash) bool {
	return slices.Contains(slices.Collect(maps.Values(n.parents)), sessionindex.Under(b))
}

// grow records a chain.
func (n *naive) grow(above sessionindex.Parent, chain []hash) {
	if p, ok := above.Value(); ok && !n.knows(p) {
		n.parents[p], n.phantoms[p] = sessionindex.Parent{}, true
	}
	for _, b := range chain {
		if n.isRoot(b) && above != (sessionindex.Parent{}) {
			n.grafted[b] = true
		}
		if !n.knows(b) || n.isRoot(b) {
			n.parents[b] = above
		}
		delete(n.phantoms, b)
		above = sessionindex.Under(b)
	}
}

// see records a block that was matched.
func (n *naive) see(b hash) {
	if !n.knows(b) {
		n.parents[b] = sessionindex.Parent{}
	}
	delete(n.phantoms, b)
}

// cut ends a path at an anchor.
func cut(path []hash, anchor hash) ([]hash, bool) {
	i := slices.Index(path, anchor)
	return path[:i+1], i >= 0
}

// unwind forgets a block and what is above it, as far as nobody needs that.
func (n *naive) unwind(b hash, held blocks) {
	for !held[b] && !n.isParent(b) {
		above, ok := n.parents[b].Value()
		n.drop(b)
		if !ok {
			return
		}
		b = above
	}
}

func (n *naive) drop(b hash) {
	delete(n.parents, b)
	delete(n.phantoms, b)
	delete(n.idle, b)
	delete(n.grafted, b)
}

// settle forgets what is due, and sessions that have nothing.
func (n *naive) settle() {
	held := blocks{}
	for id, ranks := range n.has {
		for at, d := range ranks {
			if len(d) == 0 {
				delete(ranks, at)
			}
			for _, b := range n.rules.deepest(n, d) {
				held[b] = true
			}
		}
		if len(ranks) == 0 {
			delete(n.has, id)
			n.used = slices.DeleteFunc(n.used, func(s string) bool { return s == id })
		}
	}
	now := n.clock.Now()
	var due []hash
	for b := range n.parents {
		if held[b] || n.isParent(b) {
			n.rules.wakes(n, b)
			continue
		}
		if _, ok := n.idle[b]; !ok {
			n.idle[b] = now
		}
		if n.rules.due(now.Sub(n.idle[b]), n.keeps) {
			due = append(due, b)
		}
	}
	for _, b := range due {
		n.rules.forget(n, b, held)
	}
}

// clear ends the claims on the ranks that a member has and says how many frontiers they
// had; the lock is held.
func (n *naive) clear(m sessionindex.Member) (dropped int) {
	for _, ranks := range n.has {
		for at, d := range ranks {
			if covers(m, at) {
				dropped += len(n.rules.deepest(n, d))
				clear(d)
			}
		}
	}
	n.settle()
	return dropped
}

func covers(m sessionindex.Member, at rank) bool {
	return m.Worker == at.Worker && (m.Rank == nil || *m.Rank == at.Rank)
}

// Remove implements sessionindex.Indexer.
func (n *naive) Remove(_ context.Context, on rank, removed []hash) (hit int, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.evicted(on)
	for id, ranks := range n.has {
		lost := 0
		for at, d := range ranks {
			if !n.rules.evicts(on, at) {
				continue
			}
			for _, b := range n.rules.deepest(n, d) {
				if n.rules.lost(n, b, removed) {
					lost++
				}
			}
			for b := range d {
				if n.rules.lost(n, b, removed) {
					delete(d, b)
				}
			}
		}
		if lost > 0 {
			n.use(id, "evicted")
		}
		hit += n.rules.hit(lost)
	}
	n.settle()
	return hit, nil
}

// use notes that something happened to a session that is held.
func (n *naive) use(id, event string) {
	if _, held := n.has[id]; held && n.rules.uses(event) {
		n.used = append(slices.DeleteFunc(n.used, func(s string) bool { return s == id }), id)
	}
}
