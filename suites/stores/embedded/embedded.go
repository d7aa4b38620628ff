// Package embedded runs etcd inside this process: one node, or a cluster of three.
// It needs nothing installed, starts in a fraction of a second and leaves one
// directory, which Close removes.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/faultproxy"
	"github.com/routeproof/routeproof/suites/stores/internal/admin"
)

// Cluster are the nodes. It is a stores.Backend, Cluster and Parter.
type Cluster struct {
	dir     string
	fronts  faultproxy.Group // for the router
	directs faultproxy.Group // for the harness
	peers   faultproxy.Group // for the nodes among themselves
	admin   *admin.Admin

	mu    sync.Mutex    // one change at a time
	nodes []*embed.Etcd // nil: stopped
	ids   []types.ID    // a node keeps its own
	apart map[int]bool  // the nodes of a minority
}

// Open starts one node or three, in a directory below dir (empty: where temporary
// files go), and returns when they answer.
func Open(ctx context.Context, kind stores.Kind, dir string) (s *stores.Store, err error) {
	n, ok := map[stores.Kind]int{stores.Embedded: 1, stores.ThreeEmbedded: 3}[kind]
	if !ok {
		return nil, fmt.Errorf("embedded etcd cannot be of kind %q; use %s or %s", kind, stores.Embedded, stores.ThreeEmbedded)
	}
	c := &Cluster{nodes: make([]*embed.Etcd, n), ids: make([]types.ID, n), apart: map[int]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("store %s: %w", kind, err), c.Close())
		}
	}()
	if c.dir, err = os.MkdirTemp(dir, "routeproof-etcd-"); err != nil {
		return nil, err
	}
	for g, plain := range map[*faultproxy.Group]bool{&c.fronts: false, &c.directs: true, &c.peers: true} {
		if *g, err = faultproxy.ListenGroup(n, plain); err != nil {
			return nil, err
		}
	}
	if c.admin, err = admin.New(c.directs.Addrs()); err != nil {
		return nil, err
	}
	for i := range c.nodes {
		if err := c.launch(i); err != nil {
			return nil, err
		}
	}
	for i := range c.nodes {
		if err := c.admin.Answers(ctx, i); err != nil {
			return nil, err
		}
	}
	s = stores.New(kind, c, c.fronts)
	s.Endpoints, s.Direct = c.fronts.Addrs(), c.directs.Addrs()
	return s, nil
}

func name(node int) string { return fmt.Sprint("node", node) }

// config is a node's. Its own ports are any free ones, new ones at each start:
// what others know of it are the proxies' addresses.
func (c *Cluster) config(node int) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = name(node)
	cfg.Dir = filepath.Join(c.dir, cfg.Name)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true // a crash of the machine ends the run anyway
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg.ListenClientUrls, cfg.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	cfg.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: c.fronts[node].Addr()}}
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: c.peers[node].Addr()}}
	cfg.InitialCluster = ""
	for i, p := range c.peers {
		if i > 0 {
			cfg.InitialCluster += ","
		}
		cfg.InitialCluster += name(i) + "=http://" + p.Addr()
	}
	// A single node needs no patience with others. Three share one process, which
	// a busy machine may hold up for a while.
	cfg.TickMs, cfg.ElectionMs = 10, 100
	if len(c.nodes) > 1 {
		cfg.TickMs, cfg.ElectionMs = 50, 500
	}
	return cfg
}

// launch starts a node and leads the proxies to it. It does not wait for others.
func (c *Cluster) launch(node int) error {
	e, err := embed.StartEtcd(c.config(node))
	if err != nil {
		return fmt.Errorf("start %s: %w", name(node), err)
	}
	c.nodes[node], c.ids[node] = e, e.Server.MemberID()
	return errors.Join(
		c.peers[node].Up(e.Peers[0].Addr().String()),
		c.directs[node].Up(e.Clients[0].Addr().String()),
		c.fronts[node].Up(e.Clients[0].Addr().String()),
	)
}

// halt ends a node. Its connections go first: etcd waits seconds for clients that
// are connected.
func (c *Cluster) halt(node int, hard bool) error {
	e := c.nodes[node]
	if e == nil {
		return fmt.Errorf("%s is not running", name(node))
	}
	c.nodes[node] = nil
	c.fronts[node].Down()
	c.directs[node].Down()
	if hard {
		c.peers[node].Down()
		e.Server.HardStop() // hands no leadership over
	}
	e.Close()
	c.peers[node].Down()
	return nil
}

// Stop is stores.Cluster's.
func (c *Cluster) Stop(_ context.Context, node int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.halt(node, false)
}

// Kill is stores.Cluster's: no leadership is handed over. What the node had
// written is there when it starts again.
func (c *Cluster) Kill(_ context.Context, node int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.halt(node, true)
}

// Start is stores.Cluster's.
func (c *Cluster) Start(ctx context.Context, node int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[node] != nil {
		return fmt.Errorf("%s is running already", name(node))
	}
	if err := c.launch(node); err != nil {
		return err
	}
	if len(c.apart) > 0 {
		c.cut(c.apart, true)
	}
	if c.reached(node) <= len(c.nodes)/2 {
		return nil // etcd serves nobody before it has heard a leader
	}
	return c.admin.Answers(ctx, node)
}

// reached is how many nodes run on the node's side of a partition.
func (c *Cluster) reached(node int) (n int) {
	for i, e := range c.nodes {
		if e != nil && c.apart[i] == c.apart[node] {
			n++
		}
	}
	return n
}

// Leader is stores.Cluster's.
func (c *Cluster) Leader(ctx context.Context) (int, error) { return c.admin.Leader(ctx) }

// Compact is stores.Cluster's.
func (c *Cluster) Compact(ctx context.Context) (int64, error) { return c.admin.Compact(ctx) }

// Keys is stores.Backend's.
func (c *Cluster) Keys(ctx context.Context) ([]string, error) { return c.admin.Keys(ctx) }

// Partition is stores.Parter's.
func (c *Cluster) Partition(_ context.Context, minority ...int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(minority) == 0 || len(minority) >= len(c.nodes) {
		return fmt.Errorf("parting %d of %d nodes parts nobody; name some, not all", len(minority), len(c.nodes))
	}
	c.cut(c.apart, false)
	clear(c.apart)
	for _, n := range minority {
		c.apart[n] = true
	}
	c.cut(c.apart, true)
	return nil
}

// Rejoin is stores.Parter's.
func (c *Cluster) Rejoin(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut(c.apart, false)
	clear(c.apart)
	return c.admin.United(ctx)
}

// cut makes the nodes of both sides drop what goes to and comes from the other
// side, or ends that.
func (c *Cluster) cut(apart map[int]bool, drop bool) {
	for i, e := range c.nodes {
		for j, other := range c.ids {
			switch {
			case e == nil || apart[i] == apart[j]:
			case drop:
				e.Server.CutPeer(other)
			default:
				e.Server.MendPeer(other)
			}
		}
	}
}

// Close is stores.Backend's.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.admin != nil {
		err = c.admin.Close()
	}
	// No client is left, and no election is worth it any more.
	for i, e := range c.nodes {
		if e != nil {
			c.halt(i, true)
		}
	}
	err = errors.Join(err, c.fronts.Close(), c.directs.Close(), c.peers.Close())
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
