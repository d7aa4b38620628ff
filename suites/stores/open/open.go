// Package open makes discovery stores of every kind. It needs etcd and
// testcontainers, which take minutes to build: whoever only uses a store imports
// package stores and is handed one.
package open

import (
	"context"
	"fmt"

	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/containers"
	"github.com/routeproof/routeproof/suites/stores/embedded"
)

// Open makes a store, whose files, if it has some, lie below dir (empty: where
// temporary files go), and returns when it answers.
func Open(ctx context.Context, kind stores.Kind, dir string) (*stores.Store, error) {
	switch kind {
	case stores.File:
		return stores.OpenFile(dir)
	case stores.Embedded, stores.ThreeEmbedded:
		return embedded.Open(ctx, kind, dir)
	case stores.Container, stores.Three:
		return containers.Open(ctx, kind)
	}
	_, err := stores.ParseKind(string(kind))
	return nil, fmt.Errorf("open a store: %w", err)
}
