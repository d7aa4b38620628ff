package sessionindex

import "context"

// Indexer is a session index as its callers see it: the core behind admission,
// lifecycle and lanes. Index is the reference's. Its methods may be called by many
// goroutines at once.
type Indexer interface {
	// Register opens an incarnation of a worker, or of one of its ranks; a former one
	// that is open is removed first.
	Register(ctx context.Context, m Member, incarnation string) error
	// AdmitStore and AdmitMatch take an event in. It is as new as this moment,
	// whenever it is applied.
	AdmitStore(s Store) Ticket
	AdmitMatch(m Match) Ticket
	// Remove says that the rank has evicted blocks; see Core.Remove.
	Remove(ctx context.Context, at WorkerRank, blocks []Hash) (hit int, err error)
	// Clear says that the rank has cleared its cache: all claims on it end, and what was
	// admitted before is discarded. Its incarnation stays open. An error of the lower
	// tiers does not keep the claims.
	Clear(ctx context.Context, at WorkerRank) (dropped int, err error)
	// BeginRemoval retires the incarnation of a worker, or of one of its ranks, at once.
	BeginRemoval(m Member) Removal
	// Flush returns when all that was taken in before has taken effect; an error says
	// that this is not known.
	Flush(ctx context.Context) error
	// Tick reclaims what is due.
	Tick()

	Frontiers(session string) []Frontier
	Lineages(session string, at WorkerRank) [][]Hash
	LineagesFrom(session string, at WorkerRank, anchor Hash) ([][]Hash, error)
	Counts() Counts
	Dump() State
	Steps() uint64
}

// Member is a worker, or one of its data-parallel ranks.
type Member struct {
	Worker string
	Rank   *uint32 // nil: all of them
}

// Result is what an applied event has done.
type Result struct {
	Changed   bool // the session's own frontiers on that rank are others than before
	Discarded bool // it came too late, or from nobody who is registered, and did nothing
}

// Ticket is an admitted store or match. Apply lets it take effect, once; it is discarded
// if its incarnation is not, or no longer, the rank's open one, if the rank was cleared
// since, or, for a match, if the block may have gone since and the physical index does
// not say that it is there. Errors are *BlockError, or the context's.
type Ticket struct{ Grip TicketGrip }

// TicketGrip is how a ticket is made.
type TicketGrip interface {
	Apply(context.Context) (Result, error)
}

// Apply lets the event take effect.
func (t Ticket) Apply(ctx context.Context) (Result, error) { return t.Grip.Apply(ctx) }

// Removal is one that has begun. Await returns once all claims are gone, and how many
// frontiers that were; an error says that this is not known, and Await may be called
// again.
type Removal struct{ Grip RemovalGrip }

// RemovalGrip is how a removal is made.
type RemovalGrip interface {
	Await(context.Context) (dropped int, err error)
}

// Await returns once all claims are gone.
func (r Removal) Await(ctx context.Context) (dropped int, err error) { return r.Grip.Await(ctx) }

// Physical is what the index needs of the physical index: which worker rank holds which
// block. Its methods may be called by many goroutines at once.
type Physical interface {
	// Holds says whether the rank holds the block now.
	Holds(ctx context.Context, at WorkerRank, block Hash) (bool, error)
	// Barrier returns when everything that the physical index had taken in for these
	// ranks has run.
	Barrier(ctx context.Context, at ...WorkerRank) error
	// ClearLowerTiers drops what the rank holds below the device. A failure does not
	// keep the sessions' claims.
	ClearLowerTiers(ctx context.Context, at WorkerRank) error
}
