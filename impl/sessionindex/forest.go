package sessionindex

import "time"

type (
	nodeID int32 // a block
	runID  int32 // a run of blocks, each the only one of its run under the block before
)

// node is one block.
type node struct {
	hash      Hash
	idleSince time.Duration // meaningful while idle
	parent    nodeID        // none for a root
	run       runID
	pos       int32 // on its run: the parent's plus one, if that is on the same run
	children  int32
	frontiers int32         // claims that name it
	among     links[nodeID] // in the idle list
	idle      bool          // in the idle list
	phantom   bool          // known only as somebody's parent; such a node is a root
	fresh     bool          // entered by the event at hand, which is not yet accepted
	inEvent   bool          // named by the event at hand
}

// run is a chain of blocks without a gap. A climb to the root goes from run to run,
// so a plain chain costs one step at any depth. The positions of a run are contiguous
// and may begin anywhere.
type run struct {
	parent     nodeID // of the head
	head, tail nodeID
	mark       uint64 // the latest climb that came by, and
	reach      int32  // up to which position that climb covers it
	cut        nodeID // the removed block nearest the root, of the latest removal that
	cutMark    uint64 // touched the run
}

// forest holds the blocks and who is whose parent. A parent, once recorded, never
// changes.
type forest struct {
	nodes  slots[nodeID, node]
	runs   slots[runID, run]
	byHash map[Hash]nodeID
	idle   list[nodeID]  // nodes without frontier and child, those idle for longest first
	now    time.Duration // the latest time seen by a write
	grafts uint64        // how often a root got a parent
	stamp  uint64        // the latest climb or removal
	steps  uint64        // nodes, runs, frontiers and claims visited
}

// enter returns the node of the hash; where there is none, it makes one that belongs
// to no run yet.
func (f *forest) enter(h Hash) (n nodeID, known bool) {
	if n, known = f.byHash[h]; known {
		return n, true
	}
	n = f.nodes.take()
	f.byHash[h] = n
	f.nodes.at(n).hash = h
	return n, false
}

// leave undoes enter for a node that belongs to no run.
func (f *forest) leave(n nodeID) {
	delete(f.byHash, f.nodes.at(n).hash)
	f.nodes.give(n)
}

// place puts a node that belongs to no run under its parent, or makes it a root.
func (f *forest) place(n, parent nodeID) {
	nd := f.nodes.at(n)
	nd.parent = parent
	if parent != 0 {
		p := f.nodes.at(parent)
		p.children++
		f.wake(p, parent)
		if r := f.runs.at(p.run); r.tail == parent {
			r.tail = n
			nd.run, nd.pos = p.run, p.pos+1
			return
		}
	}
	nd.run = f.runs.take()
	*f.runs.at(nd.run) = run{parent: parent, head: n, tail: n}
}

// graft puts a root, with all that is below it, under a parent. Nothing below is
// visited, unless the two runs become one.
func (f *forest) graft(root, parent nodeID) {
	nd, p := f.nodes.at(root), f.nodes.at(parent)
	nd.parent = parent
	p.children++
	f.wake(p, parent)
	f.runs.at(nd.run).parent = parent
	f.grafts++
	if f.runs.at(p.run).tail == parent {
		f.join(p.run, nd.run)
	}
}

// join makes one run of two, where the tail of the upper is the parent of the lower's
// head. The shorter is renumbered, which costs at most the depth of the upper's tail.
func (f *forest) join(upper, lower runID) {
	u, l := f.runs.at(upper), f.runs.at(lower)
	last, first := f.nodes.at(u.tail).pos, f.nodes.at(l.head).pos
	kept, gone, end, stop, shift := lower, upper, u.tail, u.parent, first-1-last
	if last-f.nodes.at(u.head).pos > f.nodes.at(l.tail).pos-first {
		kept, gone, end, stop, shift = upper, lower, l.tail, u.tail, last+1-first
	}
	for n := end; n != stop; n = f.nodes.at(n).parent {
		f.steps++
		nd := f.nodes.at(n)
		nd.run = kept
		nd.pos += shift
	}
	*f.runs.at(kept) = run{parent: u.parent, head: u.head, tail: l.tail}
	f.runs.give(gone)
}

// refer adds a claim that names the node.
func (f *forest) refer(n nodeID) {
	nd := f.nodes.at(n)
	nd.frontiers++
	f.wake(nd, n)
}

// release takes one away.
func (f *forest) release(n nodeID) {
	nd := f.nodes.at(n)
	nd.frontiers--
	if nd.frontiers == 0 && nd.children == 0 {
		f.sleep(nd, n)
	}
}
