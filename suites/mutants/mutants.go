// Package mutants holds routers that are wrong in exactly one known way. Each is
// the reference with one part substituted from outside; the reference itself
// has no defect switch. They prove that the cases can fail: each case must kill
// at least one mutant, and each mutant must be killed.
package mutants

import (
	"io"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Mutant is one wrong router.
type Mutant struct {
	ID       string              // area in lower case, slash, the fault in a few words
	Fault    string              // one line: what it does wrong
	KilledBy []string            // IDs of the cases that must fail on it
	New      target.LocalFactory // nil for a mutant that is no router
	// Coordinator makes its table of sessions and Index its session index where it is
	// certified as a component; nil where it is none.
	Coordinator target.CoordinatorFactory
	Index       target.IndexFactory
	// Between makes its adapter wrong; nil for a mutant whose adapter is right.
	Between func(target.Serve) target.Serve
}

// Component is how the mutant differs where it is certified as a component.
func (m Mutant) Component() target.ComponentOptions {
	return target.ComponentOptions{Coordinator: m.Coordinator, Index: m.Index, Between: m.Between}
}

// Library says whether the mutant is wrong as a component of this name or, for "", as a
// router.
func (m Mutant) Library(name string) bool {
	switch name {
	case component.AffinityComponent:
		return m.Coordinator != nil || m.Between != nil
	case component.SessionIndexComponent:
		return m.Index != nil
	}
	return m.New != nil
}

// Catalogue holds the mutants as methods; the suite finds them by reflection,
// so that a new file needs no list.
type Catalogue struct{}

// with makes a router whose parts were changed by f before assembly.
func with(f func(cfg *router.Config, p *router.Parts)) target.LocalFactory {
	return withWorkers(f, func(w []target.Worker) []target.Worker { return w })
}

// withWorkers also changes what the router hears about workers.
func withWorkers(f func(*router.Config, *router.Parts), workers func([]target.Worker) []target.Worker) target.LocalFactory {
	return func(c target.LocalConfig) (target.Local, error) {
		r, err := routerOf(c, f)
		if err != nil {
			return nil, err
		}
		return local{target.LocalRouter(r), workers}, nil
	}
}

// routerOf is a router whose parts were changed by f before assembly.
func routerOf(c target.LocalConfig, f func(*router.Config, *router.Parts)) (*router.Router, error) {
	cfg, err := target.ReferenceConfig(c)
	if err != nil {
		return nil, err
	}
	parts, err := router.DefaultParts(cfg)
	if err != nil {
		return nil, err
	}
	f(&cfg, &parts)
	return router.New(cfg, parts)
}

// local is a router that may be told something else about workers.
type local struct {
	target.Local
	workers func([]target.Worker) []target.Worker
}

func (l local) SetWorkers(ws []target.Worker) error { return l.Local.SetWorkers(l.workers(ws)) }

// sessions is a session finder made of a function.
type sessions func(*http.Request) string

func (f sessions) Session(r *http.Request) string { return f(r) }

// sends is a transport made of a function.
type sends func(*http.Request) (*http.Response, error)

func (f sends) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reading reads each request's body before f sends it on.
func reading(f func(r *http.Request, raw []byte) (*http.Response, error)) sends {
	return func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return f(r, raw)
	}
}

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
