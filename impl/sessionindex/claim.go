package sessionindex

// repair makes the frontiers of a claim an antichain again, if a graft may have broken
// it.
func (c *Core) repair(id claimID) {
	if id == 0 {
		return
	}
	c.steps++
	cl := c.claims.at(id)
	if cl.grafts != c.grafts && len(cl.frontiers) > 1 {
		cl.frontiers = c.maximal(cl.frontiers)
	}
	cl.grafts = c.grafts
}

// advance makes the block part of what the session has on the rank, and the session
// the most recently used; whoever has been unused for longest goes, if there are too
// many. It says whether the frontiers are others than before.
func (c *Core) advance(session string, at WorkerRank, target nodeID) (changed bool) {
	id := c.open(session, at)
	cl := c.claims.at(id)
	before, last := len(cl.frontiers), nodeID(0)
	if before > 0 {
		last = cl.frontiers[before-1]
	}
	c.refer(target)
	cl.frontiers = c.maximal(append(cl.frontiers, target))
	cl.grafts = c.grafts
	// The target stands last, if it stands at all. So nothing has changed only if as many
	// are left and the last of them is the one that was.
	changed = len(cl.frontiers) != before || cl.frontiers[before-1] != last
	for c.sessions.used() > c.limit {
		for id := c.sessions.at(c.byUse.first).claims.first; id != 0; {
			next := c.claims.at(id).ofSession.next
			c.drop(id)
			id = next
		}
	}
	return changed
}

// recede takes from a claim, whose frontiers are an antichain, all that is at or below
// a removed block, and returns how many frontiers that were.
func (c *Core) recede(id claimID, mark uint64) (hit int) {
	c.steps++
	cl := c.claims.at(id)
	left := cl.frontiers[:0]
	for _, n := range cl.frontiers {
		removed := c.shallowest(n, mark)
		if removed == 0 {
			left = append(left, n)
			continue
		}
		hit++
		above := c.nodes.at(removed).parent
		if above != 0 && !c.nodes.at(above).phantom {
			c.refer(above)
			left = append(left, above)
		}
		c.release(n)
	}
	if hit > 0 {
		left = c.maximal(left)
	}
	cl.frontiers = left
	if len(left) == 0 {
		c.close(id)
	}
	return hit
}

// clear drops every claim on a rank and returns how many frontiers they had.
func (c *Core) clear(r rankID) (dropped int) {
	for id := c.ranks.at(r).claims.first; id != 0; {
		next := c.claims.at(id).ofRank.next
		c.repair(id)
		dropped += len(c.claims.at(id).frontiers)
		c.drop(id)
		id = next
	}
	return dropped
}

// drop ends a claim.
func (c *Core) drop(id claimID) {
	c.steps++
	for _, n := range c.claims.at(id).frontiers {
		c.steps++
		c.release(n)
	}
	c.close(id)
}
