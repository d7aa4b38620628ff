package sessionindex

import "context"

// Indexer is a session index as its callers see it: the core behind admission,
// lifecycle and removal. Index is the reference's. Its methods may be called by many
// goroutines at once.
type Indexer interface {
	// Register opens an incarnation of a worker, or of one of its ranks, whose name was
	// never used for that worker before. A former one that is open is removed first; an
	// error of that removal leaves nothing open, and Register may be called again.
	Register(ctx context.Context, m Member, incarnation string) error
	// AdmitStore and AdmitMatch take an event in. It is as new as this moment,
	// whenever it is applied. A store's blocks must stay as they are until then.
	AdmitStore(s Store) Ticket
	AdmitMatch(m Match) Ticket
	// Remove says that the rank has evicted blocks; see Core.Remove. Only the end of the
	// context is an error: before the call, and then nothing was evicted, or while it waits
	// behind what was taken in before, and then the eviction takes effect all the same.
	Remove(ctx context.Context, at WorkerRank, blocks []Hash) (hit int, err error)
	// Clear says that the rank has cleared its cache: all claims on it end, and stores
	// that were admitted before are discarded. Its incarnation stays open. The claims
	// have ended even where an error of the lower tiers is returned; where the context's is,
	// they have ended or end when what was taken in before has taken effect.
	Clear(ctx context.Context, at WorkerRank) (dropped int, err error)
	// BeginRemoval retires the incarnation of a worker, or of one of its ranks, at once.
	BeginRemoval(m Member) Removal
	// Flush returns when all that was taken in before has taken effect; an error says
	// that this is not known. What a ticket holds takes effect with the ticket.
	Flush(ctx context.Context) error
	// Tick reclaims what is due.
	Tick()

	Frontiers(session string) []Frontier
	Lineages(session string, at WorkerRank) [][]Hash
	LineagesFrom(session string, at WorkerRank, anchor Hash) ([][]Hash, error)
	Counts() Counts
	// Discarded is how many stores and matches were discarded so far.
	Discarded() uint64
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

// Ticket is an admitted store or match. Apply lets it take effect, once. A ticket that is
// never applied costs nothing once it is forgotten.
type Ticket struct {
	Grip TicketGrip
	Gen  uint64 // for the grip, which may serve one ticket after another
}

// TicketGrip is how a ticket is made.
type TicketGrip interface {
	Apply(ctx context.Context, gen uint64) (Result, error)
}

// Apply lets the event take effect. It is discarded if its incarnation was not, or is no
// longer, the rank's open one; a store also if the rank was cleared since, and a match
// if blocks have gone from the rank since and the physical index does not say that the
// rank holds this one now.
//
// Errors: *BlockError; ErrApplied if Apply was called before; or the context's, if that
// has ended before, and then the ticket may be applied again.
func (t Ticket) Apply(ctx context.Context) (Result, error) { return t.Grip.Apply(ctx, t.Gen) }

// Removal is one that has begun: nothing that was admitted before can come back, and
// what the next incarnation stores stays.
type Removal struct{ Grip RemovalGrip }

// RemovalGrip is how a removal is made.
type RemovalGrip interface {
	Await(context.Context) (dropped int, err error)
}

// Await returns once all claims are gone and the physical index has caught up, and how
// many frontiers that were. An error says that this is not known: Await may be called
// again, or the member removed again.
func (r Removal) Await(ctx context.Context) (dropped int, err error) { return r.Grip.Await(ctx) }

// Physical is what the index needs of the physical index: which worker rank holds which
// block. Its methods may be called by many goroutines at once.
type Physical interface {
	// Holds says whether the rank holds the block now: when all has run that was taken in
	// for the rank before this call. An error is no yes.
	Holds(ctx context.Context, at WorkerRank, block Hash) (bool, error)
	// Barrier returns when everything has run that the physical index had taken in for
	// these members, or for everybody if none is named.
	Barrier(ctx context.Context, members ...Member) error
	// ClearLowerTiers drops what the member holds below the device.
	ClearLowerTiers(ctx context.Context, m Member) error
}
