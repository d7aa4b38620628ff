package mutants

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// RTENoAliases knows a model by its own name alone.
func (Catalogue) RTENoAliases() Mutant {
	return Mutant{ID: "rte/no-aliases", Fault: "aliases are unknown models", KilledBy: []string{"RTE-007/alias"},
		New: with(func(cfg *router.Config, p *router.Parts) { cfg.Aliases, p.Models = nil, router.BodyModels{} })}
}

// apart is a router that is told of each alias as of one more model of the worker.
type apart struct {
	target.Local
	r       *router.Router
	aliases map[string]string
}

func (a apart) SetWorkers(ws []target.Worker) error {
	set := make([]discovery.Worker, len(ws))
	for i, w := range ws {
		set[i] = discovery.Worker{ID: w.ID, URL: w.URL, Models: []string{w.Model}, Role: discovery.Role(w.Role), Ranks: w.Ranks}
		for alias, model := range a.aliases {
			if model == w.Model {
				set[i].Models = append(set[i].Models, alias)
			}
		}
	}
	return a.r.SetWorkers(set)
}

// aliasesApart makes a router that takes each name for a model.
func aliasesApart(change func(aliases map[string]string, p *router.Parts)) target.LocalFactory {
	return func(c target.LocalConfig) (target.Local, error) {
		aliases := c.Aliases
		c.Aliases = nil
		cfg, err := target.ReferenceConfig(c)
		if err != nil {
			return nil, err
		}
		parts, err := router.DefaultParts(cfg)
		if err != nil {
			return nil, err
		}
		change(aliases, &parts)
		r, err := router.New(cfg, parts)
		if err != nil {
			return nil, err
		}
		return apart{target.LocalRouter(r), r, aliases}, nil
	}
}

// RTEAliasesApart takes each name for a model.
func (Catalogue) RTEAliasesApart() Mutant {
	return Mutant{ID: "rte/aliases-apart", Fault: "a session under a model's alias is another than under the model's own name", KilledBy: []string{"RTE-007/sessions"},
		New: aliasesApart(func(map[string]string, *router.Parts) {})}
}

// RTEAliasesRace tells sessions apart by the name until they are bound.
func (Catalogue) RTEAliasesRace() Mutant {
	return Mutant{ID: "rte/aliases-race", Fault: "first turns of one session that are there together under several names are each placed anew", KilledBy: []string{"RTE-007/together"},
		New: aliasesApart(func(aliases map[string]string, p *router.Parts) {
			inner := p.Affinity
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				own := a
				own.Key.Model = cmp.Or(aliases[a.Key.Model], a.Key.Model)
				if _, bound, err := inner.Query(own); err != nil || bound || own == a {
					return former(ctx, own)
				}
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) {
					h.commit = func(t affinity.Target) error {
						if also, err := former(ctx, own); err == nil { // the first of them binds the others'
							_ = also.Commit(t)
							also.Release()
						}
						return l.Commit(t)
					}
				}), nil
			})
		})}
}

// RTEAliasesFirst knows one model behind all of its aliases.
func (Catalogue) RTEAliasesFirst() Mutant {
	return Mutant{ID: "rte/aliases-first-model", Fault: "an alias of the second model is taken for one of the first", KilledBy: []string{"RTE-007/by-model"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			first := slices.Min(slices.Collect(maps.Values(cfg.Aliases)))
			all := map[string]string{}
			for alias := range cfg.Aliases {
				all[alias] = first
			}
			cfg.Aliases, p.Models = all, router.BodyModels{Aliases: all}
		})}
}

// RESRetriesAnswered hopes for a better answer.
func (Catalogue) RESRetriesAnswered() Mutant {
	return failover("res/retries-answered", "a request of no bound session that is answered with a 5xx is tried at another worker", []string{"RES-008/answered"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.None && o.Status >= 500 && !o.Bound && o.Attempt < o.MaxAttempts {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Keep}
			}
			return d
		})
}

// RESRetriesBusy looks for somebody who is not full.
func (Catalogue) RESRetriesBusy() Mutant {
	return failover("res/retries-busy", "a keyless request that is answered 429 is tried at another worker", []string{"RES-008/answered"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Status == 429 && !o.Session && o.Attempt < o.MaxAttempts {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Keep}
			}
			return d
		})
}
