package adapter

import (
	"encoding/json"
	"sync"
)

// phases is the component affinity: bindings of sessions, for each phase its own, as a
// router has them.
type phases struct {
	unpinned bool // what a new session gets in a full table, instead of an error
	bindings map[string]coordinator

	mu    sync.RWMutex
	ranks map[string]uint32 // of the live workers
}

func (p *phases) moved() {} // its timers have run with the clock

func (p *phases) steps() (sum uint64) {
	for _, b := range p.bindings {
		sum += b.steps()
	}
	return sum
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

// settings are what it is made with; absent ones are nil. Times are in
// milliseconds.
type settings struct {
	IdleTTL    *int64 `json:"idleTTL"`
	Capacity   *int   `json:"capacity"`
	AtCapacity string `json:"atCapacity"`
	InitWait   *int64 `json:"initWait"`
}

func newPhases(config json.RawMessage, clock *clock, table Make) (*phases, error) {
	c, err := decode[settings](config)
	if err != nil {
		return nil, err
	}
	p := &phases{bindings: map[string]coordinator{}}
	l := limits{live: p.live, waiting: waiting}
	switch c.AtCapacity {
	case "", "refuse":
	case "unpinned":
		p.unpinned = true
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
		if p.bindings[phase], err = newCoordinator(l, clock, table); err != nil {
			return nil, failf(invalidArgument, "%v", err)
		}
	}
	return p, nil
}

func (p *phases) setWorkers(live []worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ranks = map[string]uint32{}
	for _, w := range live {
		p.ranks[w.ID] = w.Ranks
	}
}

// live says whether a binding to the target holds: its worker is there, and so is the
// rank if it has one.
func (p *phases) live(t target) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	ranks, ok := p.ranks[t.Worker]
	return ok && (t.Rank == nil || *t.Rank < ranks)
}
