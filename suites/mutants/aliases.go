package mutants

import (
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

// RTEAliasesApart takes each name for a model.
func (Catalogue) RTEAliasesApart() Mutant {
	return Mutant{ID: "rte/aliases-apart", Fault: "a session under a model's alias is another than under the model's own name", KilledBy: []string{"RTE-007/sessions"},
		New: func(c target.LocalConfig) (target.Local, error) {
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
			r, err := router.New(cfg, parts)
			if err != nil {
				return nil, err
			}
			return apart{target.LocalRouter(r), r, aliases}, nil
		}}
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
