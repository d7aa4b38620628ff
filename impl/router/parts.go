// Package router is the reference router: OpenAI-compatible HTTP in, one worker
// of the fleet behind, byte-exact streaming in between. It assembles parts that
// are each one small interface or function, so that any one of them can be
// wrapped or replaced from outside without touching the others.
package router

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/fleet"
	"github.com/routeproof/routeproof/impl/handoff"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/selection"
)

// Sessions finds the session a request belongs to.
type Sessions interface {
	// Session returns the session id, or "" if the request carries none.
	Session(r *http.Request) string
}

// Pins finds the workers and ranks that a request asks for by name.
type Pins interface {
	// Pins returns what the headers ask for, phase by phase, by the workers' ids. An
	// error is the client's fault and says what is wrong with which header.
	Pins(h http.Header) (pins.Pins, error)
}

// Handoff makes the requests of the two phases out of a client's. The bodies it is
// given are not to be changed.
type Handoff interface {
	// Splits says whether requests to the URL path can run in two phases.
	Splits(path string) bool
	// Prefill makes the prefill worker's request body. An error is the client's fault.
	Prefill(body []byte) ([]byte, error)
	// Decode makes the decode worker's request body out of the client's and of the
	// prefill worker's answer. An error is that worker's fault.
	Decode(body, answer []byte) ([]byte, error)
}

// Models finds the model a request asks for.
type Models interface {
	// Model returns the canonical name of the model that the body names, perhaps by an
	// alias; the request is sent on with that name. known are
	// the models that live workers serve, sorted; it is not to be changed. Errors
	// are of type *Error: 400 for a body that cannot be read, 404 for a model that
	// is not known.
	Model(body []byte, known []string) (string, error)
}

// Relay hands a worker's response to the client.
type Relay interface {
	// Relay copies status, end-to-end headers and body, each part as soon as it is
	// there. An error means that the client has not got all of it: the router then
	// cuts the client's connection, because a clean end would be a lie.
	Relay(w http.ResponseWriter, resp *http.Response) error
}

// Failover says what becomes of a request and its session after an attempt. It
// is a pure function.
type Failover func(Outcome) Decision

// Upstream derives the context of a worker request from the client's. The
// derived one must end when the client's does, so that a client that leaves
// frees the worker at once.
type Upstream func(client context.Context) (context.Context, context.CancelFunc)

// Parts are what a Router is made of. They are for one router: it changes what is
// in them.
type Parts struct {
	Sessions  Sessions
	Pins      Pins
	Models    Models
	Fleet     *fleet.Fleet
	Affinity  affinity.Coordinator // nil turns affinity off; workers are named by fleet keys, opaque to it
	Policy    selection.Policy
	Prefill   Prefilling
	Transport http.RoundTripper // one attempt at one worker; it must not retry by itself
	Relay     Relay
	Failover  Failover
	Context   Upstream
	Log       *slog.Logger
}

// Prefilling is what a prefill phase, where there is one, is made of besides.
type Prefilling struct {
	Affinity affinity.Coordinator // of this phase alone; nil turns affinity off in it
	Policy   selection.Policy
	Handoff  Handoff
}

// DefaultParts makes the reference's parts for a config, or returns Validate's
// error. Affinity is nil when IdleTTL is 0; the log goes nowhere.
func DefaultParts(cfg Config) (Parts, error) {
	if err := cfg.Validate(); err != nil {
		return Parts{}, err
	}
	cfg = cfg.withDefaults()
	policy, err := selection.ByName(cfg.Policy, cfg.Seed)
	if err != nil {
		return Parts{}, err
	}
	prefill, err := selection.ByName(cfg.Policy, cfg.Seed+1)
	if err != nil {
		return Parts{}, err
	}
	p := Parts{
		Sessions:  HeaderSessions(cfg.SessionHeaders),
		Pins:      pins.Headers{},
		Models:    BodyModels{Aliases: cfg.Aliases},
		Fleet:     fleet.New(),
		Policy:    policy,
		Prefill:   Prefilling{Policy: prefill, Handoff: handoff.KVTransfer{}},
		Transport: NewTransport(cfg.HeaderTimeout),
		Relay:     StreamRelay{},
		Failover:  DefaultFailover,
		Context:   context.WithCancel,
		Log:       slog.New(slog.DiscardHandler),
	}
	if cfg.IdleTTL != 0 {
		ac := cfg.affinity()
		ac.Live = p.Fleet.Live
		for _, c := range [...]*affinity.Coordinator{&p.Affinity, &p.Prefill.Affinity} {
			if *c, err = affinity.New(ac, affinity.SystemClock{}); err != nil {
				return Parts{}, err
			}
		}
	}
	return p, nil
}

// missing names the first part that is absent but needed, or "".
func (p Parts) missing() string {
	switch {
	case p.Sessions == nil:
		return "Sessions"
	case p.Pins == nil:
		return "Pins"
	case p.Models == nil:
		return "Models"
	case p.Fleet == nil:
		return "Fleet"
	case p.Policy == nil:
		return "Policy"
	case p.Prefill.Policy == nil:
		return "Prefill.Policy"
	case p.Prefill.Handoff == nil:
		return "Prefill.Handoff"
	case p.Transport == nil:
		return "Transport"
	case p.Relay == nil:
		return "Relay"
	case p.Failover == nil:
		return "Failover"
	case p.Context == nil:
		return "Context"
	case p.Log == nil:
		return "Log"
	}
	return ""
}
