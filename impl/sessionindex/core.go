package sessionindex

import "time"

// Core is the session index without clock, locks or goroutines. Its methods, reads
// included, must not run beside each other: a read may tidy what a graft has left.
//
// Times are counted from any fixed origin; one that is earlier than a time seen before
// counts as that time. Each write ends with the reclamation that is due at its time. A
// call that is refused, or that has nothing to say (no blocks, a session id over
// MaxSessionBytes), is no write: it leaves everything as it was, recency and
// reclamation included.
//
// Where the rules leave room, this is what holds:
//
//   - A write reclaims at its end, not at its beginning: a store under a block that is
//     overdue, but that nobody has reclaimed yet, is accepted, and the block stays.
//   - A phantom is part of the forest and of nobody's set. So lineages show it, as the
//     root that it is, and no frontier ever stands on it, not even one that recedes.
//   - A removal that names a phantom cuts below it: what is removed is a block, and
//     nobody has what stands on a block that is gone, whether he had that block or not.
//   - What a clear or a removal counts are frontiers as reads show them: after a graft has
//     put one under another, not before.
type Core struct {
	forest
	table
	limit     int
	retention time.Duration
	buffer    []nodeID // of the event at hand
}

// New returns an empty index, or an error that names the bad setting.
func New(c Config) (*Core, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Core{
		forest: forest{byHash: map[Hash]nodeID{}},
		table:  table{byID: map[string]sessionID{}, byRank: map[WorkerRank]rankID{}, byPair: map[pair]claimID{}},
		limit:  c.Sessions, retention: c.Retention,
	}, nil
}

// Store takes the chain in and lets the session claim it on the rank, with all that is
// above. It says whether the session's frontiers on that rank have changed. A known
// root in the chain gets its place under the block before it, for everybody.
//
// Cost: O(k + c*F) steps for k blocks, c runs above them and F frontiers of the session
// on the rank; where a root with children gets a parent, at most the depth of that
// parent more.
//
// Errors are *BlockError: ErrCyclicParent, ErrConflictingParent, ErrUnknownParent, looked
// for in this order.
func (c *Core) Store(now time.Duration, s Store) (changed bool, err error) {
	if len(s.Blocks) == 0 || len(s.Session) > MaxSessionBytes {
		return false, nil
	}
	ch, refused := c.accept(c.buffer, s.Parent, s.Blocks)
	c.buffer = ch.nodes
	if refused != nil {
		return false, refused
	}
	c.now = max(c.now, now)
	// What the session had is told from what it gets, so its claim is tidied before
	// the forest changes under it.
	c.repair(c.find(s.Session, s.At))
	changed = c.advance(s.Session, s.At, c.plant(ch, s.Parent))
	c.reclaim(c.retention)
	return changed, nil
}

// Match lets the session claim the block on the rank, with all that is above. A hash
// without a block becomes a root. It says whether the session's frontiers on that rank
// have changed. Cost: O(c*F) steps.
func (c *Core) Match(now time.Duration, m Match) (changed bool) {
	if len(m.Session) > MaxSessionBytes {
		return false
	}
	c.now = max(c.now, now)
	c.steps++
	n, known := c.enter(m.Block)
	if !known {
		c.place(n, 0)
	}
	c.nodes.at(n).phantom = false
	c.repair(c.find(m.Session, m.At))
	changed = c.advance(m.Session, m.At, n)
	c.reclaim(c.retention)
	return changed
}

// Remove says that the rank no longer holds the blocks: no session keeps on it a block
// whose path to the root meets one of them. It returns how many frontiers that hit,
// counted per session. Unknown hashes count for nothing; no hash at all is no write.
// Recency is not refreshed. Cost: O(m + c*B) steps for m hashes and B frontiers on the
// rank.
func (c *Core) Remove(now time.Duration, at WorkerRank, blocks []Hash) (hit int) {
	if len(blocks) == 0 {
		return 0
	}
	c.now = max(c.now, now)
	if r := c.byRank[at]; r != 0 {
		for id := c.ranks.at(r).claims.first; id != 0; {
			next := c.claims.at(id).ofRank.next
			c.repair(id)
			id = next
		}
		mark := c.cutAt(blocks)
		for id := c.ranks.at(r).claims.first; id != 0; {
			next := c.claims.at(id).ofRank.next
			hit += c.recede(id, mark)
			id = next
		}
	}
	c.reclaim(c.retention)
	return hit
}

// ClearRank ends every claim on the rank and returns how many frontiers that were,
// counted per session. The blocks stay known.
func (c *Core) ClearRank(now time.Duration, at WorkerRank) (dropped int) {
	c.now = max(c.now, now)
	if r := c.byRank[at]; r != 0 {
		dropped = c.clear(r)
	}
	c.reclaim(c.retention)
	return dropped
}

// ClearWorker does ClearRank for every rank of the worker. Cost: O(w + b) steps for w
// ranks with claims, of whatever worker, and b frontiers dropped.
func (c *Core) ClearWorker(now time.Duration, worker string) (dropped int) {
	c.now = max(c.now, now)
	for at, r := range c.byRank {
		c.steps++
		if at.Worker == worker {
			dropped += c.clear(r)
		}
	}
	c.reclaim(c.retention)
	return dropped
}

// Advance is a write that says nothing but the time.
func (c *Core) Advance(now time.Duration) {
	c.now = max(c.now, now)
	c.reclaim(c.retention)
}

// Steps counts what all calls so far have visited: blocks, runs of blocks, frontiers,
// claims and ranks. The unit of every cost above.
func (c *Core) Steps() uint64 { return c.steps }
