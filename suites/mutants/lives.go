package mutants

import (
	"context"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// AFFShortLife limits a session's whole life.
func (Catalogue) AFFShortLife() Mutant {
	return Mutant{
		ID: "aff/short-life", Fault: "a session lives for four idle times at most, however busy it is",
		KilledBy: []string{"AFF-006/slides"},
		New:      with(func(cfg *router.Config, p *router.Parts) { lives(cfg.IdleTTL*4, p) }),
	}
}

// lives renames each session whenever it has lived for the given time.
func lives(life time.Duration, p *router.Parts) {
	inner := p.Affinity
	var mu sync.Mutex
	born := map[affinity.Key]time.Time{}
	p.Affinity = acquires(func(ctx context.Context, k affinity.Key) (affinity.Lease, error) {
		mu.Lock()
		if born[k].IsZero() {
			born[k] = time.Now()
		}
		lived := time.Since(born[k]) / life
		mu.Unlock()
		k.Model += "#" + lived.String()
		return inner.Acquire(ctx, k)
	})
}

// AFFHoards keeps what has lapsed.
func (Catalogue) AFFHoards() Mutant {
	return Mutant{
		ID: "aff/hoards", Fault: "a session that has lapsed is forgotten, but goes on counting towards the capacity",
		KilledBy: []string{"AFF-009/lapsed"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			inner, capacity := p.Affinity, cfg.Capacity
			var mu sync.Mutex
			known := map[affinity.Key]bool{}
			p.Affinity = acquires(func(ctx context.Context, k affinity.Key) (affinity.Lease, error) {
				mu.Lock()
				full := !known[k] && len(known) >= capacity
				known[k] = known[k] || !full
				mu.Unlock()
				if full {
					return nil, affinity.ErrCapacity
				}
				return inner.Acquire(ctx, k)
			})
		}),
	}
}

// AFFScatters places the turns that meet a death one by one.
func (Catalogue) AFFScatters() Mutant {
	return Mutant{
		ID: "aff/scatters-on-death", Fault: "turns of one session that are in flight when its worker dies are each placed anew; the last one to be answered binds",
		KilledBy: []string{"AFF-005/together"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Affinity
			var mu sync.Mutex
			moved, bound := map[affinity.Key]bool{}, map[affinity.Key]string{}
			p.Affinity = acquires(func(ctx context.Context, k affinity.Key) (affinity.Lease, error) {
				mu.Lock()
				if moved[k] {
					defer mu.Unlock()
					return &loose{key: k, worker: bound[k], mu: &mu, bound: bound}, nil
				}
				mu.Unlock()
				l, err := inner.Acquire(ctx, k)
				if err != nil {
					return nil, err
				}
				return &moving{Lease: l, note: func() {
					mu.Lock()
					moved[k] = true
					mu.Unlock()
				}}, nil
			})
		}),
	}
}

// moving tells when a binding ends.
type moving struct {
	affinity.Lease
	note func()
}

func (m *moving) Invalidate() { m.note(); m.Lease.Invalidate() }
