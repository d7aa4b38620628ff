package containers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/faultproxy"
	"github.com/routeproof/routeproof/suites/stores/internal/admin"
)

const (
	clientPort = "2379/tcp"
	closing    = 30 * time.Second // everything that Close does
	memory     = 128 << 20        // of a node, which takes a third of it
)

// Cluster are the nodes. It is a stores.Backend, Cluster, Pauser, Disconnecter
// and Parter.
type Cluster struct {
	provider *testcontainers.DockerProvider
	fronts   faultproxy.Group // for the router
	directs  faultproxy.Group // for the harness
	admin    *admin.Admin
	peers    *testcontainers.DockerNetwork // for three nodes among themselves, nobody else is on it

	mu    sync.Mutex // one change at a time
	nodes []*node
}

// node is one container.
type node struct {
	c        *testcontainers.DockerContainer
	name     string
	running  bool
	paused   bool
	off      bool // taken off its networks
	parted   bool // taken off the peers' network
	networks []string
}

// Open starts one node or three and returns when they answer. The engine must be
// of this machine.
func Open(ctx context.Context, kind stores.Kind) (s *stores.Store, err error) {
	n, ok := map[stores.Kind]int{stores.Container: 1, stores.Three: 3}[kind]
	if !ok {
		return nil, fmt.Errorf("etcd in containers cannot be of kind %q; use %s or %s", kind, stores.Container, stores.Three)
	}
	c := &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("store %s: %w", kind, err), c.Close())
		}
	}()
	if c.provider, err = provider(ctx); err != nil {
		return nil, err
	}
	if c.fronts, err = faultproxy.ListenGroup(n, false); err != nil {
		return nil, err
	}
	if c.directs, err = faultproxy.ListenGroup(n, true); err != nil {
		return nil, err
	}
	if c.admin, err = admin.New(c.directs.Addrs()); err != nil {
		return nil, err
	}
	image := etcdImage(ctx, c.provider)
	if err := have(ctx, c.provider, image); err != nil {
		return nil, err
	}
	if err := watch(ctx, c.provider); err != nil {
		return nil, err
	}
	if n > 1 {
		if c.peers, err = network.New(ctx, network.WithInternal()); err != nil {
			return nil, fmt.Errorf("network: %w", err)
		}
	}
	for i := range n {
		if err := c.create(ctx, image, i, n); err != nil {
			return nil, err
		}
	}
	for i := range c.nodes {
		if err := c.ready(ctx, i); err != nil {
			return nil, err
		}
	}
	s = stores.New(kind, c, c.fronts)
	s.Endpoints, s.Direct = c.fronts.Addrs(), c.directs.Addrs()
	return s, nil
}

// create starts a node's container and leads the proxies to it. It does not wait
// for the others.
func (c *Cluster) create(ctx context.Context, image string, i, n int) error {
	nd := &node{name: fmt.Sprint("etcd", i), networks: []string{testcontainers.Bridge}}
	peer := func(i int) string {
		if n == 1 {
			return "http://127.0.0.1:2380"
		}
		return fmt.Sprintf("http://etcd%d:2380", i)
	}
	cluster := nd.name + "=" + peer(i)
	for j := range n {
		if j != i {
			cluster += fmt.Sprintf(",etcd%d=%s", j, peer(j))
		}
	}
	req := testcontainers.ContainerRequest{
		Image: image,
		Cmd: []string{"etcd", "--name=" + nd.name, "--data-dir=/etcd-data", "--unsafe-no-fsync",
			"--heartbeat-interval=50", "--election-timeout=500", // a lease lasts 1.5 elections at least
			"--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://" + c.fronts[i].Addr(),
			"--listen-peer-urls=http://0.0.0.0:2380", "--initial-advertise-peer-urls=" + peer(i), "--initial-cluster=" + cluster},
		Env:          map[string]string{"GOMEMLIMIT": "100MiB"},
		ExposedPorts: []string{clientPort},
		HostConfigModifier: func(hc *container.HostConfig) {
			onLoopback(hc, clientPort)
			hc.Memory = memory
		},
	}
	if c.peers != nil {
		nd.networks = append(nd.networks, c.peers.Name)
		req.Networks = nd.networks
		req.NetworkAliases = map[string][]string{c.peers.Name: {nd.name}}
	}
	made, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{ContainerRequest: req, Started: true, Logger: c.provider.Logger})
	if d, ok := made.(*testcontainers.DockerContainer); ok && d != nil {
		nd.c = d
		c.nodes = append(c.nodes, nd) // so that Close finds it, started or not
	}
	if err != nil {
		return fmt.Errorf("%s: %w", nd.name, err)
	}
	nd.running = true
	return c.lead(ctx, i)
}

// lead leads the proxies to where a node's port is published now.
func (c *Cluster) lead(ctx context.Context, i int) error {
	addr, err := c.nodes[i].c.PortEndpoint(ctx, clientPort, "")
	if err != nil {
		return fmt.Errorf("%s: %w", c.nodes[i].name, err)
	}
	return errors.Join(c.directs[i].Up(addr), c.fronts[i].Up(addr))
}

// ready waits for a node's first answer. An open port says nothing: the engine
// opens it before etcd serves.
func (c *Cluster) ready(ctx context.Context, i int) error {
	healthy := wait.ForHTTP("/health").WithPort(clientPort).WithStartupTimeout(admin.Longest).WithPollInterval(admin.Poll)
	if err := healthy.WaitUntilReady(ctx, c.nodes[i].c); err != nil {
		return fmt.Errorf("%s is not healthy: %w", c.nodes[i].name, err)
	}
	return c.admin.Answers(ctx, i)
}

// Leader is stores.Cluster's.
func (c *Cluster) Leader(ctx context.Context) (int, error) { return c.admin.Leader(ctx) }

// Compact is stores.Cluster's.
func (c *Cluster) Compact(ctx context.Context) (int64, error) { return c.admin.Compact(ctx) }

// Keys is stores.Backend's.
func (c *Cluster) Keys(ctx context.Context) ([]string, error) { return c.admin.Keys(ctx) }

// Containers are the ids of the nodes' containers, for who wants to look for
// himself whether they are gone.
func (c *Cluster) Containers() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		ids = append(ids, n.c.GetContainerID())
	}
	return ids
}

// Close is stores.Backend's.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var failed []error
	if c.admin != nil {
		failed = append(failed, c.admin.Close())
	}
	failed = append(failed, c.fronts.Close(), c.directs.Close())
	errs := make([]error, len(c.nodes))
	var gone sync.WaitGroup
	for i, n := range c.nodes {
		gone.Go(func() { errs[i] = c.remove(ctx, n) })
	}
	gone.Wait()
	failed = append(failed, errs...)
	c.nodes = nil
	if c.peers != nil {
		if err := c.peers.Remove(ctx); err != nil {
			failed = append(failed, fmt.Errorf("network %s: %w", c.peers.Name, err))
		}
		c.peers = nil
	}
	if c.provider != nil {
		failed = append(failed, c.provider.Close())
	}
	return errors.Join(failed...)
}
