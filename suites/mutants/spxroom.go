package mutants

import (
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// SPXCharacters counts characters.
func (Catalogue) SPXCharacters() Mutant {
	return broken("spx/counts-characters", "session ids of up to 256 characters count, whatever their bytes", func(r *rules) {
		r.session = func(id string) (string, bool) { return id, len([]rune(id)) <= sessionindex.MaxSessionBytes }
	}, "SPX-014/bytes")
}

// SPXLong cuts ids.
func (Catalogue) SPXLong() Mutant {
	return broken("spx/cuts-ids", "a session id that is too long is cut", func(r *rules) {
		r.session = func(id string) (string, bool) { return id[:min(len(id), sessionindex.MaxSessionBytes)], true }
	}, "SPX-014/bytes", "SPX-014/ignored")
}

// SPXShortIDs stops one byte early.
func (Catalogue) SPXShortIDs() Mutant {
	return broken("spx/255-bytes", "session ids of 256 bytes are ignored", func(r *rules) {
		r.session = func(id string) (string, bool) { return id, len(id) < sessionindex.MaxSessionBytes }
	}, "SPX-014/bytes")
}

// SPXNoEmptyID takes the empty id for none.
func (Catalogue) SPXNoEmptyID() Mutant {
	return broken("spx/no-empty-id", "the empty session id is ignored", func(r *rules) {
		r.session = func(id string) (string, bool) { return id, id != "" && len(id) <= sessionindex.MaxSessionBytes }
	}, "SPX-008/names", "SPX-014/empty-id")
}

// SPXFolds compares ids without case.
func (Catalogue) SPXFolds() Mutant {
	return broken("spx/folds-ids", "session ids are trimmed and compared without regard to case", func(r *rules) {
		r.session = func(id string) (string, bool) {
			return strings.ToLower(strings.TrimSpace(id)), len(id) <= sessionindex.MaxSessionBytes
		}
	}, "SPX-008/names", "SPX-014/ignored", "SPX-015/empty", "SPX-020/no-trace")
}

// SPXReadsUse refreshes whom it looks at.
func (Catalogue) SPXReadsUse() Mutant {
	return broken("spx/reads-are-use", "who is asked for counts as used", func(r *rules) {
		r.uses = func(event string) bool { return event == "read" || right.uses(event) }
	}, "SPX-004/no-trace", "SPX-016/evictions", "SPX-016/reads", "SPX-028/random", "SPX-029/reads")
}

// SPXEvictionsUse refreshes whom it hits.
func (Catalogue) SPXEvictionsUse() Mutant {
	return broken("spx/evictions-are-use", "a session that loses a block counts as used", func(r *rules) {
		r.uses = func(event string) bool { return event == "evicted" || right.uses(event) }
	}, "SPX-016/evictions")
}

// SPXRefusedUse refreshes whom it refuses.
func (Catalogue) SPXRefusedUse() Mutant {
	return broken("spx/refusals-are-use", "a session whose store is refused counts as used", func(r *rules) {
		r.uses = func(event string) bool { return event == "refused" || right.uses(event) }
	}, "SPX-004/no-trace", "SPX-004/recency", "SPX-029/reads")
}

// SPXUnchangedNoUse refreshes by changes alone.
func (Catalogue) SPXUnchangedNoUse() Mutant {
	return broken("spx/unchanged-is-no-use", "a match or a store that changes nothing is no use of its session", func(r *rules) {
		r.uses = func(event string) bool { return event == "accepted" }
	}, "SPX-016/oldest")
}

// SPXNewestGoes takes the wrong one.
func (Catalogue) SPXNewestGoes() Mutant {
	return broken("spx/newest-goes", "the session that was used last before the new one goes", func(r *rules) {
		r.room = func(n *naive, _ rank) {
			victim := n.used[max(0, len(n.used)-2)]
			delete(n.has, victim)
			n.used = slices.DeleteFunc(n.used, func(s string) bool { return s == victim })
		}
	}, "SPX-015/empty", "SPX-016/many", "SPX-016/oldest", "SPX-016/reads")
}

// SPXVictimRank leaves the victim's other ranks.
func (Catalogue) SPXVictimRank() Mutant {
	return broken("spx/victim-of-a-rank", "the session that goes loses what it has on the rank at hand, and elsewhere only if it has nothing there", func(r *rules) {
		r.room = func(n *naive, at rank) {
			for _, id := range n.used {
				if n.has[id][at] != nil {
					delete(n.has[id], at)
					n.used = slices.DeleteFunc(n.used, func(s string) bool { return s == id })
					if len(n.has[id]) == 0 {
						delete(n.has, id)
					}
					return
				}
			}
			right.room(n, at)
		}
	}, "SPX-016/evictions", "SPX-016/oldest", "SPX-016/one", "SPX-016/reads")
}

// SPXOneMore has room for one more.
func (Catalogue) SPXOneMore() Mutant {
	return index("spx/one-more", "one session more than the limit is held", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		if cfg.Sessions > 0 {
			cfg.Sessions++
		}
		return sessionindex.NewIndex(cfg, clock, physical)
	}, "SPX-015/empty", "SPX-016/many", "SPX-016/one", "SPX-016/reads")
}

