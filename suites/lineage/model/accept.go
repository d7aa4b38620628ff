package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/lineage"
)

// refusals are the answers with which a store may be refused, the one that the
// specification prefers first; none where it must be accepted.
//
// All reasons that hold are answers, but for two orders that are not free: what repeats is
// a cycle and no conflict, and a parent that is not known counts only where nothing else
// does.
func (m *Model) refusals(parent string, blocks []string) []lineage.Answer {
	var repeats, above, conflicts []string
	seen := set{}
	roots, deep := false, false
	before := parent
	for _, b := range blocks {
		recorded, known := m.parent[b]
		switch {
		case seen[b] || b == parent:
			repeats = append(repeats, b)
		case known && recorded == "":
			roots = true
			deep = deep || before != "" && m.isParent(b)
		case known && recorded != before:
			conflicts = append(conflicts, b)
		}
		seen[b] = true
		before = b
	}
	_, parentKnown := m.parent[parent]
	if parentKnown && parent != "" {
		for _, b := range m.path(parent) {
			if seen[b] && b != parent {
				above = append(above, b) // the nearest to the parent first
			}
		}
	}
	var all []lineage.Answer
	add := func(kind string, blocks []string) {
		for _, b := range blocks {
			all = append(all, lineage.FailsAt(kind, b))
		}
	}
	add(lineage.CyclicParent, repeats)
	if deep {
		add(lineage.CyclicParent, above)
	}
	add(lineage.ConflictingParent, conflicts)
	if !deep { // no root of the event is above its parent: what is has a parent, and is a conflict
		add(lineage.CyclicParent, above)
	}
	if len(all) == 0 && parent != "" && !parentKnown && !roots {
		all = append(all, lineage.FailsAt(lineage.UnknownParent, parent))
	}
	return slices.CompactFunc(all, func(a, b lineage.Answer) bool { return a.String() == b.String() })
}
