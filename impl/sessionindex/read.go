package sessionindex

import (
	"cmp"
	"slices"
)

// Frontier is the deepest block of one of a session's chains on a rank.
type Frontier struct {
	At    WorkerRank `json:"at"`
	Block Hash       `json:"block"`
}

func compareRanks(a, b WorkerRank) int {
	return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Rank, b.Rank))
}

// Frontiers returns the session's frontiers on all ranks, by worker, rank and hash; none
// for a session that is not held. Recency is not refreshed.
func (c *Core) Frontiers(session string) (frontiers []Frontier) {
	s := c.byID[session]
	if s == 0 {
		return nil
	}
	for id := c.sessions.at(s).claims.first; id != 0; id = c.claims.at(id).ofSession.next {
		c.repair(id)
		cl := c.claims.at(id)
		for _, n := range cl.frontiers {
			c.steps++
			frontiers = append(frontiers, Frontier{c.ranks.at(cl.rank).at, c.nodes.at(n).hash})
		}
	}
	slices.SortFunc(frontiers, func(a, b Frontier) int {
		return cmp.Or(compareRanks(a.At, b.At), cmp.Compare(a.Block, b.Block))
	})
	return frontiers
}

// Lineages returns, for each frontier of the session on the rank, the chain of hashes
// from its root, phantoms included, down to the frontier, in the order of the frontiers'
// hashes. Recency is not refreshed.
func (c *Core) Lineages(session string, at WorkerRank) [][]Hash {
	return c.lineages(session, at, 0)
}

// LineagesFrom is Lineages of those chains only that go through the anchor, from the
// anchor down.
//
// Errors are *BlockError: ErrUnknownAnchor, whatever the session, if no block has the
// anchor's hash.
func (c *Core) LineagesFrom(session string, at WorkerRank, anchor Hash) ([][]Hash, error) {
	n := c.byHash[anchor]
	if n == 0 {
		return nil, &BlockError{ErrUnknownAnchor, anchor}
	}
	return c.lineages(session, at, n), nil
}

func (c *Core) lineages(session string, at WorkerRank, anchor nodeID) (chains [][]Hash) {
	id := c.find(session, at)
	if id == 0 {
		return nil
	}
	c.repair(id)
	for _, frontier := range c.claims.at(id).frontiers {
		var chain []Hash
		n := frontier
		for ; n != 0; n = c.nodes.at(n).parent {
			c.steps++
			chain = append(chain, c.nodes.at(n).hash)
			if n == anchor {
				break
			}
		}
		if n == anchor { // both are none where no anchor was asked for
			slices.Reverse(chain)
			chains = append(chains, chain)
		}
	}
	slices.SortFunc(chains, func(a, b []Hash) int { return cmp.Compare(a[len(a)-1], b[len(b)-1]) })
	return chains
}

// Counts is how much an index holds.
type Counts struct {
	Blocks   int `json:"blocks"`   // known: phantoms, and those that may be reclaimed one day, included
	Sessions int `json:"sessions"` // with at least one frontier
}

// Counts counts now.
func (c *Core) Counts() Counts { return Counts{c.nodes.used(), c.sessions.used()} }
