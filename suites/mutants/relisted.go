package mutants

import (
	"slices"

	"github.com/routeproof/routeproof/suites/target"
)

// relisted is a mutant that takes something of a worker that it knows, by its id, for
// what it was at first.
func relisted(id, fault, killedBy string, f func(w *target.Worker, first target.Worker)) Mutant {
	return change(id, fault, []string{killedBy}, func(was, is []target.Worker) []target.Worker {
		out := slices.Clone(is)
		for i := range out {
			if j := slices.IndexFunc(was, func(w target.Worker) bool { return w.ID == out[i].ID }); j >= 0 {
				f(&out[i], was[j])
			}
		}
		return out
	})
}

// SCLKeepsAddress knows workers by their ids.
func (Catalogue) SCLKeepsAddress() Mutant {
	return relisted("scl/keeps-address", "a worker that is listed again at another address is asked at the old one", "SCL-003/moved",
		func(w *target.Worker, first target.Worker) { w.Host, w.Port, w.URL = first.Host, first.Port, first.URL })
}

// RTEModelsOnce asks what a worker serves when it comes.
func (Catalogue) RTEModelsOnce() Mutant {
	return relisted("rte/models-once", "a worker that stays goes on serving the model that it came with", "RTE-002/reassigned",
		func(w *target.Worker, first target.Worker) { w.Model = first.Model })
}
