package mutants

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// SCLForgets starts anew whenever the fleet changes.
func (Catalogue) SCLForgets() Mutant {
	return Mutant{
		ID: "scl/forgets", Fault: "every change of the fleet drops all bindings",
		KilledBy: []string{"SCL-001/three-four-three"},
		New: func(c target.LocalConfig) (target.Local, error) {
			var bump func()
			return withWorkers(func(_ *router.Config, p *router.Parts) {
				gen := generation(p)
				bump = func() { gen.Add(1) }
			}, func(ws []target.Worker) []target.Worker { bump(); return ws })(c)
		},
	}
}

// change makes a router that misunderstands changes of the fleet; each target
// gets a memory of its own.
func change(id, fault string, killed []string, f func(was, is []target.Worker) []target.Worker) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killed, New: func(c target.LocalConfig) (target.Local, error) {
		var mu sync.Mutex
		var was []target.Worker
		return withWorkers(func(*router.Config, *router.Parts) {}, func(is []target.Worker) []target.Worker {
			mu.Lock()
			defer mu.Unlock()
			if was == nil {
				was = slices.Clone(is)
			} else {
				was = f(was, is)
			}
			return was
		})(c)
	}}
}

func holds(ws []target.Worker, id string) bool {
	return slices.ContainsFunc(ws, func(w target.Worker) bool { return w.ID == id })
}

// SCLNoJoin never learns of new workers.
func (Catalogue) SCLNoJoin() Mutant {
	return change("scl/ignores-joins", "a worker that joins is never used", []string{"SCL-002/join"},
		func(was, is []target.Worker) []target.Worker {
			return slices.DeleteFunc(slices.Clone(is), func(w target.Worker) bool { return !holds(was, w.ID) })
		})
}

// SCLGhost never forgets a worker.
func (Catalogue) SCLGhost() Mutant {
	return change("scl/ghost", "a worker that left goes on getting requests", []string{"SCL-003/leave"},
		func(was, is []target.Worker) []target.Worker {
			out := slices.Clone(is)
			for _, w := range was {
				if !holds(is, w.ID) {
					out = append(out, w)
				}
			}
			return out
		})
}

// SCLCuts ends the streams of a worker that leaves.
func (Catalogue) SCLCuts() Mutant {
	return Mutant{
		ID: "scl/cuts-streams", Fault: "streams of a worker that leaves are cut",
		KilledBy: []string{"SCL-003/leave"},
		New: func(c target.LocalConfig) (target.Local, error) {
			var mu sync.Mutex
			running := map[string]map[int]context.CancelFunc{}
			n := 0
			return withWorkers(func(_ *router.Config, p *router.Parts) {
				inner := p.Transport
				p.Transport = sends(func(r *http.Request) (*http.Response, error) {
					ctx, cancel := context.WithCancel(r.Context())
					host := r.URL.Host
					mu.Lock()
					n++
					id := n
					if running[host] == nil {
						running[host] = map[int]context.CancelFunc{}
					}
					running[host][id] = cancel
					mu.Unlock()
					done := func() {
						cancel()
						mu.Lock()
						delete(running[host], id)
						mu.Unlock()
					}
					resp, err := inner.RoundTrip(r.WithContext(ctx))
					if err != nil {
						done()
						return nil, err
					}
					resp.Body = &closer{body: resp.Body, done: done}
					return resp, nil
				})
			}, func(ws []target.Worker) []target.Worker {
				mu.Lock()
				defer mu.Unlock()
				for host, all := range running {
					if !slices.ContainsFunc(ws, func(w target.Worker) bool { return w.URL == "http://"+host }) {
						for _, cancel := range all {
							cancel()
						}
					}
				}
				return ws
			})(c)
		},
	}
}
