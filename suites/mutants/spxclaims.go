package mutants

import (
	"slices"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// SPXPhantomHad believes in phantoms.
func (Catalogue) SPXPhantomHad() Mutant {
	return broken("spx/has-phantoms", "a parent that nobody has stored is had by whoever has a block below it", func(r *rules) {
		r.phantom = func(*naive, hash) bool { return false }
	}, "SPX-002/v10", "SPX-002/v11", "SPX-009/recedes", "SPX-017/phantom", "SPX-028/random")
}

// SPXPhantomStays never believes in them.
func (Catalogue) SPXPhantomStays() Mutant {
	return broken("spx/phantoms-stay", "what was a phantom once is had by nobody, whoever stores it above others", func(r *rules) {
		was := blocks{}
		r.phantom = func(n *naive, b hash) bool {
			was[b] = was[b] || n.phantoms[b]
			return was[b] && n.isParent(b)
		}
	}, "SPX-005/topology", "SPX-009/matched", "SPX-009/stored")
}

// SPXPhantomStored ends phantoms by stores alone.
func (Catalogue) SPXPhantomStored() Mutant {
	return broken("spx/phantom-not-matched", "a match does not make a block of a phantom", func(r *rules) {
		r.meet = func(n *naive, b hash) {
			was := n.phantoms[b]
			n.see(b)
			if was {
				n.phantoms[b] = true
			}
		}
	}, "SPX-009/matched")
}

// SPXOldForest takes the forest as it was at first.
func (Catalogue) SPXOldForest() Mutant {
	return broken("spx/graft-keeps-both", "after a graft the frontier above stays beside the one below", func(r *rules) {
		r.deepest = func(n *naive, d blocks) (all []hash) {
			inner := blocks{}
			for b := range d {
				if p, ok := n.parents[b].Value(); ok && !n.grafted[b] {
					inner[p] = true
				}
			}
			for b := range d {
				if !inner[b] {
					all = append(all, b)
				}
			}
			slices.Sort(all)
			return all
		}
		r.close = func(n *naive, id string, at rank) {
			for b := range n.has[id][at] {
				for _, above := range n.path(b) {
					if !n.phantoms[above] && !n.grafted[above] {
						n.has[id][at][above] = true
					}
				}
			}
		}
	}, "SPX-002/v11", "SPX-002/v5", "SPX-002/v6", "SPX-006/own", "SPX-028/random")
}

// SPXGraftOwn repairs its own claim only.
func (Catalogue) SPXGraftOwn() Mutant {
	return broken("spx/graft-is-own", "a graft gives what is above to the claim that brought it, and to no other", func(r *rules) {
		r.close = func(n *naive, id string, at rank) { n.closeOne(n.has[id][at]) }
	}, "SPX-002/v8", "SPX-006/gains", "SPX-009/matched", "SPX-010/on-faith")
}

// SPXChildOnly has what was stored, not what is above.
func (Catalogue) SPXChildOnly() Mutant {
	return broken("spx/has-no-parent", "a session has the blocks that were stored for it, and not what is above them", func(r *rules) {
		r.gains = func(_ *naive, last hash) []hash { return []hash{last} }
		r.close = func(*naive, string, rank) {}
	}, "SPX-001/chain", "SPX-011/branches", "SPX-011/interior", "SPX-011/order")
}

// SPXNoRoot knows nothing that it was not told.
func (Catalogue) SPXNoRoot() Mutant {
	return broken("spx/matches-known-only", "a match of a block that nobody has stored is dropped", func(r *rules) {
		r.meet = func(n *naive, b hash) {
			if n.knows(b) {
				n.see(b)
			}
		}
		r.gains = func(n *naive, last hash) []hash {
			if !n.knows(last) {
				return nil
			}
			return n.path(last)
		}
	}, "SPX-002/v2", "SPX-002/v21", "SPX-010/first", "SPX-025/fresh")
}

// SPXOneFrontier follows the latest.
func (Catalogue) SPXOneFrontier() Mutant {
	return broken("spx/one-frontier", "of several branches only the one with the highest hash is a frontier", func(r *rules) {
		r.deepest = func(n *naive, d blocks) []hash {
			all := n.bottom(d)
			return all[max(0, len(all)-1):]
		}
	}, "SPX-001/branches", "SPX-002/v2", "SPX-011/beside", "SPX-011/deeper-branch")
}

// SPXInterior loses only what was named.
func (Catalogue) SPXInterior() Mutant {
	return broken("spx/keeps-the-tail", "an eviction takes the blocks that it names and leaves those below", func(r *rules) {
		r.lost = func(_ *naive, b hash, removed []hash) bool { return slices.Contains(removed, b) }
	}, "SPX-008/ranks", "SPX-011/deeper-branch", "SPX-011/interior", "SPX-011/root", "SPX-028/random")
}

// SPXOrder stops at the first that it finds.
func (Catalogue) SPXOrder() Mutant {
	return broken("spx/first-of-batch", "of the blocks of an eviction only the first known one counts", func(r *rules) {
		r.lost = func(n *naive, b hash, removed []hash) bool {
			i := slices.IndexFunc(removed, n.knows)
			return i >= 0 && slices.Contains(n.path(b), removed[i])
		}
	}, "SPX-007/anchored", "SPX-011/branches", "SPX-011/order")
}

// SPXWhole drops a chain that loses a block.
func (Catalogue) SPXWhole() Mutant {
	return broken("spx/drops-chains", "a chain that loses a block is dropped as a whole", func(r *rules) {
		r.lost = func(n *naive, b hash, removed []hash) bool {
			return slices.ContainsFunc(removed, func(m hash) bool {
				return n.knows(m) && (slices.Contains(n.path(b), m) || slices.Contains(n.path(m), b))
			})
		}
	}, "SPX-011/beside", "SPX-011/branches", "SPX-011/interior", "SPX-011/order")
}

// SPXWorkerWide lets an eviction take on all ranks.
func (Catalogue) SPXWorkerWide() Mutant {
	return broken("spx/evicts-on-siblings", "an eviction on one rank counts for all ranks of its worker", func(r *rules) {
		r.evicts = func(on, at rank) bool { return on.Worker == at.Worker }
	}, "SPX-006/others", "SPX-008/ranks", "SPX-011/rank", "SPX-024/orders")
}

// SPXEverywhere lets it take everywhere.
func (Catalogue) SPXEverywhere() Mutant {
	return broken("spx/evicts-everywhere", "an eviction counts for all workers", func(r *rules) {
		r.evicts = func(_, _ rank) bool { return true }
	}, "SPX-008/ranks", "SPX-011/beside", "SPX-011/rank", "SPX-011/root", "SPX-011/unknown")
}

// SPXHitSessions counts sessions.
func (Catalogue) SPXHitSessions() Mutant {
	return broken("spx/counts-sessions", "an eviction counts the sessions that it hits, not their frontiers", func(r *rules) {
		r.hit = func(lost int) int { return min(1, lost) }
	}, "SPX-007/anchored", "SPX-011/branches")
}

// SPXChangedAlways always says so.
func (Catalogue) SPXChangedAlways() Mutant {
	return broken("spx/always-changed", "every accepted store and match answers that it has changed something", func(r *rules) {
		r.changed = func(_, _ effect) bool { return true }
	}, "SPX-005/own", "SPX-006/depth", "SPX-010/above", "SPX-010/first")
}

// SPXChangedNever never does.
func (Catalogue) SPXChangedNever() Mutant {
	return broken("spx/changed-counts", "an event has changed something if there are more frontiers than before", func(r *rules) {
		r.changed = func(before, after effect) bool { return len(after.frontiers) > len(before.frontiers) }
	}, "SPX-001/branches", "SPX-001/chain", "SPX-001/continues", "SPX-021/rank")
}

// SPXChangedForest looks at the forest, too.
func (Catalogue) SPXChangedForest() Mutant {
	return broken("spx/changed-forest", "an event that tells the forest more has changed something", func(r *rules) {
		r.changed = func(before, after effect) bool {
			return !slices.Equal(before.frontiers, after.frontiers) || before.known != after.known || before.parents != after.parents
		}
	}, "SPX-005/topology", "SPX-006/one-by-one", "SPX-009/evicted", "SPX-019/size")
}

// SPXAnchorIgnored answers everything.
func (Catalogue) SPXAnchorIgnored() Mutant {
	return broken("spx/ignores-anchors", "an anchor is ignored: all chains are answered, whole", func(r *rules) {
		r.anchored = func(path []hash, _ hash) ([]hash, bool) { return path, true }
	}, "SPX-007/anchored", "SPX-016/reads", "SPX-017/reads", "SPX-029/reads")
}

// SPXAnchorWhole filters and does not cut.
func (Catalogue) SPXAnchorWhole() Mutant {
	return broken("spx/whole-from-anchor", "chains through the anchor are answered from their roots", func(r *rules) {
		r.anchored = func(path []hash, anchor hash) ([]hash, bool) { return path, slices.Contains(path, anchor) }
	}, "SPX-007/anchored", "SPX-016/reads", "SPX-029/reads")
}

// SPXAnchorSession looks for the session first.
func (Catalogue) SPXAnchorSession() Mutant {
	return broken("spx/anchor-of-nobody", "an unknown anchor is no error where the session is unknown", func(r *rules) {
		r.anchor = func(n *naive, session string, b hash) bool { return n.has[session] == nil || n.knows(b) }
	}, "SPX-007/unknown", "SPX-025/gone", "SPX-029/reads")
}

// SPXHidesPhantoms leaves them out.
func (Catalogue) SPXHidesPhantoms() Mutant {
	return broken("spx/hides-phantoms", "lineages leave phantoms out", func(r *rules) {
		r.shown = func(n *naive, path []hash) []hash {
			return slices.DeleteFunc(slices.Clone(path), func(b hash) bool { return n.phantoms[b] })
		}
	}, "SPX-005/topology", "SPX-007/unknown", "SPX-009/evicted", "SPX-009/recedes")
}

// SPXCountsClaimed counts what somebody has.
func (Catalogue) SPXCountsClaimed() Mutant {
	return broken("spx/counts-claimed", "the size leaves out the blocks that no session has", func(r *rules) {
		r.counts = func(n *naive) sessionindex.Counts {
			had := blocks{}
			for _, ranks := range n.has {
				for _, d := range ranks {
					for b := range d {
						had[b] = true
					}
				}
			}
			return sessionindex.Counts{Blocks: len(had), Sessions: len(n.has)}
		}
	}, "SPX-011/root", "SPX-016/empty", "SPX-016/many", "SPX-024/stored")
}

// SPXResidentParent asks for a parent that the rank has.
func (Catalogue) SPXResidentParent() Mutant {
	return broken("spx/parent-on-the-rank", "a store is refused unless its parent is on the rank itself", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			if err := n.judge(s); err != nil {
				return err
			}
			p, ok := s.Parent.Value()
			for _, ranks := range n.has {
				if ranks[s.At][p] {
					return nil
				}
			}
			if ok && n.knows(p) {
				return &sessionindex.BlockError{Kind: sessionindex.ErrUnknownParent, Block: p}
			}
			return nil
		}
	}, "SPX-001/parent", "SPX-002/v1", "SPX-002/v3", "SPX-013/below-evicted")
}
