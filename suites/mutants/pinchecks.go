package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/rawjson"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// beforePinned is a mutant that does something about pinned requests before anything
// else is done: f gets the body and the model that it asks for, and returns the body to
// go on with, or nil to refuse the request.
func beforePinned(id, fault string, f func(p router.Parts, body []byte, asked string) []byte, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, New: front(func(r *router.Router, p router.Parts) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get("X-Dynamo-Worker-Instance-ID") != "" {
				body, err := io.ReadAll(req.Body)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				raw, _ := rawjson.Member(body, "model")
				var asked string
				if json.Unmarshal(raw, &asked) == nil {
					if body = f(p, body, asked); body == nil {
						http.Error(w, "the pinned worker does not serve the model", http.StatusBadRequest)
						return
					}
				}
				req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			r.ServeHTTP(w, req)
		})
	})}
}

// PINAlias looks a pinned worker up by the name that was asked for.
func (Catalogue) PINAlias() Mutant {
	return beforePinned("pin/alias", "a pinned request that calls its model by an alias is refused",
		func(p router.Parts, body []byte, asked string) []byte {
			known := p.Fleet.Models()
			if own, err := p.Models.Model(body, known); err == nil && own != asked {
				return nil
			}
			return body
		}, "PIN-001/alias")
}

// PINSparesModel trusts whoever pins.
func (Catalogue) PINSparesModel() Mutant {
	return beforePinned("pin/spares-model", "a pinned request's model is not checked: an unknown one is served by the pin's worker under one that it knows",
		func(p router.Parts, body []byte, _ string) []byte {
			known := p.Fleet.Models()
			if _, err := p.Models.Model(body, known); err == nil || len(known) == 0 {
				return body
			}
			out, err := rawjson.Apply(body, rawjson.Edit{Name: "model", Value: `"` + known[0] + `"`})
			if err != nil {
				return body
			}
			return out
		}, "PIN-010/unknown-model")
}

// PINAddress knows workers by their addresses, too.
func (Catalogue) PINAddress() Mutant {
	var ids sync.Map // address -> id
	return Mutant{ID: "pin/address", Fault: "a worker's URL is taken for a name of it", KilledBy: []string{"PIN-010/unknown-worker"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			find := p.Pins
			p.Pins = reads(func(h http.Header) (pins.Pins, error) {
				got, err := find.Pins(h)
				if id, ok := ids.Load(got.Serve.Worker); ok {
					got.Serve.Worker = id.(string)
				}
				return got, err
			})
		}, func(ws []target.Worker) []target.Worker {
			for _, w := range ws {
				ids.Store(w.URL, w.ID)
			}
			return ws
		})}
}

// AFFPinsEnter lets pins into a full table.
func (Catalogue) AFFPinsEnter() Mutant {
	return Mutant{ID: "aff/pins-enter", Fault: "a new session whose first turn is pinned is bound although the table is full", KilledBy: []string{"AFF-009/pinned"},
		New: with(func(cfg *router.Config, p *router.Parts) {
			more, err := affinity.New(affinity.Config{IdleTTL: cfg.IdleTTL, Live: p.Fleet.Live}, affinity.SystemClock{})
			if err != nil {
				panic(err) // the configured time was valid before
			}
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if errors.Is(err, affinity.ErrCapacity) && a.Pin.Worker != "" {
					return more.Acquire(ctx, a)
				}
				return l, err
			})
		})}
}

// AFFThousand keeps fewer bindings than it is configured to.
func (Catalogue) AFFThousand() Mutant {
	return coordinator("aff/table-of-1000", "a table of more than 4,000 places holds 1,000, and evicts the session that was idle for longest",
		func(cfg affinity.Config, clock affinity.Clock) (affinity.Coordinator, error) {
			if cfg.Capacity == 0 || cfg.Capacity > 4000 {
				cfg.Capacity, cfg.Evict = 1000, true
			}
			return affinity.New(cfg, clock)
		}, "AFF-009/declared")
}
