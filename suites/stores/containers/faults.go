package containers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/routeproof/routeproof/suites/stores/internal/admin"
)

// with does something to a node's container.
func (c *Cluster) with(i int, want func(*node) error, do func(api client.APIClient, n *node, id string) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= len(c.nodes) {
		return errors.New("the store is closed")
	}
	n := c.nodes[i]
	if err := want(n); err != nil {
		return fmt.Errorf("%s %w", n.name, err)
	}
	if err := do(c.provider.Client(), n, n.c.GetContainerID()); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return nil
}

// What a node has to be for a fault.
func running(n *node) error {
	switch {
	case !n.running:
		return errors.New("is not running; start it first")
	case n.paused:
		return errors.New("is paused; resume it first")
	}
	return nil
}

func stopped(n *node) error {
	if n.running {
		return errors.New("is running already")
	}
	return nil
}

// tidy is how long a node may take to end when it is told to.
const tidy = 10 * time.Second

// Stop is stores.Cluster's.
func (c *Cluster) Stop(ctx context.Context, i int) error {
	return c.end(ctx, i, func(api client.APIClient, id string) error {
		patience := int(tidy / time.Second)
		_, err := api.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &patience})
		return err
	})
}

// Kill is stores.Cluster's.
func (c *Cluster) Kill(ctx context.Context, i int) error {
	return c.end(ctx, i, func(api client.APIClient, id string) error {
		ended := api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
		if _, err := api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "SIGKILL"}); err != nil {
			return err
		}
		select {
		case err := <-ended.Error:
			return err
		case <-ended.Result:
			return nil
		}
	})
}

// end ends a node. The proxies go first: the engine's own would accept connections
// for a while that nobody serves.
func (c *Cluster) end(ctx context.Context, i int, how func(api client.APIClient, id string) error) error {
	return c.with(i, running, func(api client.APIClient, n *node, id string) error {
		c.fronts[i].Down()
		c.directs[i].Down()
		n.running = false
		return how(api, id)
	})
}

// Start is stores.Cluster's.
func (c *Cluster) Start(ctx context.Context, i int) error {
	return c.with(i, stopped, func(api client.APIClient, n *node, id string) error {
		if _, err := api.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
			return err
		}
		n.running = true
		if n.off {
			return nil
		}
		return c.rejoined(ctx, i)
	})
}

// rejoined leads the proxies to a node that is reachable again, at another port,
// and waits for its answer if it has a majority to join.
func (c *Cluster) rejoined(ctx context.Context, i int) error {
	if err := c.lead(ctx, i); err != nil {
		return err
	}
	with := 0
	for _, n := range c.nodes {
		if n.running && !n.paused && !n.off && n.parted == c.nodes[i].parted {
			with++
		}
	}
	if with <= len(c.nodes)/2 {
		return nil
	}
	return c.ready(ctx, i)
}

// Pause is stores.Pauser's.
func (c *Cluster) Pause(ctx context.Context, i int) error {
	return c.with(i, running, func(api client.APIClient, n *node, id string) error {
		_, err := api.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		n.paused = err == nil
		return err
	})
}

// Resume is stores.Pauser's.
func (c *Cluster) Resume(ctx context.Context, i int) error {
	paused := func(n *node) error {
		if !n.paused {
			return errors.New("is not paused")
		}
		return nil
	}
	return c.with(i, paused, func(api client.APIClient, n *node, id string) error {
		_, err := api.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		n.paused = err != nil
		return err
	})
}

// Disconnect is stores.Disconnecter's: off all its networks, published port and all.
func (c *Cluster) Disconnect(ctx context.Context, i int) error {
	return c.with(i, func(n *node) error {
		if n.off || n.parted {
			return errors.New("is off a network already")
		}
		return running(n)
	}, func(api client.APIClient, n *node, id string) error {
		n.off = true
		for _, name := range n.networks {
			if err := unplug(ctx, api, name, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Reconnect is stores.Disconnecter's.
func (c *Cluster) Reconnect(ctx context.Context, i int) error {
	return c.with(i, func(n *node) error {
		if !n.off {
			return errors.New("is not disconnected")
		}
		return nil
	}, func(api client.APIClient, n *node, id string) error {
		for _, name := range n.networks {
			if err := plug(ctx, api, name, id, n.name); err != nil {
				return err
			}
		}
		n.off = false
		if !n.running || n.paused {
			return nil
		}
		return c.rejoined(ctx, i)
	})
}

// Partition is stores.Parter's. The smaller side is taken off the peers' network;
// of three nodes it has one.
func (c *Cluster) Partition(ctx context.Context, minority ...int) error {
	if err := c.mend(ctx); err != nil {
		return err
	}
	apart := map[int]bool{}
	for _, n := range minority {
		apart[n] = true
	}
	total := len(c.fronts)
	if len(apart) == 0 || len(apart) == total {
		return fmt.Errorf("parting %d of %d nodes parts nobody; name some, not all", len(apart), total)
	}
	for i := range total {
		if apart[i] != (len(apart) <= total/2) {
			continue
		}
		err := c.with(i, func(n *node) error {
			if n.off {
				return errors.New("is disconnected; reconnect it first")
			}
			return nil
		}, func(api client.APIClient, n *node, id string) error {
			n.parted = true
			return unplug(ctx, api, c.peers.Name, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Rejoin is stores.Parter's.
func (c *Cluster) Rejoin(ctx context.Context) error {
	if err := c.mend(ctx); err != nil {
		return err
	}
	return c.admin.United(ctx)
}

// mend puts every parted node back onto the peers' network.
func (c *Cluster) mend(ctx context.Context) error {
	for i := range c.fronts {
		err := c.with(i, func(*node) error { return nil }, func(api client.APIClient, n *node, id string) error {
			if !n.parted {
				return nil
			}
			n.parted = false
			return plug(ctx, api, c.peers.Name, id, n.name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func unplug(ctx context.Context, api client.APIClient, name, id string) error {
	if _, err := api.NetworkDisconnect(ctx, name, client.NetworkDisconnectOptions{Container: id, Force: true}); err != nil {
		return fmt.Errorf("off network %s: %w", name, err)
	}
	return nil
}

func plug(ctx context.Context, api client.APIClient, name, id, alias string) error {
	settings := &network.EndpointSettings{}
	if name != testcontainers.Bridge { // which knows no aliases
		settings.Aliases = []string{alias}
	}
	if _, err := api.NetworkConnect(ctx, name, client.NetworkConnectOptions{Container: id, EndpointConfig: settings}); err != nil {
		return fmt.Errorf("onto network %s: %w", name, err)
	}
	return nil
}

// remove takes a node's container away, paused or not, and waits until it is gone,
// also where somebody else is removing it.
func (c *Cluster) remove(ctx context.Context, n *node) error {
	api, id := c.provider.Client(), n.c.GetContainerID()
	if n.paused {
		api.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{}) // else it cannot be stopped
	}
	err := n.c.Terminate(ctx, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	tick := time.NewTicker(admin.Poll)
	defer tick.Stop()
	for {
		if _, ierr := api.ContainerInspect(ctx, id, client.ContainerInspectOptions{}); errdefs.IsNotFound(ierr) {
			return nil
		}
		if err != nil && !errdefs.IsConflict(err) {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is still there: %w", n.name, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}
