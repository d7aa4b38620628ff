package sessionindex

// chain is an event's chain as nodes, the event's own new ones among them.
type chain struct {
	parent  nodeID // none if there is none or if it is not known
	phantom bool   // the parent is not known, yet the chain is accepted
	nodes   []nodeID
}

// accept decides whether the chain may be stored. Where it may, the hashes have nodes,
// and plant makes a chain of them; where not, the forest is as it was.
//
// The order of the reasons: a block repeated in the event, or the parent itself in it;
// a cycle through what is known, named by the member nearest the parent; the first
// known block under another parent; a parent that is not known, unless the chain holds
// a known root, which the parent then explains.
func (f *forest) accept(buffer []nodeID, parent Parent, blocks []Hash) (chain, *BlockError) {
	c := chain{nodes: buffer[:0]}
	if parent.given {
		c.parent = f.byHash[parent.hash]
	}
	var conflict nodeID
	reconnects, walk := false, false
	above := c.parent
	for _, h := range blocks {
		f.steps++
		if parent.given && h == parent.hash {
			return c, f.reject(c, ErrCyclicParent, h)
		}
		n, known := f.enter(h)
		nd := f.nodes.at(n)
		if nd.inEvent {
			return c, f.reject(c, ErrCyclicParent, h)
		}
		nd.inEvent, nd.fresh = true, !known
		c.nodes = append(c.nodes, n)
		switch {
		case !known:
		case nd.parent == 0:
			reconnects = true
			// Only a root that has children can be an ancestor of the parent.
			walk = walk || nd.children > 0
		case nd.parent != above && conflict == 0:
			conflict = n
		}
		above = n
	}
	if walk {
		for n := c.parent; n != 0; n = f.nodes.at(n).parent {
			f.steps++
			if nd := f.nodes.at(n); nd.inEvent {
				return c, f.reject(c, ErrCyclicParent, nd.hash)
			}
		}
	}
	if conflict != 0 {
		return c, f.reject(c, ErrConflictingParent, f.nodes.at(conflict).hash)
	}
	if parent.given && c.parent == 0 {
		if !reconnects {
			return c, f.reject(c, ErrUnknownParent, parent.hash)
		}
		c.phantom = true
	}
	return c, nil
}

// reject takes the event's traces out of the forest.
func (f *forest) reject(c chain, kind error, block Hash) *BlockError {
	for i := len(c.nodes) - 1; i >= 0; i-- {
		nd := f.nodes.at(c.nodes[i])
		nd.inEvent = false
		if nd.fresh {
			f.leave(c.nodes[i])
		}
	}
	return &BlockError{kind, block}
}

// plant puts an accepted chain into the forest and returns its last block.
func (f *forest) plant(c chain, parent Parent) nodeID {
	above := c.parent
	if c.phantom {
		above, _ = f.enter(parent.hash)
		f.nodes.at(above).phantom = true
		f.place(above, 0)
	}
	for _, n := range c.nodes {
		nd := f.nodes.at(n)
		fresh := nd.fresh
		nd.inEvent, nd.fresh, nd.phantom = false, false, false
		if fresh {
			f.place(n, above)
		} else if nd.parent == 0 && above != 0 {
			f.graft(n, above)
		}
		above = n
	}
	return above
}
