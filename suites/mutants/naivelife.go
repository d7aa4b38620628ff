package mutants

import (
	"cmp"
	"context"
	"slices"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// registry is the lifecycle of a naive index. Moments are counted.
type registry struct {
	moment    int
	anybody   bool              // was ever registered
	workers   map[string]string // open incarnations
	ranks     map[rank]string   // of ranks of their own; "" of one that is removed
	clearedAt map[rank]int
	evictedAt map[rank]int
	discards  uint64
}

func newRegistry() registry {
	return registry{workers: map[string]string{}, ranks: map[rank]string{}, clearedAt: map[rank]int{}, evictedAt: map[rank]int{}}
}

func (l *registry) next() int { l.moment++; return l.moment }

func (l *registry) evicted(at rank) { l.evictedAt[at] = l.next() }

func (l *registry) isOpen(at rank, incarnation string) bool {
	own, has := l.ranks[at]
	if !has {
		own = l.workers[at.Worker]
	}
	return own == incarnation && (own != "" || !l.anybody)
}

// entry is an event that a naive index has taken in.
type entry struct {
	n     *naive
	store sessionindex.Store
	block *hash // of a match
	at    int
	over  bool // its incarnation was not open
}

// AdmitStore implements sessionindex.Indexer.
func (n *naive) AdmitStore(s sessionindex.Store) sessionindex.Ticket { return n.admit(s, nil) }

// AdmitMatch implements sessionindex.Indexer.
func (n *naive) AdmitMatch(m sessionindex.Match) sessionindex.Ticket {
	return n.admit(sessionindex.Store{Session: m.Session, At: m.At, Incarnation: m.Incarnation}, &m.Block)
}

func (n *naive) admit(s sessionindex.Store, block *hash) sessionindex.Ticket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return sessionindex.Ticket{Grip: &entry{n, s, block, n.next(), !n.isOpen(s.At, s.Incarnation)}}
}

// Apply implements sessionindex.TicketGrip.
func (e *entry) Apply(ctx context.Context, _ uint64) (sessionindex.Result, error) {
	n := e.n
	holds := false
	if e.block != nil && n.physical != nil {
		holds, _ = n.physical.Holds(ctx, e.store.At, *e.block)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	late := e.block == nil && n.clearedAt[e.store.At] > e.at || e.block != nil && n.evictedAt[e.store.At] > e.at && !holds
	if e.over || late || !n.isOpen(e.store.At, e.store.Incarnation) {
		n.discards++
		return sessionindex.Result{Discarded: true}, nil
	}
	id, ok := n.rules.session(e.store.Session)
	if !ok || e.block == nil && len(e.store.Blocks) == 0 {
		return sessionindex.Result{}, nil
	}
	if e.block != nil {
		return sessionindex.Result{Changed: n.gain(id, e.store.At, *e.block, func() { n.rules.meet(n, *e.block) })}, nil
	}
	if refused := n.rules.refuses(n, e.store); refused != nil {
		n.rules.refused(n, e.store)
		n.use(id, "refused")
		n.settle()
		return sessionindex.Result{}, refused
	}
	chain := e.store.Blocks
	return sessionindex.Result{Changed: n.gain(id, e.store.At, chain[len(chain)-1], func() { n.rules.plant(n, e.store.Parent, chain) })}, nil
}

// gain gives a session a block, and what is above it.
func (n *naive) gain(id string, at rank, last hash, record func()) bool {
	look := func() effect {
		linked := 0
		for _, p := range n.parents {
			if _, ok := p.Value(); ok {
				linked++
			}
		}
		return effect{n.rules.deepest(n, n.has[id][at]), len(n.parents), linked}
	}
	before := look()
	record()
	if n.has[id] == nil {
		n.has[id] = map[rank]blocks{}
		n.used = append(n.used, id)
	}
	if n.has[id][at] == nil {
		n.has[id][at] = blocks{}
	}
	for _, b := range n.rules.gains(n, last) {
		if !n.rules.phantom(n, b) {
			n.has[id][at][b] = true
		}
	}
	n.rules.close(n, id, at)
	after := look()
	changed := n.rules.changed(before, after)
	event := "accepted"
	if !changed {
		event = "unchanged"
	}
	n.use(id, event)
	for len(n.used) > n.limit {
		n.rules.room(n, at)
	}
	n.settle()
	return changed
}

// Register implements sessionindex.Indexer.
func (n *naive) Register(_ context.Context, m sessionindex.Member, incarnation string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.anybody = true
	n.retire(m)
	if m.Rank == nil {
		n.workers[m.Worker] = incarnation
	} else {
		n.ranks[rank{Worker: m.Worker, Rank: *m.Rank}] = incarnation
	}
	return nil
}

// retire ends incarnations and claims; the lock is held.
func (n *naive) retire(m sessionindex.Member) (dropped int) {
	n.next()
	if m.Rank != nil {
		n.ranks[rank{Worker: m.Worker, Rank: *m.Rank}] = ""
		return n.clear(m)
	}
	delete(n.workers, m.Worker)
	for at := range n.ranks {
		if at.Worker == m.Worker {
			delete(n.ranks, at)
		}
	}
	return n.clear(m)
}

// Clear implements sessionindex.Indexer.
func (n *naive) Clear(ctx context.Context, at rank) (int, error) {
	m := sessionindex.Member{Worker: at.Worker, Rank: &at.Rank}
	n.mu.Lock()
	n.clearedAt[at] = n.next()
	n.evicted(at)
	dropped := n.clear(m)
	n.mu.Unlock()
	return dropped, n.physical.ClearLowerTiers(ctx, m)
}

// awaiting is a removal of a naive index.
type awaiting struct {
	n       *naive
	m       sessionindex.Member
	dropped int
}

// BeginRemoval implements sessionindex.Indexer.
func (n *naive) BeginRemoval(m sessionindex.Member) sessionindex.Removal {
	n.mu.Lock()
	defer n.mu.Unlock()
	return sessionindex.Removal{Grip: &awaiting{n, m, n.retire(m)}}
}

// Await implements sessionindex.RemovalGrip.
func (a *awaiting) Await(ctx context.Context) (int, error) {
	return a.dropped, cmp.Or(a.n.physical.Barrier(ctx, a.m), a.n.physical.ClearLowerTiers(ctx, a.m))
}

// Flush implements sessionindex.Indexer.
func (n *naive) Flush(ctx context.Context) error { return n.physical.Barrier(ctx) }

// Tick implements sessionindex.Indexer.
func (n *naive) Tick() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settle()
}

