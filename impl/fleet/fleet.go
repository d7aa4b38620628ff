// Package fleet is the live worker set of one router: which worker serves what
// and in which role, which incarnation it is, and how many requests each of its
// data-parallel ranks has in flight. It opens no connection.
package fleet

import (
	"fmt"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/selection"
)

// Pool is the workers of a model that are fit for something.
type Pool uint8

// Pools.
const (
	Whole   Pool = iota // those that can answer a client by themselves: aggregated and decode
	Decode              // those that take over what a prefill worker has computed
	Prefill             // those that compute it
	pools   = iota
)

func (p Pool) String() string {
	return [...]string{"aggregated or decode", "decode", "prefill"}[p]
}

// has says whether workers of the role are in the pool.
func (p Pool) has(r discovery.Role) bool {
	switch p {
	case Decode:
		return r == discovery.Decode
	case Prefill:
		return r == discovery.Prefill
	}
	return r != discovery.Prefill
}

// view is the worker set at one moment; it never changes.
type view struct {
	models  []string // sorted
	byModel map[string]*[pools][]*member
	members []*member // in the order given
	byKey   map[place]*member
	byID    map[place]*member
}

// place is a worker, by its key or by its id, that serves a model.
type place struct{ model, worker string }

// Fleet is the live worker set and its load. It is safe for concurrent use.
type Fleet struct {
	current atomic.Pointer[view]

	mu         sync.Mutex // picking and counting are one step, or bursts would herd
	births     int
	leaving    []*member // gone from the set, with requests in flight when last looked at
	candidates []selection.Candidate
	eligible   []*member
}

// New makes a fleet without workers.
func New() *Fleet {
	f := &Fleet{}
	f.current.Store(&view{})
	return f
}

// Set replaces the worker set, which must be one that discovery.Validate accepts.
// A worker of which nothing has changed but its models stays the same
// incarnation; anything else is a new one, that of a worker that comes back
// included. When Set returns, workers that left get no new request.
func (f *Fleet) Set(workers []discovery.Worker) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.current.Load()
	next := &view{byModel: make(map[string]*[pools][]*member), byKey: make(map[place]*member), byID: make(map[place]*member)}
	for _, w := range workers {
		var m *member
		if i := slices.IndexFunc(old.members, func(m *member) bool { return m.is(w) }); i >= 0 {
			m = old.members[i]
		} else {
			u, err := url.Parse(w.URL)
			if err != nil {
				return fmt.Errorf("worker %q: %w", w.ID, err)
			}
			f.births++
			m = newMember(w, u, f.births)
		}
		next.members = append(next.members, m)
		for _, model := range w.Models {
			next.add(model, m)
		}
	}
	for model := range next.byModel {
		next.models = append(next.models, model)
	}
	slices.Sort(next.models)
	f.current.Store(next)
	for _, m := range old.members {
		if !slices.Contains(next.members, m) {
			f.leaving = append(f.leaving, m)
		}
	}
	f.prune()
	return nil
}

func (v *view) add(model string, m *member) {
	all := v.byModel[model]
	if all == nil {
		all = new([pools][]*member)
		v.byModel[model] = all
	}
	for p := range all {
		if Pool(p).has(m.role) {
			all[p] = append(all[p], m)
		}
	}
	v.byKey[place{model, m.key}] = m
	v.byID[place{model, m.id}] = m
}

// pool returns the model's workers that are fit.
func (v *view) pool(model string, p Pool) []*member {
	if all := v.byModel[model]; all != nil {
		return all[p]
	}
	return nil
}

// prune forgets who has left and has nothing in flight; the lock is held.
func (f *Fleet) prune() {
	f.leaving = slices.DeleteFunc(f.leaving, func(m *member) bool { return m.total() == 0 })
}

// Models returns the models that workers serve, in whatever role, sorted. The
// slice is not to be changed.
func (f *Fleet) Models() []string { return f.current.Load().models }

// Size returns the number of workers.
func (f *Fleet) Size() int { return len(f.current.Load().members) }

// Split says whether requests for the model can run in two phases: it has
// workers for prefill and for decode.
func (f *Fleet) Split(model string) bool { return f.current.Load().split(model) }

func (v *view) split(model string) bool {
	return len(v.pool(model, Prefill)) > 0 && len(v.pool(model, Decode)) > 0
}

// Live says whether a session of the model may stay bound to the target: its
// worker is in the set and serves the model. A worker that fresh picks avoid is
// live. The rank does not matter: a worker whose number of ranks changes is a
// new incarnation.
func (f *Fleet) Live(model string, t affinity.Target) bool {
	return f.current.Load().byKey[place{model, t.Worker}] != nil
}

// Load returns the requests in flight by worker id, those at incarnations that
// have left the set included.
func (f *Fleet) Load() map[string]int {
	out := make(map[string]int)
	for id, ranks := range f.LoadByRank() {
		for _, n := range ranks {
			out[id] += n
		}
	}
	return out
}

// LoadByRank returns the same by data-parallel rank. A worker without ranks
// counts as one that has rank 0 only.
func (f *Fleet) LoadByRank() map[string][]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prune()
	out := make(map[string][]int)
	for _, m := range slices.Concat(f.current.Load().members, f.leaving) {
		ranks := out[m.id]
		for r := range m.load {
			if r == len(ranks) {
				ranks = append(ranks, 0)
			}
			ranks[r] += int(m.load[r].Load())
		}
		out[m.id] = ranks
	}
	return out
}
