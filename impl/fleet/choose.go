package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/selection"
)

// Want is what a request needs of the fleet.
type Want struct {
	Model string
	Pool  Pool
	Split bool            // of Whole, leave the aggregated out while there are both prefill and decode workers
	At    affinity.Target // this one, whatever its role; if it has several ranks and none is named, one is chosen. Zero: any of the pool
	Not   []string        // workers, as Target names them, that are out of the question unless At names them
}

// Begin chooses a place and puts the request on it, in one step. It returns nil
// if there is none, or the policy names none.
func (f *Fleet) Begin(policy selection.Policy, w Want) *Ticket {
	if p, ok := f.exact(w); ok {
		return f.begin(p, w.Model)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.choose(policy.Pick, w)
	if !ok {
		return nil
	}
	return f.begin(p, w.Model)
}

// Look says what Begin would choose, and leaves no trace.
func (f *Fleet) Look(policy selection.Policy, w Want) (Place, bool) {
	if p, ok := f.exact(w); ok {
		return p, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.choose(policy.Peek, w)
}

// begin counts the request, unless the worker is just leaving: then it is too
// late to say so after Set has returned.
func (f *Fleet) begin(p Place, model string) *Ticket {
	t := &Ticket{Place: p}
	t.count(1)
	if f.current.Load().byKey[place{model, p.key}] != p.member {
		t.Release()
		return nil
	}
	return t
}

// exact returns the place that is named, if that leaves nothing to choose.
func (f *Fleet) exact(w Want) (Place, bool) {
	m := f.current.Load().byKey[place{w.Model, w.At.Worker}]
	if m == nil {
		return Place{}, false
	}
	r, named := w.At.Rank.Value()
	return Place{m, w.At.Rank}, named && int(r) < len(m.load) || !named && len(m.load) == 1
}

// choose lets pick choose among what is wanted; the lock is held.
func (f *Fleet) choose(pick func([]selection.Candidate) int, w Want) (Place, bool) {
	v := f.current.Load()
	if w.At.Worker != "" {
		m := v.byKey[place{w.Model, w.At.Worker}]
		_, named := w.At.Rank.Value()
		if m == nil || named {
			return Place{}, false
		}
		f.gather([]*member{m}, func(*member) bool { return true })
	} else {
		now := time.Now().UnixNano()
		if w.Pool == Whole && w.Split && v.split(w.Model) {
			w.Pool = Decode
		}
		all := v.pool(w.Model, w.Pool)
		f.gather(all, func(m *member) bool { return m.avoidUntil.Load() <= now && !slices.Contains(w.Not, m.key) })
		if len(f.eligible) == 0 {
			f.gather(all, func(m *member) bool { return !slices.Contains(w.Not, m.key) })
		}
	}
	if len(f.eligible) == 0 {
		return Place{}, false
	}
	i := pick(f.candidates)
	if i < 0 || i >= len(f.eligible) {
		return Place{}, false
	}
	p := Place{member: f.eligible[i]}
	if len(p.load) > 1 {
		p.rank = affinity.RankOf(uint32(f.candidates[i].Rank))
	}
	return p, true
}

// gather fills the scratch lists with every rank of those that fit; the lock is
// held. First comes the first rank of each worker, then the second, so that
// policies that go by the order meet all workers before one of them again.
func (f *Fleet) gather(from []*member, fits func(*member) bool) {
	f.candidates, f.eligible = f.candidates[:0], f.eligible[:0]
	for rank, more := 0, true; more; rank++ {
		more = false
		for _, m := range from {
			if rank >= len(m.load) || !fits(m) {
				continue
			}
			more = more || rank+1 < len(m.load)
			f.eligible = append(f.eligible, m)
			f.candidates = append(f.candidates, selection.Candidate{ID: m.id, Rank: rank, InFlight: int(m.load[rank].Load())})
		}
	}
}

// Find returns the place that a client asks for: the worker with the id, as
// discovery gives it, and the rank, if one is asked for. The error says what is
// wrong with the wish: nobody of that id serves the model, or it has no such rank.
// A worker of which no ranks are known has rank 0.
func (f *Fleet) Find(model string, wish affinity.Target) (Place, error) {
	m := f.current.Load().byID[place{model, wish.Worker}]
	if m == nil {
		return Place{}, fmt.Errorf("worker %.100q is unknown: no worker of that id serves model %q", wish.Worker, model)
	}
	if r, named := wish.Rank.Value(); named && int64(r) >= int64(len(m.load)) {
		return Place{}, fmt.Errorf("rank %d is out of range: worker %q has ranks 0 to %d", r, m.id, len(m.load)-1)
	}
	return Place{m, wish.Rank}, nil
}
