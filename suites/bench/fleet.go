package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/mockers/fleet"
	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/history"
)

// Role is a worker's part in serving a request; see mockers/worker.
type Role = worker.Role

// The roles of workers.
const (
	Aggregated = worker.Aggregated
	Prefill    = worker.Prefill
	Decode     = worker.Decode
)

// Fleet is what a case's workers are beside Case.Workers, which counts the
// aggregated ones. The zero value adds nothing.
type Fleet struct {
	Prefill int // prefill workers
	Decode  int // decode workers
	Ranks   int // data-parallel ranks of every worker, aggregated ones included; 0: they know no ranks
	// Models is how many of the manifest's models are served, each by workers of its
	// own: the first worker of each role serves the first of them, the second the
	// second, and so on around. 0: the target is told of one model alone.
	Models int
}

// Size is how many workers the case starts with. Their ids, and the fixed ports
// that a manifest may list, go to the aggregated ones first, then to the prefill
// and the decode ones.
func (c Case) Size() int { return c.Workers + c.Fleet.Prefill + c.Fleet.Decode }

// Setting says in words what workers the case has.
func (c Case) Setting() string {
	var all []string
	for _, g := range []struct {
		n    int
		kind string
	}{{c.Workers, ""}, {c.Fleet.Prefill, "prefill "}, {c.Fleet.Decode, "decode "}} {
		switch {
		case g.n == 1:
			all = append(all, "1 "+g.kind+"worker")
		case g.n > 1:
			all = append(all, fmt.Sprintf("%d %sworkers", g.n, g.kind))
		}
	}
	s := strings.Join(all, " and ")
	if c.Fleet.Ranks > 0 {
		s += fmt.Sprintf(", %d ranks each", c.Fleet.Ranks)
	}
	if c.Fleet.Models > 0 {
		s += fmt.Sprintf(", of %d models in turn", c.Fleet.Models)
	}
	return s
}

func (f Fleet) shape(r Role) worker.Shape { return worker.Shape{Role: r, Ranks: f.Ranks} }

// shapes are the workers to start, in the order of their ids.
func (f Fleet) shapes(aggregated int) (all []worker.Shape) {
	for range aggregated {
		all = append(all, f.shape(Aggregated))
	}
	for range f.Prefill {
		all = append(all, f.shape(Prefill))
	}
	for range f.Decode {
		all = append(all, f.shape(Decode))
	}
	return all
}

// everyName is the models with their aliases behind them: a worker serves a model under
// each of its names, for a router may send on the one that the client used or the
// model's own.
func everyName(aliases map[string]string, models ...string) []string {
	all := slices.Clone(models)
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if slices.Contains(models, aliases[alias]) {
			all = append(all, alias)
		}
	}
	return all
}

// start starts the mock workers.
func (f Fleet) start(aggregated int, models []string, aliases map[string]string, ports []int) (*fleet.Fleet, error) {
	shapes := f.shapes(aggregated)
	if f.Models == 0 {
		return fleet.New(fleet.Config{Shapes: shapes, Models: everyName(aliases, models...), Ports: ports})
	}
	if len(models) < f.Models {
		return nil, fmt.Errorf("the manifest lists %d models and this case needs %d", len(models), f.Models)
	}
	all, err := fleet.New(fleet.Config{Models: everyName(aliases, models...), Ports: ports})
	if err != nil {
		return nil, err
	}
	n := map[Role]int{}
	for _, s := range shapes {
		i := n[s.Role] % f.Models
		n[s.Role]++
		if _, err := all.AddServing(everyName(aliases, models[i]), s); err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	return all, nil
}

// ModelOf is the model that the target is told a worker serves.
func (r *Run) ModelOf(id string) string { return r.bench.fleet.Worker(id).Models()[0] }

// WorkersOf lists the ids of the workers of a role that are wired to the target now.
func (r *Run) WorkersOf(role Role) []string {
	return slices.DeleteFunc(r.Workers(), func(id string) bool { return r.RoleOf(id) != role })
}

// RoleOf is the role of a worker.
func (r *Run) RoleOf(id string) Role { return r.bench.fleet.Worker(id).Shape().Role }

// URLOf is the base URL of a worker.
func (r *Run) URLOf(id string) string { return r.bench.fleet.Worker(id).URL() }

// RanksOf is how many data-parallel ranks a worker has; 0 if it knows none.
func (r *Run) RanksOf(id string) int { return r.bench.fleet.Worker(id).Shape().Ranks }

// described says what workers are, for the evidence.
func (r *Run) described(ids []string) (all []history.Worker) {
	for _, id := range ids {
		all = append(all, history.Worker{ID: id, Role: string(r.RoleOf(id)), Ranks: r.RanksOf(id), Model: r.ModelOf(id)})
	}
	return all
}
