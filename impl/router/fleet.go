package router

import (
	"fmt"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/selection"
)

// avoidFor is how long fresh picks avoid a worker after a connection to it
// failed or it let a request time out. Bound sessions still go to it, so one
// failure moves nobody else, and when every worker is avoided none is. Any
// response, whatever its status, ends it.
const avoidFor = time.Second

// member is one incarnation of a worker.
type member struct {
	id, address string
	incarnation string
	key         string // what sessions are bound to: no two incarnations share one
	url         *url.URL
	inFlight    atomic.Int64
	avoidUntil  atomic.Int64 // Unix nanoseconds
}

func (m *member) failed()    { m.avoidUntil.Store(time.Now().Add(avoidFor).UnixNano()) }
func (m *member) responded() { m.avoidUntil.Store(0) }

// ticket is one request's share of a worker's load.
type ticket struct {
	*member
	released atomic.Bool
}

// release takes the request off the worker's load; only the first call counts.
func (t *ticket) release() {
	if !t.released.Swap(true) {
		t.inFlight.Add(-1)
	}
}

// view is the worker set at one moment; it never changes.
type view struct {
	models  []string // sorted
	byModel map[string][]*member
	members []*member // in the order given
	places  map[place]*member
}

// place is a worker that serves a model.
type place struct{ model, key string }

// Fleet is the live worker set and its load.
type Fleet struct {
	current atomic.Pointer[view]

	mu         sync.Mutex // picking and counting are one step, or bursts would herd
	births     int
	leaving    []*member // gone from the set, with requests in flight when last looked at
	candidates []selection.Candidate
	eligible   []*member
}

// NewFleet makes a fleet without workers.
func NewFleet() *Fleet {
	f := &Fleet{}
	f.current.Store(&view{})
	return f
}

// set replaces the worker set, which is valid. A worker whose id, URL and
// incarnation stay the same stays the same member; anything else is a new
// incarnation, that of a worker that comes back included.
func (f *Fleet) set(workers []discovery.Worker) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.current.Load()
	next := &view{byModel: make(map[string][]*member), places: make(map[place]*member)}
	for _, w := range workers {
		i := slices.IndexFunc(old.members, func(m *member) bool {
			return m.id == w.ID && m.address == w.URL && m.incarnation == w.Incarnation
		})
		var m *member
		if i >= 0 {
			m = old.members[i]
		} else {
			u, err := url.Parse(w.URL)
			if err != nil {
				return fmt.Errorf("worker %q: %w", w.ID, err)
			}
			f.births++
			m = &member{id: w.ID, address: w.URL, incarnation: w.Incarnation, url: u, key: fmt.Sprintf("%s#%d", w.ID, f.births)}
		}
		next.members = append(next.members, m)
		for _, model := range w.Models {
			next.byModel[model] = append(next.byModel[model], m)
			next.places[place{model, m.key}] = m
		}
	}
	for model := range next.byModel {
		next.models = append(next.models, model)
	}
	slices.Sort(next.models)
	f.leaving = slices.DeleteFunc(append(f.leaving, old.members...), func(m *member) bool {
		return m.inFlight.Load() == 0 || slices.Contains(next.members, m)
	})
	f.current.Store(next)
	return nil
}

// begin puts a request on the member with the key, or returns nil if it is gone
// or does not serve the model.
func (f *Fleet) begin(model, key string) *ticket {
	m := f.current.Load().places[place{model, key}]
	if m == nil {
		return nil
	}
	m.inFlight.Add(1)
	return &ticket{member: m}
}

// Live says whether a session of the model may stay bound to the target: its
// worker is in the set and serves the model. A worker that fresh picks avoid is
// live. Ranks do not come and go by themselves here, so the target's does not
// matter.
func (f *Fleet) Live(model string, t affinity.Target) bool {
	return f.current.Load().places[place{model, t.Worker}] != nil
}

// pick lets the policy choose among the workers that serve the model and were
// not tried yet, and puts a request on the chosen one. It returns nil if there
// is none, or the policy names none.
func (f *Fleet) pick(policy selection.Policy, model string, tried []*member) *ticket {
	now := time.Now().UnixNano()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.current.Load().byModel[model]
	f.gather(all, func(m *member) bool { return m.avoidUntil.Load() <= now && !slices.Contains(tried, m) })
	if len(f.eligible) == 0 {
		f.gather(all, func(m *member) bool { return !slices.Contains(tried, m) })
	}
	if len(f.eligible) == 0 {
		return nil
	}
	i := policy.Pick(f.candidates)
	if i < 0 || i >= len(f.eligible) {
		return nil
	}
	m := f.eligible[i]
	m.inFlight.Add(1)
	return &ticket{member: m}
}

// gather fills the scratch lists; the lock is held.
func (f *Fleet) gather(from []*member, fits func(*member) bool) {
	f.candidates, f.eligible = f.candidates[:0], f.eligible[:0]
	for _, m := range from {
		if fits(m) {
			f.eligible = append(f.eligible, m)
			f.candidates = append(f.candidates, selection.Candidate{ID: m.id, InFlight: int(m.inFlight.Load())})
		}
	}
}

// load returns the requests in flight by worker id, those at incarnations that
// have left the set included.
func (f *Fleet) load() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make(map[string]int)
	for _, m := range f.current.Load().members {
		out[m.id] += int(m.inFlight.Load())
	}
	for _, m := range f.leaving {
		if n := int(m.inFlight.Load()); n != 0 {
			out[m.id] += n
		}
	}
	return out
}