// Frontiers implements sessionindex.Indexer.
func (n *naive) Frontiers(session string) (all []sessionindex.Frontier) {
	n.mu.Lock()
	defer n.mu.Unlock()
	session, _ = n.rules.session(session)
	n.use(session, "read")
	return n.reaches(session)
}

func (n *naive) reaches(session string) (all []sessionindex.Frontier) {
	for at, d := range n.has[session] {
		for _, b := range n.rules.deepest(n, d) {
			all = append(all, sessionindex.Frontier{At: at, Block: b})
		}
	}
	return all
}

// Lineages implements sessionindex.Indexer.
func (n *naive) Lineages(session string, at rank) [][]hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	session, _ = n.rules.session(session)
	n.use(session, "read")
	return n.lineages(session, at, nil)
}

// LineagesFrom implements sessionindex.Indexer.
func (n *naive) LineagesFrom(session string, at rank, anchor hash) ([][]hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	session, _ = n.rules.session(session)
	n.use(session, "read")
	if !n.rules.anchor(n, session, anchor) {
		return nil, &sessionindex.BlockError{Kind: sessionindex.ErrUnknownAnchor, Block: anchor}
	}
	return n.lineages(session, at, &anchor), nil
}

func (n *naive) lineages(session string, at rank, anchor *hash) (all [][]hash) {
	for _, b := range n.rules.deepest(n, n.has[session][at]) {
		path, through := n.path(b), true
		if anchor != nil {
			path, through = n.rules.anchored(path, *anchor)
		}
		if path = slices.Clone(n.rules.shown(n, path)); through && len(path) > 0 {
			slices.Reverse(path)
			all = append(all, path)
		}
	}
	return all
}

// Counts implements sessionindex.Indexer.
func (n *naive) Counts() sessionindex.Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rules.counts(n)
}

// Discarded implements sessionindex.Indexer.
func (n *naive) Discarded() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.discards
}

// Dump implements sessionindex.Indexer.
func (n *naive) Dump() (s sessionindex.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for b, p := range n.parents {
		known := sessionindex.BlockState{Hash: b, Phantom: n.rules.phantom(n, b)}
		if above, ok := p.Value(); ok {
			known.Parent = &above
		}
		s.Blocks = append(s.Blocks, known)
	}
	for _, id := range n.used {
		s.Sessions = append(s.Sessions, sessionindex.SessionState{ID: id, Frontiers: n.reaches(id)})
	}
	return s
}

// Steps implements sessionindex.Indexer.
func (n *naive) Steps() uint64 { return 0 }
