package component

// The component that follows how far sessions' chains of KV blocks reach on worker
// ranks, and its operations.
const (
	SessionIndexComponent = "sessionindex"

	OpStore     = "store"
	OpMatch     = "match"
	OpRemove    = "remove"
	OpClear     = "clear"
	OpFrontiers = "frontiers"
	OpLineages  = "lineages"
	OpSize      = "size"
	OpDump      = "dump"

	// Behind ClaimLifecycle.
	OpRegister     = "register"
	OpWorkerRemove = "worker.remove"

	// Behind ClaimAdmission.
	OpStoreAdmit  = "store.admit"
	OpStoreApply  = "store.apply"
	OpMatchAdmit  = "match.admit"
	OpMatchApply  = "match.apply"
	OpRemoveBegin = "remove.begin"
	OpRemoveAwait = "remove.await"

	// Behind ClaimPhysical, and ClaimBarrier.
	OpPhysicalSet  = "physical.set"
	OpPhysicalFail = "physical.fail"
	OpFlush        = "flush"
)

// SessionIndexConfig shapes an instance. Absent values are the library's own.
type SessionIndexConfig struct {
	Sessions  *int   `json:"sessions,omitempty"`  // at most so many
	Retention *int64 `json:"retention,omitempty"` // milliseconds
}

// StoreArgs are those of OpStore and OpStoreAdmit. Blocks are 16 hexadecimal digits.
type StoreArgs struct {
	Instance    string   `json:"instance"`
	Session     string   `json:"session"`
	Worker      string   `json:"worker"`
	Rank        uint32   `json:"rank"`
	Incarnation string   `json:"incarnation,omitempty"`
	Parent      string   `json:"parent,omitempty"` // empty: the chain begins at a root
	Blocks      []string `json:"blocks"`
}

// MatchArgs are those of OpMatch and OpMatchAdmit.
type MatchArgs struct {
	Instance    string `json:"instance"`
	Session     string `json:"session"`
	Worker      string `json:"worker"`
	Rank        uint32 `json:"rank"`
	Incarnation string `json:"incarnation,omitempty"`
	Block       string `json:"block"`
}

// RankArgs are those of OpRemove, OpClear and OpPhysicalSet.
type RankArgs struct {
	Instance string    `json:"instance"`
	Worker   string    `json:"worker"`
	Rank     uint32    `json:"rank"`
	Blocks   *[]string `json:"blocks,omitempty"` // nil of OpClear alone
}

// MemberArgs are those of OpRegister, OpWorkerRemove and OpRemoveBegin. Without a rank
// all of the worker's are meant.
type MemberArgs struct {
	Instance    string  `json:"instance"`
	Worker      string  `json:"worker"`
	Rank        *uint32 `json:"rank,omitempty"`
	Incarnation string  `json:"incarnation,omitempty"` // of OpRegister alone
}

// FrontiersArgs are those of OpFrontiers.
type FrontiersArgs struct {
	Instance string `json:"instance"`
	Session  string `json:"session"`
}

// LineagesArgs are those of OpLineages.
type LineagesArgs struct {
	Instance string `json:"instance"`
	Session  string `json:"session"`
	Worker   string `json:"worker"`
	Rank     uint32 `json:"rank"`
	Anchor   string `json:"anchor,omitempty"` // empty: none
}

// TokenArgs are those of the operations that finish what another has begun.
type TokenArgs struct {
	Token string `json:"token"`
}

// FailArgs are those of OpPhysicalFail.
type FailArgs struct {
	Instance  string `json:"instance"`
	Barrier   bool   `json:"barrier"`
	LowerTier bool   `json:"lowerTier"`
}

// Applied is the result of a store or a match.
type Applied struct {
	Changed   bool `json:"changed"`
	Discarded bool `json:"discarded,omitempty"`
}

// Hit is the result of OpRemove.
type Hit struct {
	Hit int `json:"hit"`
}

// Dropped is the result of OpClear, OpWorkerRemove and OpRemoveAwait.
type Dropped struct {
	Dropped int `json:"dropped"`
}

// Token is the result of what takes an event in, or begins a removal.
type Token struct {
	Token string `json:"token"`
}

// Frontier is the deepest block of one of a session's chains on a rank.
type Frontier struct {
	Worker string `json:"worker"`
	Rank   uint32 `json:"rank"`
	Block  string `json:"block"`
}

// Frontiers is the result of OpFrontiers, in any order.
type Frontiers struct {
	Frontiers []Frontier `json:"frontiers"`
}

// Lineages is the result of OpLineages: chains from the root, or the anchor, down, in
// any order.
type Lineages struct {
	Chains [][]string `json:"chains"`
}

// Size is the result of OpSize.
type Size struct {
	Blocks    int  `json:"blocks"`
	Sessions  int  `json:"sessions"`
	Discarded *int `json:"discarded,omitempty"` // nil without ClaimLifecycle
}

// Dump is the result of OpDump.
type Dump struct {
	Blocks   []DumpedBlock   `json:"blocks"`   // in any order
	Sessions []DumpedSession `json:"sessions"` // the least recently used first
}

// DumpedBlock is a known block.
type DumpedBlock struct {
	Block   string `json:"block"`
	Parent  string `json:"parent,omitempty"`
	Phantom bool   `json:"phantom,omitempty"`
}

// DumpedSession is a session with what it has, on all ranks.
type DumpedSession struct {
	Session   string     `json:"session"`
	Frontiers []Frontier `json:"frontiers"`
}
