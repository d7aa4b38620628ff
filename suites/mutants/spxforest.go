package mutants

import (
	"slices"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// without makes a judge that leaves some reasons out.
func without(kinds ...error) func(*rules) {
	return func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if err != nil && slices.Contains(kinds, err.Kind) {
				return nil
			}
			return err
		}
	}
}

// SPXCycles takes a cycle.
func (Catalogue) SPXCycles() Mutant {
	return broken("spx/takes-cycles", "a root goes under its own descendant", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if _, repeats := n.repeats(s); err != nil && err.Kind == sessionindex.ErrCyclicParent && !repeats {
				return nil
			}
			return err
		}
	}, "SPX-002/v20", "SPX-002/v22", "SPX-002/v25", "SPX-002/v27")
}

// SPXRepeats takes what comes twice.
func (Catalogue) SPXRepeats() Mutant {
	return broken("spx/takes-repeats", "a block that comes twice in an event, or is its parent again, is passed over", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			if _, repeats := n.repeats(s); repeats {
				return nil
			}
			return n.judge(s)
		}
	}, "SPX-002/v16", "SPX-002/v19", "SPX-002/v23", "SPX-002/v24")
}

// SPXConflicts keeps the former parent.
func (Catalogue) SPXConflicts() Mutant {
	return broken("spx/takes-conflicts", "a block that is told under another parent keeps its own, and the rest is stored", without(sessionindex.ErrConflictingParent),
		"SPX-002/v12", "SPX-002/v21", "SPX-002/v26", "SPX-002/v28")
}

// SPXRootless takes a parentless event for a repetition.
func (Catalogue) SPXRootless() Mutant {
	return broken("spx/takes-rootless", "a chain that is told without its parent is taken for what is known", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if _, given := s.Parent.Value(); err != nil && !given && err.Kind == sessionindex.ErrConflictingParent && err.Block == s.Blocks[0] {
				return nil
			}
			return err
		}
	}, "SPX-002/v14", "SPX-004/recency", "SPX-008/forest")
}

// SPXUnknown takes any parent.
func (Catalogue) SPXUnknown() Mutant {
	return broken("spx/takes-unknown", "a parent that nobody knows is made up", without(sessionindex.ErrUnknownParent),
		"SPX-002/v9", "SPX-004/newcomer", "SPX-004/recency", "SPX-029/reads")
}

// SPXStrict takes no parent that is not known.
func (Catalogue) SPXStrict() Mutant {
	return broken("spx/never-explains", "a parent that is not known is refused although a known root explains it", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			if err := n.judge(s); err != nil {
				return err
			}
			if p, ok := s.Parent.Value(); ok && !n.knows(p) {
				return &sessionindex.BlockError{Kind: sessionindex.ErrUnknownParent, Block: p}
			}
			return nil
		}
	}, "SPX-002/v10", "SPX-002/v11", "SPX-007/unknown", "SPX-009/evicted")
}

// SPXUnknownFirst asks for the parent first.
func (Catalogue) SPXUnknownFirst() Mutant {
	return broken("spx/unknown-first", "an unknown parent is named although something else is wrong", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if p, ok := s.Parent.Value(); err != nil && ok && !n.knows(p) {
				return &sessionindex.BlockError{Kind: sessionindex.ErrUnknownParent, Block: p}
			}
			return err
		}
	}, "SPX-002/v12", "SPX-002/v13", "SPX-002/v17", "SPX-004/newcomer")
}

// SPXConflictFirst names what comes first in the event.
func (Catalogue) SPXConflictFirst() Mutant {
	return broken("spx/conflict-first", "of several reasons the conflict is named", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			if all := n.conflicts(s); len(all) > 0 {
				return &sessionindex.BlockError{Kind: sessionindex.ErrConflictingParent, Block: all[0]}
			}
			return n.judge(s)
		}
	}, "SPX-002/v16", "SPX-002/v18", "SPX-003/v24", "SPX-003/v25", "SPX-003/v27")
}

// SPXLastConflict names the last.
func (Catalogue) SPXLastConflict() Mutant {
	return broken("spx/last-conflict", "of several conflicts the last is named", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if all := n.conflicts(s); err != nil && err.Kind == sessionindex.ErrConflictingParent {
				err.Block = all[len(all)-1]
			}
			return err
		}
	}, "SPX-003/v28")
}

