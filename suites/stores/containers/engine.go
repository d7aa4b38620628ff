// Package containers runs etcd in containers, one node or three, by
// testcontainers. Everything it starts goes with Close, and by a reaper when the
// process that started it is killed.
//
// Published ports are on the loopback only, the reaper's included.
package containers

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// HostEnv tells testcontainers where published ports are.
const HostEnv = "TESTCONTAINERS_HOST_OVERRIDE"

var quiet sync.Once

// provider is the way to the engine. Before its first question it sets what
// testcontainers reads from the environment: it takes itself to be inside a
// container wherever a file tells so, and then dials a gateway, not the loopback.
func provider(ctx context.Context) (*testcontainers.DockerProvider, error) {
	quiet.Do(func() { log.SetDefault(log.NewNoopLogger()) })
	if host := os.Getenv("DOCKER_HOST"); (host == "" || strings.HasPrefix(host, "unix://")) && os.Getenv(HostEnv) == "" {
		if err := os.Setenv(HostEnv, "127.0.0.1"); err != nil {
			return nil, err
		}
	}
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("no container engine: %w", err)
	}
	if err := p.Health(ctx); err != nil {
		p.Close()
		return nil, fmt.Errorf("no container engine answers: %w; start it, or name it in DOCKER_HOST", err)
	}
	host, err := p.DaemonHost(ctx)
	if err != nil {
		p.Close()
		return nil, err
	}
	if err := loopback(host); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// loopback refuses engines elsewhere: ports are published on the loopback, where
// nobody else reaches a store without a password.
func loopback(host string) error {
	if host == "localhost" {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsLoopback() {
		return nil
	}
	return fmt.Errorf("the containers' ports would be at %s, which is not the loopback; use an engine of this machine, and leave %s alone or set it to 127.0.0.1", host, HostEnv)
}

// onLoopback publishes a container's port on the loopback, at any free port.
func onLoopback(hc *container.HostConfig, port string) {
	hc.PortBindings = network.PortMap{network.MustParsePort(port): {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: "0"}}}
}