// SPXLeastOfOne cannot be small.
func (Catalogue) SPXLeastOfOne() Mutant {
	return index("spx/refuses-small", "limits and times that are small, and can be, are refused", func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		if cfg.Sessions == 1 || cfg.Retention > 0 && cfg.Retention < time.Second {
			return nil, errSmall
		}
		return sessionindex.NewIndex(cfg, clock, physical)
	}, "SPX-016/one", "SPX-018/settings")
}

// SPXEarly forgets too early.
func (Catalogue) SPXEarly() Mutant {
	return broken("spx/forgets-early", "blocks without use are forgotten a millisecond early", func(r *rules) {
		r.due = func(idle, keeps time.Duration) bool { return idle >= keeps-time.Millisecond }
	}, "SPX-017/edge", "SPX-017/parent", "SPX-017/phantom", "SPX-017/restarts", "SPX-030/retention")
}

// SPXLate forgets too late.
func (Catalogue) SPXLate() Mutant {
	return broken("spx/forgets-late", "a block whose retention time has passed at exactly this moment is still known", func(r *rules) {
		r.due = func(idle, keeps time.Duration) bool { return idle > keeps }
	}, "SPX-017/places", "SPX-017/reads", "SPX-017/unwinds", "SPX-028/random", "SPX-030/retention")
}

// SPXNever forgets nothing.
func (Catalogue) SPXNever() Mutant {
	return broken("spx/never-forgets", "blocks without use are never forgotten", func(r *rules) {
		r.due = func(time.Duration, time.Duration) bool { return false }
	}, "SPX-017/places", "SPX-017/reads", "SPX-017/unwinds", "SPX-030/retention")
}

// SPXAtOnce forgets at once.
func (Catalogue) SPXAtOnce() Mutant {
	return broken("spx/forgets-at-once", "a block without use is forgotten at once", func(r *rules) {
		r.due = func(time.Duration, time.Duration) bool { return true }
	}, "SPX-011/root", "SPX-016/empty", "SPX-016/many", "SPX-024/stored")
}

// SPXAncestor cuts too far.
func (Catalogue) SPXAncestor() Mutant {
	return broken("spx/forgets-shared", "what is forgotten takes along the blocks above it that others are below", func(r *rules) {
		r.forget = func(n *naive, b hash, held blocks) {
			for _, above := range n.path(b) {
				if held[above] {
					return
				}
				n.drop(above)
			}
		}
	}, "SPX-017/unwinds")
}

