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
	var mu sync.Mutex
	born := map[affinity.Key]time.Time{}
	p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key {
		mu.Lock()
		defer mu.Unlock()
		if born[k].IsZero() {
			born[k] = time.Now()
		}
		lived := time.Since(born[k]) / life
		k.Tenant += "#" + lived.String()
		return k
	}}
}

// AFFHoards keeps what has lapsed.
func (Catalogue) AFFHoards() Mutant {
	return Mutant{
		ID: "aff/hoards", Fault: "a session that has lapsed is forgotten, but goes on counting towards the capacity",
		KilledBy: []string{"AFF-009/lapsed"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			var mu sync.Mutex
			known := map[affinity.Key]bool{}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				full := !known[a.Key] && len(known) >= cfg.Capacity
				known[a.Key] = known[a.Key] || !full
				mu.Unlock()
				if full {
					return affinity.Lease{}, affinity.ErrCapacity
				}
				return former(ctx, a)
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
			var mu sync.Mutex
			moved := map[affinity.Key]bool{}
			var table loose
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				mu.Lock()
				free := moved[a.Key]
				mu.Unlock()
				if free {
					return table.lease(a.Key, func() {}), nil
				}
				l, err := former(ctx, a)
				return around(l, func(h *held) {
					h.invalidate = func() {
						mu.Lock()
						moved[a.Key] = true
						mu.Unlock()
						l.Invalidate()
					}
				}), err
			})
		}),
	}
}

// early is a table whose bindings lapse after so many tenths of the idle time.
func early(cfg *router.Config, p *router.Parts, tenths time.Duration) affinity.Coordinator {
	table, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL * tenths / 10, Live: p.Fleet.Live}, affinity.SystemClock{})
	if err != nil {
		panic(err) // the cases' idle times leave room for it
	}
	return table
}

// AFFLapsesEarly cuts the idle time short.
func (Catalogue) AFFLapsesEarly() Mutant {
	return Mutant{ID: "aff/lapses-early", Fault: "a binding lapses after four fifths of the configured idle time", KilledBy: []string{"AFF-006/slides", "AFF-006/phases"},
		New: with(func(cfg *router.Config, p *router.Parts) { p.Affinity = early(cfg, p, 8) })}
}

// AFFLapsesSoon cuts it shorter.
func (Catalogue) AFFLapsesSoon() Mutant {
	return Mutant{ID: "aff/lapses-soon", Fault: "a binding lapses after three fifths of the configured idle time", KilledBy: []string{"AFF-006/slides", "AFF-006/phases"},
		New: with(func(cfg *router.Config, p *router.Parts) { p.Affinity = early(cfg, p, 6) })}
}

// PDSLapsesEarly does so where prompts are computed.
func (Catalogue) PDSLapsesEarly() Mutant {
	return Mutant{ID: "pds/lapses-early", Fault: "a binding to a prefill worker lapses after four fifths of the configured idle time", KilledBy: []string{"AFF-006/phases"},
		New: with(func(cfg *router.Config, p *router.Parts) { p.Prefill.Affinity = early(cfg, p, 8) })}
}
