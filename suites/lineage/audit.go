package lineage

import (
	"fmt"
	"maps"
	"slices"
)

// Audit says in which way a dump contradicts itself, "" if in none: what must hold in
// every index after every operation, whatever was asked. Limit is how many sessions may
// be held.
func Audit(s *State, limit int) string {
	known := map[string]Known{}
	parents := map[string]bool{}
	for _, b := range s.Blocks {
		if _, twice := known[b.Block]; twice {
			return fmt.Sprintf("block %s is there twice", Short(b.Block))
		}
		known[b.Block] = b
		parents[b.Parent] = true
	}
	for _, b := range s.Blocks {
		if _, ok := known[b.Parent]; b.Parent != "" && !ok {
			return fmt.Sprintf("block %s is under %s, which is not there", Short(b.Block), Short(b.Parent))
		}
		if b.Phantom && b.Parent != "" {
			return fmt.Sprintf("phantom %s has a parent, which only a store can have told", Short(b.Block))
		}
	}
	above := func(block string) (path []string) { // nil in a cycle
		for at := block; at != ""; at = known[at].Parent {
			if len(path) > len(known) {
				return nil
			}
			path = append(path, at)
		}
		return path
	}
	for _, block := range slices.Sorted(maps.Keys(known)) {
		if above(block) == nil {
			return fmt.Sprintf("block %s is its own ancestor", Short(block))
		}
	}
	if len(s.Sessions) > limit {
		return fmt.Sprintf("%d sessions are held, and %d is the limit", len(s.Sessions), limit)
	}
	seen := map[string]bool{}
	for _, x := range s.Sessions {
		switch {
		case seen[x.Session]:
			return fmt.Sprintf("session %s is there twice", ID(x.Session))
		case len(x.Frontiers) == 0:
			return fmt.Sprintf("session %s is there without a frontier", ID(x.Session))
		case len(x.Session) > MaxSessionBytes:
			return fmt.Sprintf("session %s is there", ID(x.Session))
		}
		seen[x.Session] = true
		if problem := antichain(x, known, above); problem != "" {
			return problem
		}
	}
	return ""
}

// antichain checks the frontiers of a session.
func antichain(x HeldSession, known map[string]Known, above func(string) []string) string {
	ranks := map[string][]string{}
	for _, f := range x.Frontiers {
		b, ok := known[f.Block]
		switch {
		case !ok:
			return fmt.Sprintf("session %s has frontier %s, a block that is not there", ID(x.Session), f)
		case b.Phantom:
			return fmt.Sprintf("session %s has frontier %s, a phantom", ID(x.Session), f)
		case slices.Contains(ranks[f.At.String()], f.Block):
			return fmt.Sprintf("session %s has frontier %s twice", ID(x.Session), f)
		}
		ranks[f.At.String()] = append(ranks[f.At.String()], f.Block)
	}
	for _, at := range slices.Sorted(maps.Keys(ranks)) {
		for _, deep := range ranks[at] {
			for _, high := range above(deep)[1:] {
				if slices.Contains(ranks[at], high) {
					return fmt.Sprintf("session %s has frontiers %s and %s on %s, one above the other", ID(x.Session), Short(high), Short(deep), at)
				}
			}
		}
	}
	return ""
}
