package mutants

import (
	"context"
	"net/http"
	"slices"
	"strconv"
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
	return cutting("scl/cuts-streams", "streams of a worker that leaves are cut", func(*http.Request) bool { return true }, true, "SCL-003/leave")
}

// SCLSendsElsewhere thinks of what is not answered as free to go.
func (Catalogue) SCLSendsElsewhere() Mutant {
	return cutting("scl/sends-elsewhere", "a request without headers yet is cancelled when its worker leaves, and sent to another",
		func(*http.Request) bool { return true }, false, "SCL-003/leave", "SCL-003/phases")
}

// SCLCutsPrefill forgets that prefill is work, too.
func (Catalogue) SCLCutsPrefill() Mutant {
	return cutting("scl/cuts-prefill", "prefill at a worker that leaves is cancelled, and done again at another", asksPrefill, false, "SCL-003/phases")
}

// cutting is a mutant that cancels some requests of a worker when it leaves: those that
// have their headers, too, or those alone that have not.
func cutting(id, fault string, which func(*http.Request) bool, answered bool, killedBy ...string) Mutant {
	return Mutant{
		ID: id, Fault: fault, KilledBy: killedBy,
		New: func(c target.LocalConfig) (target.Local, error) {
			var mu sync.Mutex
			running := map[string]map[int]context.CancelFunc{}
			n := 0
			return withWorkers(func(_ *router.Config, p *router.Parts) {
				inner := p.Transport
				p.Transport = sends(func(r *http.Request) (*http.Response, error) {
					if !which(r) {
						return inner.RoundTrip(r)
					}
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
					forget := func() {
						mu.Lock()
						delete(running[host], id)
						mu.Unlock()
					}
					done := func() { cancel(); forget() }
					resp, err := inner.RoundTrip(r.WithContext(ctx))
					if err != nil {
						done()
						return nil, err
					}
					if !answered {
						forget()
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

// SCLByPlace knows workers by their places in the list.
func (Catalogue) SCLByPlace() Mutant {
	return Mutant{ID: "scl/by-place", Fault: "sessions are bound to places in the list of workers, whoever is there", KilledBy: []string{"SCL-001/three-four-three", "SCL-001/phases"},
		New: withWorkers(func(*router.Config, *router.Parts) {}, func(ws []target.Worker) []target.Worker {
			ws = slices.Clone(ws)
			for i := range ws {
				ws[i].ID = strconv.Itoa(i)
			}
			return ws
		})}
}
