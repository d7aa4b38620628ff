// Package sessionindex knows, for each session and each worker rank, how far the
// session's chains of KV blocks reach there. It is the logical side of prefix
// caching: it follows what was stored, matched and removed, and never asks an engine.
//
// Blocks form one forest that all sessions and workers share. What a session has on a
// rank is a set of blocks that is closed under parent, and the index keeps only its
// deepest blocks, the frontiers: no frontier is an ancestor of another.
//
// Core is pure: it has no clock, no lock and no goroutine. Times come in as
// arguments.
package sessionindex

import (
	"errors"
	"fmt"
	"strconv"
)

// MaxSessionBytes is the limit of a session id, in bytes. What comes under a longer
// one is ignored.
const MaxSessionBytes = 256

// Hash identifies a block together with all that precedes it: the engine's sequence
// hash, opaque here. In text it is 16 hexadecimal digits.
type Hash uint64

// String returns the 16 digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It takes exactly 16 digits.
func (h *Hash) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 || text[0] == '+' {
		return fmt.Errorf("block hash %q is not 16 hexadecimal digits: pad it with zeros on the left", text)
	}
	*h = Hash(n)
	return nil
}

// WorkerRank is where blocks reside: one data-parallel rank of a worker. Rank 0 is a
// rank like any other.
type WorkerRank struct {
	Worker string `json:"worker"`
	Rank   uint32 `json:"rank"`
}

// String returns a description for messages.
func (w WorkerRank) String() string { return fmt.Sprintf("%q rank %d", w.Worker, w.Rank) }

// Parent is the block that a chain continues. The zero value is none: the chain
// begins at a root.
type Parent struct {
	hash  Hash
	given bool
}

// Under returns the parent with this hash.
func Under(h Hash) Parent { return Parent{h, true} }

// Value returns the parent's hash; ok is false if there is none.
func (p Parent) Value() (h Hash, ok bool) { return p.hash, p.given }

// Store says that a rank has stored a chain of blocks for a session.
type Store struct {
	Session string
	At      WorkerRank
	Parent  Parent // of Blocks[0]
	Blocks  []Hash // each the parent of the next; not kept by the index
	// Incarnation is the rank's where the event was observed; see Index. Core does not
	// look at it.
	Incarnation string
}

// Match says that a request of a session met a block on a rank.
type Match struct {
	Session string
	At      WorkerRank
	Block   Hash
	// Incarnation is as in Store.
	Incarnation string
}

// Why a store is refused, in the order in which the reasons are looked for; and why a
// question about lineage is.
var (
	ErrCyclicParent      = errors.New("cyclic parent")
	ErrConflictingParent = errors.New("conflicting parent")
	ErrUnknownParent     = errors.New("unknown parent")
	ErrUnknownAnchor     = errors.New("unknown anchor")
)

// BlockError is why a call was refused, and the block that is at fault. It unwraps to
// one of the errors above.
type BlockError struct {
	Kind  error
	Block Hash
}

// Unwrap returns the kind.
func (e *BlockError) Unwrap() error { return e.Kind }

// Error names the block and what to do.
func (e *BlockError) Error() string {
	remedy := map[error]string{
		ErrCyclicParent:      "it would be its own ancestor: send each block of a chain once, root first",
		ErrConflictingParent: "it is known under another parent: a hash must name one prefix only",
		ErrUnknownParent:     "no block has this hash: send the chain from a block that is known, or from its root",
		ErrUnknownAnchor:     "no block has this hash: ask for a block that was stored or matched",
	}[e.Kind]
	return fmt.Sprintf("%v: block %v: %s", e.Kind, e.Block, remedy)
}
