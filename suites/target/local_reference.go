package target

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/etcd"
	"github.com/routeproof/routeproof/impl/discovery/filestore"
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
	return Following(r, c.Store, nil)
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

// Following is LocalRouter for a router that looks for its workers in a store, if there is
// one; through may put something between the two.
func Following(r *router.Router, at StoreAt, through func(discovery.Store) discovery.Store) (Local, error) {
	l := LocalRouter(r)
	if at.Kind == "" {
		return l, nil
	}
	store, err := ReferenceStore(at)
	if err != nil {
		return nil, err
	}
	if through != nil {
		store = through(store)
	}
	f := &following{Local: l, store: store, over: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	go func() {
		defer close(f.over)
		f.err = discovery.NewFollower(store, "", r.SetWorkers, silent).Run(ctx)
	}()
	return f, nil
}

// ReferenceStore is the reference's own way to a store. Its records are as
// impl/discovery describes them.
func ReferenceStore(at StoreAt) (discovery.Store, error) {
	if at.Kind == StoreFile {
		return filestore.Open(filestore.Config{Root: at.Root, Log: silent})
	}
	c := etcd.Config{Root: referencePrefix, Log: silent}
	for _, e := range at.Endpoints {
		c.Endpoints = append(c.Endpoints, "http://"+e)
	}
	return etcd.Open(c)
}

// referencePrefix is what the reference's keys in etcd begin with.
const referencePrefix = "/routeproof/workers"

var silent = slog.New(slog.DiscardHandler)

// following is a router that looks for its workers in a store.
type following struct {
	Local
	store  discovery.Store
	cancel context.CancelFunc
	over   chan struct{}
	err    error // of the follower, after over
}

// Shutdown stops looking once the router has ended.
func (f *following) Shutdown(ctx context.Context) error {
	err := f.Local.Shutdown(ctx)
	f.cancel()
	<-f.over
	return errors.Join(err, f.err, f.store.Close())
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
