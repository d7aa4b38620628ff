package adapter

import (
	"encoding/json"
	"math"
	"sync"
	"time"
)

// instance is one library under test: bindings of sessions, for each phase its own,
// as a router has them.
type instance struct {
	name       string
	concurrent bool
	unpinned   bool // what a new session gets in a full table, instead of an error
	clock      *clock
	phases     map[string]coordinator

	mu    sync.RWMutex
	ranks map[string]uint32 // of the live workers
}

// worker is a live one.
type worker struct {
	ID    string `json:"id"`
	Ranks uint32 `json:"ranks"`
}

// The phases of requests. The latter also stands for serving that is not split.
const (
	prefill = "prefill"
	decoded = "decode"
)

// settings are what an instance is made with; absent ones are nil. Times are in
// milliseconds.
type settings struct {
	IdleTTL    *int64 `json:"idleTTL"`
	Capacity   *int   `json:"capacity"`
	AtCapacity string `json:"atCapacity"`
	InitWait   *int64 `json:"initWait"`
}

func newInstance(config json.RawMessage, table Make) (*instance, error) {
	c, err := decode[settings](config)
	if err != nil {
		return nil, err
	}
	i := &instance{clock: newClock(), phases: map[string]coordinator{}}
	l := limits{live: i.live, waiting: waiting}
	switch c.AtCapacity {
	case "", "refuse":
	case "unpinned":
		i.unpinned = true
	case "evict":
		l.evict = true
	default:
		return nil, failf(unsupported, "atCapacity %q is not known here; write refuse, unpinned or evict", c.AtCapacity)
	}
	if c.IdleTTL == nil {
		return nil, failf(invalidArgument, "idleTTL is missing")
	}
	l.idleTTL = milliseconds(*c.IdleTTL)
	// The library takes 0 for its default; a 0 that is written down is a mistake.
	if c.Capacity != nil {
		if l.capacity = *c.Capacity; l.capacity < 1 {
			return nil, failf(invalidArgument, "capacity is %d; want 1 or more", l.capacity)
		}
	}
	if c.InitWait != nil {
		if l.initWait = milliseconds(*c.InitWait); l.initWait <= 0 {
			return nil, failf(invalidArgument, "initWait is %d; want 1 or more", *c.InitWait)
		}
	}
	for _, phase := range []string{prefill, decoded} {
		if i.phases[phase], err = newCoordinator(l, i.clock, table); err != nil {
			return nil, failf(invalidArgument, "%v", err)
		}
	}
	return i, nil
}

// milliseconds makes a duration; one that is too long for that becomes the longest.
func milliseconds(n int64) time.Duration {
	if n > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(max(n, -1)) * time.Millisecond
}

func (i *instance) setWorkers(live []worker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ranks = map[string]uint32{}
	for _, w := range live {
		i.ranks[w.ID] = w.Ranks
	}
}

// live says whether a binding to the target holds: its worker is there, and so is the
// rank if it has one.
func (i *instance) live(t target) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	ranks, ok := i.ranks[t.Worker]
	return ok && (t.Rank == nil || *t.Rank < ranks)
}
