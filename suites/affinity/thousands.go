package affinity

import (
	"context"
	"fmt"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// thousands is more sessions than the tables of common sizes hold, and still cheap.
const thousands = 2200

// AFF009Declared: a table that declares many places has them.
func (Cases) AFF009Declared() bench.Case {
	const declared, batch = 65_536, 110
	s := script.New(script.Config{IdleTTL: ttl, Capacity: declared, AtCapacity: "evict"}, three...)
	at := func(i int) script.Where { return []script.Where{w1, w2, w3}[i%3] }
	inBatches := func(step func(i int)) {
		for from := 0; from < thousands; from += batch {
			s.InBatch(func() {
				for i := from; i < from+batch; i++ {
					step(i)
				}
			})
		}
	}
	inBatches(func(i int) {
		name := fmt.Sprintf("turn %d", i)
		s.Acquire(name, id(i)).Is(script.Initializes)
		s.Commit(name, at(i)).Is(script.Done)
		s.Release(name).Is(script.Done)
	})
	inBatches(func(i int) { s.Query(id(i)).Is(script.Bound(at(i))) })
	s.Count().Is(script.Holds(thousands, 0))
	return patient(bench.Scripted("AFF-009/declared", "a table of 65,536 places and 2,200 sessions, which are then asked for, oldest first",
		"all of them are bound: none has made room for another", s))
}

// AFF009Pinned: a pin is no ticket to a full table.
func (Cases) AFF009Pinned() bench.Case {
	const more = 24
	return bench.Case{
		ID:          "AFF-009/pinned",
		Stimulus:    "as many bound sessions as the declared capacity, 24 more that are pinned to each worker, in every shape, then a turn of each of the first",
		Requirement: "the 24 are refused or served as declared; without eviction the first stay on their workers",
		Claims:      []string{"pins.worker"},
		Variant:     "smallCapacity", Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n, workers := r.Capacity(), r.Workers()
			r.Parallel(n, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "within", Tokens: 1}.In(bench.Shapes()[s%8]))
			})
			for s := range more {
				pin := script.At(workers[(s+s/8)%len(workers)])
				r.Do(ctx, bench.Req{Session: r.SessionID(n + s), Pin: &pin, Phase: "beyond", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			r.Parallel(n, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "again", Tokens: 1}.In(bench.Shapes()[(s+3)%8]))
			})
			return nil
		},
		Judge: fullAsDeclared(more),
	}
}
