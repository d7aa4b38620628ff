package sessionindex

import (
	"cmp"
	"slices"
	"time"
)

// State is all that an index holds, in one order only: two indexes that no call can tell
// apart, now or later, have equal states and equal JSON.
type State struct {
	Blocks   []BlockState   `json:"blocks"`   // by hash
	Sessions []SessionState `json:"sessions"` // the least recently used first
}

// BlockState is one known block.
type BlockState struct {
	Hash      Hash           `json:"hash"`
	Parent    *Hash          `json:"parent,omitempty"`
	Phantom   bool           `json:"phantom,omitempty"`    // known only as somebody's parent
	IdleSince *time.Duration `json:"idle_since,omitempty"` // ns; since when it is no frontier and has no child
}

// SessionState is one session.
type SessionState struct {
	ID        string     `json:"id"`
	Frontiers []Frontier `json:"frontiers"` // by worker, rank and hash; never empty
}

// Dump returns the state. It is no write and refreshes nothing.
func (c *Core) Dump() State {
	s := State{Blocks: make([]BlockState, 0, len(c.byHash)), Sessions: make([]SessionState, 0, len(c.byID))}
	for h, n := range c.byHash {
		nd := c.nodes.at(n)
		b := BlockState{Hash: h, Phantom: nd.phantom}
		if nd.parent != 0 {
			parent := c.nodes.at(nd.parent).hash
			b.Parent = &parent
		}
		if nd.idle {
			since := nd.idleSince
			b.IdleSince = &since
		}
		s.Blocks = append(s.Blocks, b)
	}
	slices.SortFunc(s.Blocks, func(a, b BlockState) int { return cmp.Compare(a.Hash, b.Hash) })
	for id := c.byUse.first; id != 0; id = c.sessions.at(id).byUse.next {
		name := c.sessions.at(id).id
		s.Sessions = append(s.Sessions, SessionState{name, c.Frontiers(name)})
	}
	return s
}
