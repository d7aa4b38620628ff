package mutants

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/impl/selection"
	"github.com/routeproof/routeproof/suites/target"
)

// ended is how an attempt ended, as far as its load is concerned.
type ended struct {
	status int  // 0: no headers came
	broken bool // the answer broke off, and not because its client left
	gone   bool // its worker has left meanwhile
}

// counting is a mutant that sends keyless requests where its own count of requests is
// least; off says how much the end of one takes off, which should be 1.
func counting(id, fault string, off func(ended) int, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, New: func(c target.LocalConfig) (target.Local, error) {
		var mu sync.Mutex
		load, host := map[string]int{}, map[string]string{} // by host; worker id -> host
		var here []string
		count := func(h string, by int) {
			mu.Lock()
			defer mu.Unlock()
			load[h] += by
		}
		end := func(h string, e ended) {
			mu.Lock()
			e.gone = !slices.Contains(here, h)
			mu.Unlock()
			count(h, -off(e))
		}
		return withWorkers(func(_ *router.Config, p *router.Parts) {
			rotate, send := p.Policy, p.Transport
			p.Policy = picks(func(cs []selection.Candidate) int {
				mu.Lock()
				defer mu.Unlock()
				return leastOf(cs, rotate, func(id string) int { return load[host[id]] })
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				h := r.URL.Host
				count(h, 1)
				resp, err := send.RoundTrip(r)
				if err != nil {
					end(h, ended{broken: r.Context().Err() == nil})
					return nil, err
				}
				resp.Body = &counted{ReadCloser: resp.Body, end: func(broken bool) {
					end(h, ended{status: resp.StatusCode, broken: broken && r.Context().Err() == nil})
				}}
				return resp, nil
			})
		}, func(ws []target.Worker) []target.Worker {
			mu.Lock()
			defer mu.Unlock()
			here = nil
			for _, w := range ws {
				host[w.ID] = strings.TrimPrefix(w.URL, "http://")
				here = append(here, host[w.ID])
			}
			return ws
		})(c)
	}}
}

// counted is a body that tells once how it ended.
type counted struct {
	io.ReadCloser
	broken bool
	once   sync.Once
	end    func(broken bool)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		c.broken = true
	}
	return n, err
}

func (c *counted) Close() error {
	defer c.once.Do(func() { c.end(c.broken) })
	return c.ReadCloser.Close()
}

// RESLeaksBroken forgets answers that break off.
func (Catalogue) RESLeaksBroken() Mutant {
	return counting("res/leaks-broken", "a request whose answer breaks off stays on its worker's load", func(e ended) int {
		if e.broken && e.status != 0 {
			return 0
		}
		return 1
	}, "RES-005/worker-fails")
}

// RESLeaksErrors forgets answers that say no.
func (Catalogue) RESLeaksErrors() Mutant {
	return counting("res/leaks-errors", "a request that is answered with a 5xx stays on its worker's load", func(e ended) int {
		if e.status >= 500 {
			return 0
		}
		return 1
	}, "RES-005/worker-fails")
}

// RESCountsTwice lets a failure count in two places.
func (Catalogue) RESCountsTwice() Mutant {
	return counting("res/counts-down-twice", "a request whose connection breaks before headers is taken off its worker's load twice", func(e ended) int {
		if e.broken && e.status == 0 {
			return 2
		}
		return 1
	}, "RES-005/worker-fails")
}

// RESLeaksDeparted forgets whoever has left.
func (Catalogue) RESLeaksDeparted() Mutant {
	return counting("res/leaks-departed", "a request that ends after its worker has left is there on its load when it is back", func(e ended) int {
		if e.gone {
			return 0
		}
		return 1
	}, "RES-005/worker-leaves")
}

// leastOf picks the least loaded candidate; among several the policy decides.
func leastOf(cs []selection.Candidate, among selection.Policy, load func(id string) int) int {
	var least []int
	for i, c := range cs {
		switch n := load(c.ID); {
		case len(least) == 0 || n < load(cs[least[0]].ID):
			least = []int{i}
		case n == load(cs[least[0]].ID):
			least = append(least, i)
		}
	}
	ties := make([]selection.Candidate, len(least))
	for i, j := range least {
		ties[i] = cs[j]
	}
	return least[among.Pick(ties)]
}
