package sessionindex

import (
	"context"
	"errors"
	"fmt"
)

// removal is a RemovalGrip.
type removal struct {
	index   *Index
	member  Member
	dropped int
}

// Await implements RemovalGrip. Both parts are always tried: a barrier that fails is no
// reason to leave the lower tiers as they are.
func (r *removal) Await(ctx context.Context) (dropped int, err error) {
	x := r.index
	if x.physical != nil {
		err = errors.Join(x.physical.Barrier(ctx, r.member), x.physical.ClearLowerTiers(ctx, r.member))
	}
	x.settle(r, err == nil)
	if err != nil {
		return 0, fmt.Errorf("worker %v is retired, but not known to be gone: ask again: %w", r.member, err)
	}
	return r.dropped, nil
}

// settle notes whether a removal has succeeded. One that has not is remembered until it
// is awaited or begun again, so that it cannot be taken for done.
func (x *Index) settle(r *removal, done bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	worker, key := r.member.Worker, r.member.key()
	ranks := x.unfinished[worker]
	if !done {
		if ranks == nil {
			ranks = map[rankKey]int{}
			x.unfinished[worker] = ranks
		}
		ranks[key] = r.dropped
		return
	}
	delete(ranks, key)
	if len(ranks) == 0 {
		delete(x.unfinished, worker)
	}
}

// resume takes over what unfinished removals of the member have dropped; the lock is
// held.
func (x *Index) resume(m Member) (dropped int) {
	ranks := x.unfinished[m.Worker]
	for key, n := range ranks {
		if m.Rank == nil || key == m.key() {
			dropped += n
			delete(ranks, key)
		}
	}
	if len(ranks) == 0 {
		delete(x.unfinished, m.Worker)
	}
	return dropped
}

func (x *Index) isUnfinished(m Member) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	ranks := x.unfinished[m.Worker]
	if m.Rank == nil {
		return len(ranks) > 0
	}
	_, ok := ranks[m.key()]
	return ok
}
