package sessionindex

// maximal keeps of the nodes those that are no ancestor of another, each once and in
// their order, and releases the others. It climbs each run above them once, whatever
// the depth.
func (f *forest) maximal(nodes []nodeID) []nodeID {
	f.stamp++
	for _, n := range nodes {
		f.steps++
		nd := f.nodes.at(n)
		id, reach := nd.run, nd.pos-1
		for id != 0 {
			r := f.runs.at(id)
			if r.mark == f.stamp { // whoever came first has climbed on from here
				r.reach = max(r.reach, reach)
				break
			}
			f.steps++
			r.mark, r.reach = f.stamp, reach
			if r.parent == 0 {
				break
			}
			p := f.nodes.at(r.parent)
			id, reach = p.run, p.pos
		}
	}
	kept := nodes[:0]
	for _, n := range nodes {
		nd := f.nodes.at(n)
		r := f.runs.at(nd.run)
		if r.reach >= nd.pos {
			f.release(n)
			continue
		}
		r.reach = nd.pos
		kept = append(kept, n)
	}
	return kept
}

// cutAt notes removed blocks on their runs and returns the mark of this removal.
func (f *forest) cutAt(removed []Hash) (mark uint64) {
	f.stamp++
	for _, h := range removed {
		f.steps++
		n, known := f.byHash[h]
		if !known {
			continue
		}
		nd := f.nodes.at(n)
		r := f.runs.at(nd.run)
		if r.cutMark != f.stamp || f.nodes.at(r.cut).pos > nd.pos {
			r.cut, r.cutMark = n, f.stamp
		}
	}
	return f.stamp
}

// shallowest returns the removed block nearest the root on the path of n, or none.
func (f *forest) shallowest(n nodeID, mark uint64) (removed nodeID) {
	for n != 0 {
		f.steps++
		nd := f.nodes.at(n)
		r := f.runs.at(nd.run)
		if r.cutMark == mark && f.nodes.at(r.cut).pos <= nd.pos {
			removed = r.cut
		}
		n = r.parent
	}
	return removed
}
