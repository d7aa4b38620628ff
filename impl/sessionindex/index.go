package sessionindex

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Index is the session index of one router process.
//
// Two locks: one of the core, held for one call of it, and one of the lifecycle, held
// for a look. Admission takes the latter only, so it never waits for a slow write.
// Whoever ends claims raises the version and ends them under the core's lock, and an
// event is judged and applied under the core's lock: so it is either applied before and
// ends with the others, or judged after and found too late.
//
// Reads take the core's lock, too: they may tidy what a graft has left, and are so short
// that a lock for many readers gained nothing (BenchmarkReadsBesideWrites, two cores).
//
// There are two ways in. Who applies a ticket waits for it; who enqueues an event does not:
// each rank has a lane, in which its events wait and take effect in their order, and
// Flush waits for the lanes. An event is admitted when it is enqueued, so registrations and
// removals of workers overtake lanes and still bar what they must. Remove and Clear never
// do: they wait for what was enqueued for their rank before, for an eviction that overtakes
// the store of its block leaves a claim that nothing ends.
type Index struct {
	clock    Clock
	origin   time.Time
	physical Physical
	life     life
	lanes    *lanes
	tickets  sync.Pool // of *ticket

	mu         sync.Mutex
	core       *Core
	looked     uint64 // steps beside the core's
	discarded  uint64
	unfinished map[string]map[rankKey]int // removals whose Await has failed, by worker: frontiers dropped
}

// Clock is what an Index knows of time. One that goes back counts as standing still.
type Clock interface{ Now() time.Time }

// rankKey is a rank, or allRanks.
type rankKey int64

const allRanks rankKey = -1

func (m Member) key() rankKey {
	if m.Rank == nil {
		return allRanks
	}
	return rankKey(*m.Rank)
}

// String returns a description for messages.
func (m Member) String() string {
	if m.Rank == nil {
		return fmt.Sprintf("%q", m.Worker)
	}
	return WorkerRank{m.Worker, *m.Rank}.String()
}

var _ Indexer = (*Index)(nil)

// NewIndex returns an empty index, or an error that names the bad setting. Without a
// physical index (nil) no match whose block may have gone counts.
func NewIndex(c Config, clock Clock, physical Physical) (*Index, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	core, err := New(c)
	if err != nil {
		return nil, err
	}
	x := &Index{
		clock: clock, origin: clock.Now(), physical: physical, life: newLife(), lanes: newLanes(c.Lane), core: core,
		unfinished: map[string]map[rankKey]int{},
	}
	x.tickets.New = func() any { return &ticket{index: x} }
	return x, nil
}

// now is the time since the index began; the core's lock is held.
func (x *Index) now() time.Duration { return x.clock.Now().Sub(x.origin) }

// Register implements Indexer.
func (x *Index) Register(ctx context.Context, m Member, incarnation string) error {
	if incarnation == "" {
		return fmt.Errorf("worker %v has no incarnation: give each registration a name of its own", m)
	}
	for {
		if x.life.isOpen(m) || x.isUnfinished(m) {
			if _, err := x.BeginRemoval(m).Await(ctx); err != nil {
				return fmt.Errorf("the former incarnation of worker %v: %w", m, err)
			}
		}
		if x.life.open(m, incarnation) {
			return nil
		}
		// Somebody else has registered it meanwhile.
	}
}

// Remove implements Indexer.
func (x *Index) Remove(ctx context.Context, at WorkerRank, blocks []Hash) (hit int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if waited, hit, err := x.behind(ctx, at, waiting{what: evicting, evicted: blocks}); waited {
		return hit, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.life.evict(at)
	return x.core.Remove(x.now(), at, blocks), nil
}

// Clear implements Indexer.
func (x *Index) Clear(ctx context.Context, at WorkerRank) (dropped int, err error) {
	if waited, dropped, err := x.behind(ctx, at, waiting{what: clearing}); waited {
		return dropped, err
	}
	x.mu.Lock()
	dropped = x.clear(at, x.life.evict(at))
	x.mu.Unlock()
	return dropped, x.clearLowerTiers(ctx, at)
}

// clear ends the claims on a rank, as of a version; the core's lock is held.
func (x *Index) clear(at WorkerRank, version uint64) (dropped int) {
	x.life.clear(at, version)
	return x.core.ClearRank(x.now(), at)
}

func (x *Index) clearLowerTiers(ctx context.Context, at WorkerRank) error {
	if x.physical == nil {
		return nil
	}
	rank := at.Rank
	if err := x.physical.ClearLowerTiers(ctx, Member{at.Worker, &rank}); err != nil {
		return fmt.Errorf("the lower tiers of worker %v, whose claims have ended: %w", at, err)
	}
	return nil
}

// BeginRemoval implements Indexer. The claims end at once, under the lock under which
// the incarnation is retired: so whoever registers next cannot lose what is his.
func (x *Index) BeginRemoval(m Member) Removal {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.looked += uint64(x.life.retire(m))
	r := &removal{index: x, member: m, dropped: x.resume(m)}
	if m.Rank == nil {
		r.dropped += x.core.ClearWorker(x.now(), m.Worker)
	} else {
		r.dropped += x.core.ClearRank(x.now(), WorkerRank{m.Worker, *m.Rank})
	}
	return Removal{r}
}

// Flush implements Indexer: it waits for the lanes, then for the physical index. What has
// failed of what was enqueued since the last flush is an error of this one.
func (x *Index) Flush(ctx context.Context) error {
	failed := x.lanes.flush(ctx)
	if x.physical == nil {
		return errors.Join(failed, ctx.Err())
	}
	return errors.Join(failed, ctx.Err(), x.physical.Barrier(ctx))
}

// Tick implements Indexer.
func (x *Index) Tick() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.core.Advance(x.now())
}

// Frontiers implements Indexer; see Core.Frontiers.
func (x *Index) Frontiers(session string) []Frontier {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.Frontiers(session)
}

// Lineages implements Indexer; see Core.Lineages.
func (x *Index) Lineages(session string, at WorkerRank) [][]Hash {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.Lineages(session, at)
}

// LineagesFrom implements Indexer; see Core.LineagesFrom.
func (x *Index) LineagesFrom(session string, at WorkerRank, anchor Hash) ([][]Hash, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.LineagesFrom(session, at, anchor)
}

// Counts implements Indexer.
func (x *Index) Counts() Counts {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.Counts()
}

// Discarded implements Indexer.
func (x *Index) Discarded() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.discarded
}

// Dump implements Indexer.
func (x *Index) Dump() State {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.Dump()
}

// Steps implements Indexer: the core's, and the ranks that were looked up or visited for
// the sake of the lifecycle.
func (x *Index) Steps() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.core.Steps() + x.looked
}
