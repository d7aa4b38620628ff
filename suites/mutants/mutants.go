// Package mutants holds routers that are wrong in exactly one known way. Each is
// the reference with one part substituted from outside; the reference itself
// has no defect switch. They prove that the cases can fail: each case must kill
// at least one mutant, and each mutant must be killed.
package mutants

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// Mutant is one wrong router.
type Mutant struct {
	ID       string   // area in lower case, slash, the fault in a few words
	Fault    string   // one line: what it does wrong
	KilledBy []string // IDs of the cases that must fail on it
	New      target.LocalFactory
}

// Catalogue holds the mutants as methods; the suite finds them by reflection,
// so that a new file needs no list.
type Catalogue struct{}

// config is the reference's configuration for a target's needs.
func config(c target.LocalConfig) router.Config {
	return router.Config{
		Policy: c.Policy, Seed: c.Seed, IdleTTL: c.Session.IdleTTL, Capacity: c.Session.Capacity,
		AtCapacity: router.AtCapacity(c.Session.AtCapacity), HeaderTimeout: c.HeaderTimeout,
	}
}

// with makes a router whose parts were changed by f before assembly.
func with(f func(cfg *router.Config, p *router.Parts)) target.LocalFactory {
	return withWorkers(f, func(w []target.Worker) []target.Worker { return w })
}

// withWorkers also changes what the router hears about workers.
func withWorkers(f func(*router.Config, *router.Parts), workers func([]target.Worker) []target.Worker) target.LocalFactory {
	return func(c target.LocalConfig) (target.Local, error) {
		cfg := config(c)
		parts, err := router.DefaultParts(cfg)
		if err != nil {
			return nil, err
		}
		f(&cfg, &parts)
		r, err := router.New(cfg, parts)
		if err != nil {
			return nil, err
		}
		return &local{Router: r, models: c.Models, workers: workers}, nil
	}
}

// local runs a router as a target.
type local struct {
	*router.Router
	models  []string
	workers func([]target.Worker) []target.Worker
}

func (l *local) SetWorkers(ws []target.Worker) error {
	var out []discovery.Worker
	for _, w := range l.workers(ws) {
		out = append(out, discovery.Worker{ID: w.ID, URL: w.URL, Models: l.models})
	}
	return l.Router.SetWorkers(out)
}

func (l *local) Serve(n net.Listener) error         { return l.Router.Serve(n) }
func (l *local) Shutdown(ctx context.Context) error { return l.Router.Shutdown(ctx) }

// sessions is a session finder made of a function.
type sessions func(*http.Request) string

func (f sessions) Session(r *http.Request) string { return f(r) }

// sends is a transport made of a function.
type sends func(*http.Request) (*http.Response, error)

func (f sends) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// relays is a relay made of a function.
type relays func(http.ResponseWriter, *http.Response) error

func (f relays) Relay(w http.ResponseWriter, r *http.Response) error { return f(w, r) }

// closer runs once when a response body is closed.
type closer struct {
	body interface {
		Read([]byte) (int, error)
		Close() error
	}
	once sync.Once
	done func()
}

func (c *closer) Read(b []byte) (int, error) { return c.body.Read(b) }

func (c *closer) Close() error {
	defer c.once.Do(c.done)
	return c.body.Close()
}
