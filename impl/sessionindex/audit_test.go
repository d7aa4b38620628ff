package sessionindex

import (
	"fmt"
	"maps"
	"slices"
)

// audit checks the core's books against each other: what no call shows, but a later one
// would suffer from.
func audit(c *Core) error {
	children, frontiers, onRun := map[nodeID]int32{}, map[nodeID]int32{}, map[runID]int32{}
	for h, n := range c.byHash {
		nd := c.nodes.at(n)
		if nd.hash != h {
			return fmt.Errorf("hash %v leads to the node of %v", h, nd.hash)
		}
		if nd.inEvent || nd.fresh {
			return fmt.Errorf("block %v keeps marks of an event that is over", h)
		}
		if nd.phantom && nd.parent != 0 {
			return fmt.Errorf("phantom %v has a parent", h)
		}
		children[nd.parent]++
		onRun[nd.run]++
		r := c.runs.at(nd.run)
		if nd.parent != 0 && c.nodes.at(nd.parent).run == nd.run {
			if p := c.nodes.at(nd.parent); p.pos+1 != nd.pos || r.head == n || r.tail == nd.parent {
				return fmt.Errorf("block %v is misplaced on its run", h)
			}
		} else if r.head != n || r.parent != nd.parent {
			return fmt.Errorf("block %v begins a run without being its head", h)
		}
	}
	if len(c.byHash) != c.nodes.used() || len(onRun) != c.runs.used() {
		return fmt.Errorf("%d hashes on %d runs, but %d nodes and %d runs are taken", len(c.byHash), len(onRun), c.nodes.used(), c.runs.used())
	}
	for id, length := range onRun {
		if r := c.runs.at(id); c.nodes.at(r.tail).pos-c.nodes.at(r.head).pos+1 != length {
			return fmt.Errorf("run %d has %d blocks between positions %d and %d", id, length, c.nodes.at(r.head).pos, c.nodes.at(r.tail).pos)
		}
	}
	for id, s := range c.byID {
		n := 0
		for cl := c.sessions.at(s).claims.first; cl != 0; cl = c.claims.at(cl).ofSession.next {
			if n++; c.byPair[pair{s, c.claims.at(cl).rank}] != cl {
				return fmt.Errorf("session %q has a claim that cannot be found", id)
			}
			if len(c.claims.at(cl).frontiers) == 0 {
				return fmt.Errorf("session %q has a claim without frontiers", id)
			}
			for _, f := range c.claims.at(cl).frontiers {
				frontiers[f]++
				if c.nodes.at(f).phantom {
					return fmt.Errorf("session %q claims a phantom", id)
				}
			}
		}
		if n == 0 {
			return fmt.Errorf("session %q has no claim", id)
		}
	}
	claims := 0
	for at, r := range c.byRank {
		n := claims
		for cl := c.ranks.at(r).claims.first; cl != 0; cl = c.claims.at(cl).ofRank.next {
			if claims++; c.byPair[pair{c.claims.at(cl).session, r}] != cl {
				return fmt.Errorf("%v has a claim that cannot be found", at)
			}
		}
		if n == claims {
			return fmt.Errorf("%v has no claim", at)
		}
	}
	if claims != len(c.byPair) || claims != c.claims.used() || len(c.byID) != c.sessions.used() || len(c.byRank) != c.ranks.used() {
		return fmt.Errorf("%d claims are listed, %d can be found, %d are taken", claims, len(c.byPair), c.claims.used())
	}
	if len(c.byID) > c.limit {
		return fmt.Errorf("%d sessions are held, at most %d may be", len(c.byID), c.limit)
	}
	idle := map[nodeID]bool{}
	for n := c.idle.first; n != 0; n = c.nodes.at(n).among.next {
		idle[n] = true
		if nx := c.nodes.at(n).among.next; nx != 0 && c.nodes.at(nx).idleSince < c.nodes.at(n).idleSince {
			return fmt.Errorf("the idle list is out of order at %v", c.nodes.at(n).hash)
		}
	}
	for h, n := range c.byHash {
		nd := c.nodes.at(n)
		if nd.children != children[n] || nd.frontiers != frontiers[n] {
			return fmt.Errorf("block %v counts %d children and %d frontiers, but has %d and %d", h, nd.children, nd.frontiers, children[n], frontiers[n])
		}
		if free := nd.children == 0 && nd.frontiers == 0; free != nd.idle || free != idle[n] {
			return fmt.Errorf("block %v is idle: %v, marked so: %v, listed so: %v", h, free, nd.idle, idle[n])
		}
	}
	return nil
}

// clone is a copy that shares nothing, so that it can be read without the original
// tidying itself.
func clone(c *Core) *Core {
	d := *c
	d.byHash, d.byID, d.byRank, d.byPair = maps.Clone(c.byHash), maps.Clone(c.byID), maps.Clone(c.byRank), maps.Clone(c.byPair)
	d.nodes, d.runs, d.sessions, d.ranks, d.claims = c.nodes.clone(), c.runs.clone(), c.sessions.clone(), c.ranks.clone(), c.claims.clone()
	for _, id := range d.byPair {
		d.claims.at(id).frontiers = slices.Clone(d.claims.at(id).frontiers)
	}
	d.buffer = nil
	return &d
}

func (s slots[H, T]) clone() slots[H, T] {
	pages := slices.Clone(s.pages)
	for i, p := range pages {
		page := *p
		pages[i] = &page
	}
	return slots[H, T]{pages, s.next, slices.Clone(s.free)}
}
