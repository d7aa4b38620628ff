package target

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
)

// ReferenceFactory makes the reference router: the default of in-process targets.
func ReferenceFactory(c LocalConfig) (Local, error) {
	cfg, err := ReferenceConfig(c)
	if err != nil {
		return nil, err
	}
	parts, err := router.DefaultParts(cfg)
	if err != nil {
		return nil, err
	}
	r, err := router.New(cfg, parts)
	if err != nil {
		return nil, err
	}
	return LocalRouter(r), nil
}

// ReferenceConfig says in the reference's own terms what a manifest declares.
// What the reference cannot be is an error.
func ReferenceConfig(c LocalConfig) (router.Config, error) {
	cfg := router.Config{
		Policy: c.Policy, Seed: c.Seed, HeaderTimeout: c.HeaderTimeout,
		IdleTTL: c.Session.IdleTTL, Capacity: c.Session.Capacity, AtCapacity: router.AtCapacity(c.Session.AtCapacity), TenantHeader: c.Session.Tenant,
		Aliases: c.Aliases,
	}
	if c.Session.Final == FinalRelease {
		return cfg, fmt.Errorf("the reference ends no binding for a last turn; declare session.final: %s", FinalIgnore)
	}
	switch c.Session.Kind {
	case KindTable:
		if cfg.IdleTTL == 0 {
			return cfg, fmt.Errorf("the reference needs session.idleTTL for session.kind %s", KindTable)
		}
	case KindNone:
		cfg.IdleTTL = 0
	default:
		return cfg, fmt.Errorf("the reference has no session.kind %q; declare %s or %s", c.Session.Kind, KindTable, KindNone)
	}
	if c.Session.Carrier.Body != "" || c.Session.Carrier.Cookie != "" {
		return cfg, fmt.Errorf("the reference reads session ids from headers only; declare session.carrier.header")
	}
	if h := c.Session.Carrier.Header; h != "" && !slices.ContainsFunc(router.DefaultSessionHeaders(), func(d string) bool { return strings.EqualFold(d, h) }) {
		cfg.SessionHeaders = []string{h}
	}
	return cfg, cfg.Validate()
}

// LocalRouter makes a reference router, or one with a part replaced, a Local.
func LocalRouter(r *router.Router) Local { return reference{r} }

type reference struct{ r *router.Router }

func (l reference) Serve(n net.Listener) error         { return l.r.Serve(n) }
func (l reference) Shutdown(ctx context.Context) error { return l.r.Shutdown(ctx) }

func (l reference) SetWorkers(workers []Worker) error {
	set := make([]discovery.Worker, len(workers))
	for i, w := range workers {
		set[i] = wired(w)
	}
	return l.r.SetWorkers(set)
}

// wired says in the reference's own terms what it is told of a worker.
func wired(w Worker) discovery.Worker {
	return discovery.Worker{ID: w.ID, URL: w.URL, Models: []string{w.Model}, Role: discovery.Role(w.Role), Ranks: w.Ranks}
}
