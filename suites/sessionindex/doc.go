// Package sessionindex holds the cases of area SPX: how far the chains of sessions' KV
// blocks reach on worker ranks, as a library answers it. Each case states what it expects
// by hand; suites/lineage/model says the same by rule, and a test holds the two together.
package sessionindex

import (
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
)

// Cases are the area's.
type Cases struct{}

// Three worker ranks, two of them of one worker.
var (
	w1  = script.On("w1", 0)
	w1b = script.On("w1", 1)
	w2  = script.On("w2", 0)
)

// Blocks. In most cases a is above b above c, s above t, and x and y come later.
var (
	a, b, c, d = lineage.B(0xa), lineage.B(0xb), lineage.B(0xc), lineage.B(0xd)
	r, s, t    = lineage.B(0x1a), lineage.B(0x2a), lineage.B(0x2b)
	x, y       = lineage.B(0x3a), lineage.B(1<<64 - 1)
	unknown    = lineage.B(1 << 63)
)

// Short names for what may be answered.
var (
	changed, unchanged, discarded = lineage.Changed, lineage.Unchanged, lineage.Discarded
	refused, anyCount, done       = lineage.Refused, lineage.AnyCount, lineage.Done
	nothing, noChain              = lineage.Reaches(), lineage.Chains()
	counts, sized, chains         = lineage.Counts, lineage.Sized, lineage.Chains
	reaches, at                   = lineage.Reaches, lineage.F
	cyclic                        = failsAt(lineage.CyclicParent)
	conflicting                   = failsAt(lineage.ConflictingParent)
	unknownParent                 = failsAt(lineage.UnknownParent)
	unknownAnchor                 = failsAt(lineage.UnknownAnchor)
	unavailable                   = lineage.Fails(lineage.Unavailable)
)

func failsAt(kind string) func(block string) lineage.Answer {
	return func(block string) lineage.Answer { return lineage.FailsAt(kind, block) }
}

// talk begins a conversation with an index of the library's own settings.
func talk() *lineage.Script { return &lineage.Script{} }

// talkTo begins a conversation with an index of other settings.
func talkTo(c lineage.Config) *lineage.Script { return &lineage.Script{Config: c} }

func chain(blocks ...string) []string { return blocks }
