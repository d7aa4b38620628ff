package sessionindex

import "time"

// sleep puts a node that is no frontier and has no child at the end of the idle list.
func (f *forest) sleep(nd *node, n nodeID) {
	nd.idle, nd.idleSince = true, f.now
	nd.older, nd.newer = f.lastIdle, 0
	if f.lastIdle != 0 {
		f.nodes.at(f.lastIdle).newer = n
	} else {
		f.firstIdle = n
	}
	f.lastIdle = n
}

// wake takes a node out of the idle list, if it is in it.
func (f *forest) wake(nd *node, n nodeID) {
	if !nd.idle {
		return
	}
	if nd.older != 0 {
		f.nodes.at(nd.older).newer = nd.newer
	} else {
		f.firstIdle = nd.newer
	}
	if nd.newer != 0 {
		f.nodes.at(nd.newer).older = nd.older
	} else {
		f.lastIdle = nd.older
	}
	nd.idle, nd.older, nd.newer = false, 0, 0
}

// reclaim forgets the nodes that have been idle for the retention time, and the
// ancestors that this leaves without references.
func (f *forest) reclaim(retention time.Duration) {
	for f.firstIdle != 0 && f.now-f.nodes.at(f.firstIdle).idleSince >= retention {
		n := f.firstIdle
		f.wake(f.nodes.at(n), n)
		for n != 0 {
			n = f.forget(n)
		}
	}
}

// forget removes a node without references, and returns its parent if that has
// become such a node. A node without child is the tail of its run.
func (f *forest) forget(n nodeID) (freed nodeID) {
	f.steps++
	nd := f.nodes.at(n)
	parent := nd.parent
	if r := f.runs.at(nd.run); r.head == n {
		f.runs.give(nd.run)
	} else {
		r.tail = parent
	}
	f.leave(n)
	if parent == 0 {
		return 0
	}
	p := f.nodes.at(parent)
	p.children--
	if p.children > 0 || p.frontiers > 0 {
		return 0
	}
	return parent
}
