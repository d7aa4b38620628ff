package sessionindex

import "time"

// sleep puts a node that is no frontier and has no child at the end of the idle list.
func (f *forest) sleep(nd *node, n nodeID) {
	nd.idle, nd.idleSince = true, f.now
	f.idle.add(n, f.idleLinks)
}

// wake takes a node out of the idle list, if it is in it.
func (f *forest) wake(nd *node, n nodeID) {
	if nd.idle {
		nd.idle = false
		f.idle.drop(n, f.idleLinks)
	}
}

func (f *forest) idleLinks(n nodeID) *links[nodeID] { return &f.nodes.at(n).among }

// reclaim forgets the nodes that have been idle for the retention time, and the
// ancestors that this leaves without references.
func (f *forest) reclaim(retention time.Duration) {
	for f.idle.first != 0 && f.now-f.nodes.at(f.idle.first).idleSince >= retention {
		n := f.idle.first
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
