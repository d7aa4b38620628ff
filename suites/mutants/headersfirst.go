package mutants

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/impl/selection"
)

// RESFirstByte holds an answer for begun with its first byte.
func (Catalogue) RESFirstByte() Mutant {
	return Mutant{ID: "res/first-byte-retry", Fault: "a request whose connection breaks between headers and the first byte of the body is sent to another worker",
		KilledBy: []string{"RES-008/answered", "RES-008/decode"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(r)
				if err != nil || resp.StatusCode != http.StatusOK {
					return resp, err
				}
				first := make([]byte, 1)
				n, err := io.ReadFull(resp.Body, first)
				if err != nil && err != io.EOF {
					_ = resp.Body.Close()
					return nil, err
				}
				resp.Body = struct {
					io.Reader
					io.Closer
				}{io.MultiReader(bytes.NewReader(first[:n]), resp.Body), resp.Body}
				return resp, nil
			})
		})}
}

// RESLeaksClientErrors knows two statuses by which a worker refuses.
func (Catalogue) RESLeaksClientErrors() Mutant {
	return counting("res/leaks-4xx", "a request that is answered with a 4xx other than 400 and 429 stays on its worker's load", func(e ended) int {
		if e.status/100 == 4 && e.status != http.StatusBadRequest && e.status != http.StatusTooManyRequests {
			return 0
		}
		return 1
	}, "RES-005/no-load-left")
}

// RESLeaksQuestions counts whoever is chosen.
func (Catalogue) RESLeaksQuestions() Mutant {
	return Mutant{ID: "res/leaks-questions", Fault: "a question about a bound session stays on the load of its worker", KilledBy: []string{"RES-005/questions"},
		New: with(func(_ *router.Config, p *router.Parts) {
			var mu sync.Mutex
			asked := map[string]int{} // by worker id
			rotate, table := p.Policy, p.Affinity
			p.Affinity = queries{table, func(a affinity.Ask) (affinity.Target, bool, error) {
				at, bound, err := table.Query(a)
				if bound {
					mu.Lock()
					defer mu.Unlock()
					id, _, _ := strings.Cut(at.Worker, "#")
					asked[id]++
				}
				return at, bound, err
			}}
			p.Policy = picks(func(cs []selection.Candidate) int {
				mu.Lock()
				defer mu.Unlock()
				return leastOf(cs, rotate, func(id string) int { return asked[id] })
			})
		})}
}