// SPXAnyCycle names cycles as an older version did.
func (Catalogue) SPXAnyCycle() Mutant {
	return broken("spx/any-cycle", "whatever block of an event lies above its parent is named as a cycle, the first in the event", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			if p, ok := s.Parent.Value(); ok {
				for _, b := range s.Blocks {
					if slices.Contains(n.path(p), b) {
						return &sessionindex.BlockError{Kind: sessionindex.ErrCyclicParent, Block: b}
					}
				}
			}
			return n.judge(s)
		}
	}, "SPX-003/v21", "SPX-003/v22", "SPX-003/v23", "SPX-003/v26")
}

// SPXGuesses names another block.
func (Catalogue) SPXGuesses() Mutant {
	return broken("spx/names-the-first", "a refusal names the first block of the event, whichever is wrong", func(r *rules) {
		r.refuses = func(n *naive, s sessionindex.Store) *sessionindex.BlockError {
			err := n.judge(s)
			if err != nil {
				err.Block = s.Blocks[0]
			}
			return err
		}
	}, "SPX-002/v13", "SPX-002/v15", "SPX-002/v9", "SPX-003/v23")
}

// SPXPartial keeps what it has read before it refuses.
func (Catalogue) SPXPartial() Mutant {
	return broken("spx/half-refused", "the new blocks of a refused store, and the parents of its roots, are known afterwards", func(r *rules) {
		r.refused = func(n *naive, s sessionindex.Store) {
			above := s.Parent
			for _, b := range s.Blocks {
				if !n.knows(b) {
					n.parents[b] = sessionindex.Parent{}
				}
				if p, ok := above.Value(); ok && n.isRoot(b) && n.knows(p) && !slices.Contains(n.path(p), b) {
					n.parents[b] = above
				}
				above = sessionindex.Under(b)
			}
		}
	}, "SPX-002/v19", "SPX-002/v24", "SPX-002/v25", "SPX-002/v26")
}

// SPXShort loses the end.
func (Catalogue) SPXShort() Mutant {
	return broken("spx/one-short", "of a chain of several blocks the last is not stored", func(r *rules) {
		r.plant = func(n *naive, p sessionindex.Parent, chain []hash) { n.grow(p, chain[:max(1, len(chain)-1)]) }
		r.gains = func(n *naive, last hash) []hash {
			if n.knows(last) {
				return n.path(last)
			}
			return nil
		}
	}, "SPX-001/chain", "SPX-001/continues", "SPX-011/beside", "SPX-011/deeper-branch")
}

// SPXNoGraft leaves roots where they are.
func (Catalogue) SPXNoGraft() Mutant {
	return broken("spx/never-grafts", "a root stays one, whatever a store says is above it", func(r *rules) {
		r.plant = func(n *naive, p sessionindex.Parent, chain []hash) {
			roots := blocks{}
			for _, b := range chain {
				roots[b] = n.isRoot(b)
			}
			n.grow(p, chain)
			for b, was := range roots {
				if was {
					n.parents[b] = sessionindex.Parent{}
				}
			}
		}
	}, "SPX-002/v10", "SPX-002/v5", "SPX-006/own", "SPX-007/unknown")
}

// SPXStepchild takes a root with children for one without.
func (Catalogue) SPXStepchild() Mutant {
	return broken("spx/grafts-leaves-only", "a root that has children stays one", func(r *rules) {
		r.plant = func(n *naive, p sessionindex.Parent, chain []hash) {
			deep := blocks{}
			for _, b := range chain {
				deep[b] = n.isRoot(b) && n.isParent(b)
			}
			n.grow(p, chain)
			for b, was := range deep {
				if was {
					n.parents[b] = sessionindex.Parent{}
				}
			}
		}
	}, "SPX-002/v6", "SPX-002/v7", "SPX-005/others", "SPX-006/own")
}

// SPXPrivate has a forest for each worker.
func (Catalogue) SPXPrivate() Mutant {
	return index("spx/forest-of-a-worker", "each worker has a forest of its own", perWorker,
		"SPX-002/v1", "SPX-002/v2", "SPX-002/v20", "SPX-002/v4")
}
