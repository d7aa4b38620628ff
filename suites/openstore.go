package suites

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/mockers/registrar/dir"
	"github.com/routeproof/routeproof/mockers/registrar/etcd"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/embedded"
	"github.com/routeproof/routeproof/suites/target"
)

// openStore makes an empty discovery store, which needs nothing installed: an etcd inside
// this process, or a directory.
func openStore(ctx context.Context, kind string, how target.Registration) (*bench.Discovery, error) {
	var s *stores.Store
	var r registrar.Registrar
	var err error
	switch kind {
	case target.StoreEtcd:
		if s, err = embedded.Open(ctx, stores.Embedded, ""); err == nil {
			r, err = etcd.New(ctx, etcd.Options{Endpoints: s.Direct})
		}
	case target.StoreFile:
		if s, err = stores.OpenFile(""); err == nil {
			var o dir.Options
			if how.KeepAlive == target.KeepAliveRewrite {
				o.Render = func(e registrar.Entry, _ time.Time) []byte { return e.Value }
			}
			r, err = dir.New(s.Root, o)
		}
	default:
		return nil, fmt.Errorf("no kind of store %q", kind)
	}
	if err != nil {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return &bench.Discovery{At: target.StoreAt{Kind: kind, Endpoints: s.Endpoints, Root: s.Root}, Store: s, Registrar: r}, nil
}