// SPXOneByOne forgets a block at a time.
func (Catalogue) SPXOneByOne() Mutant {
	return broken("spx/forgets-one-by-one", "a block that is freed by another's end has a retention time of its own", func(r *rules) {
		r.forget = func(n *naive, b hash, _ blocks) { n.drop(b) }
	}, "SPX-017/again", "SPX-017/places", "SPX-017/unwinds", "SPX-030/retention")
}

// SPXFrontierDies forgets what is in use.
func (Catalogue) SPXFrontierDies() Mutant {
	return broken("spx/forgets-frontiers", "a dead end takes along the frontier of another session that it hangs from", func(r *rules) {
		r.forget = func(n *naive, b hash, _ blocks) {
			for _, above := range n.path(b) {
				if n.isParent(above) {
					return
				}
				n.drop(above)
				for _, ranks := range n.has {
					for _, d := range ranks {
						delete(d, above)
					}
				}
			}
		}
	}, "SPX-017/edge", "SPX-017/reads", "SPX-017/restarts", "SPX-017/unwinds")
}

// SPXFirstIdle counts from the first time.
func (Catalogue) SPXFirstIdle() Mutant {
	return broken("spx/first-idle", "the time of a block without use counts from the first time that it had none", func(r *rules) {
		r.wakes = func(*naive, hash) {}
	}, "SPX-017/restarts")
}

// SPXReadsKeep keeps what is asked for.
func (Catalogue) SPXReadsKeep() Mutant {
	return broken("spx/reads-keep", "a block that is asked for has all its time again", func(r *rules) {
		r.anchor = func(n *naive, _ string, b hash) bool { delete(n.idle, b); return n.knows(b) }
	}, "SPX-017/edge", "SPX-017/reads")
}

// SPXGhosts remembers parents.
func (Catalogue) SPXGhosts() Mutant {
	return broken("spx/ghost-parents", "a block that was forgotten comes back under its former parent", func(r *rules) {
		ghosts := map[hash]sessionindex.Parent{}
		r.forget = func(n *naive, b hash, held blocks) {
			for _, above := range n.path(b) {
				ghosts[above] = n.parents[above]
			}
			n.unwind(b, held)
		}
		r.plant = func(n *naive, p sessionindex.Parent, chain []hash) {
			fresh := blocks{}
			for _, b := range chain {
				fresh[b] = !n.knows(b)
			}
			n.grow(p, chain)
			for _, b := range chain {
				was := ghosts[b]
				if above, ok := was.Value(); ok && fresh[b] && n.knows(above) && !slices.Contains(n.path(above), b) {
					n.parents[b] = was
				}
			}
		}
	}, "SPX-017/again")
}

// SPXAliases confuses places.
func (Catalogue) SPXAliases() Mutant {
	return broken("spx/aliases", "a question about a block that was forgotten finds whichever took its place", func(r *rules) {
		place, there := map[hash]int{}, map[int]hash{} // of all that ever were; of those that are
		settle := func(n *naive, chain ...hash) {
			for at, b := range there {
				if !n.knows(b) {
					delete(there, at)
				}
			}
			for _, b := range chain {
				at, had := place[b]
				for had = had && there[at] == b; !had; at++ {
					if _, taken := there[at]; !taken {
						place[b], there[at], had = at, b, true
					}
				}
			}
		}
		r.plant = func(n *naive, p sessionindex.Parent, chain []hash) {
			settle(n)
			n.grow(p, chain)
			settle(n, chain...)
		}
		asked := hash(0)
		r.anchor = func(n *naive, _ string, b hash) bool {
			settle(n)
			asked = b
			if at, was := place[b]; was && !n.knows(b) {
				asked = there[at]
			}
			return n.knows(asked)
		}
		r.anchored = func(path []hash, _ hash) ([]hash, bool) { return cut(path, asked) }
	}, "SPX-017/places")
}

// SPXEmptyPlaces keeps places.
func (Catalogue) SPXEmptyPlaces() Mutant {
	return index("spx/empty-takes-place", "a session that has lost all takes its place until it is the oldest", emptyPlaces,
		"SPX-015/empty", "SPX-016/empty")
}
