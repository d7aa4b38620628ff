package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/mockers/fleet"
	"github.com/routeproof/routeproof/mockers/fleet/admin"
	"github.com/routeproof/routeproof/mockers/worker"
)

func (a *app) mock() *cobra.Command {
	var n, base int
	var addr string
	var cfg fleet.Config
	c := &cobra.Command{
		Use: "mock --workers N", Short: "Run mock GPU workers until interrupted", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > maxMocks {
				return usagef("--workers is %d; write 1 to %d", n, maxMocks)
			}
			if c.Flags().Changed("base-port") {
				if base < 1 || base+n-1 > 65535 {
					return usagef("--base-port is %d, and %d workers need %d to %d; ports are 1 to 65535", base, n, base, base+n-1)
				}
				for i := range n {
					cfg.Ports = append(cfg.Ports, base+i)
				}
			}
			if err := cfg.Timing.Validate(); err != nil {
				return usagef("%v", err)
			}
			cfg.Workers = n
			return a.mocking(cfg, addr)
		},
	}
	f := c.Flags()
	f.IntVar(&n, "workers", 2, "how many")
	f.IntVar(&base, "base-port", 0, "port of the first worker, the next ones follow (default: free ports)")
	f.StringVar(&addr, "admin", "", "address of the control API, such as 127.0.0.1:9900 (default: none)")
	f.StringArrayVar(&cfg.Models, "model", []string{fleet.DefaultModel}, "model served; give it once for each")
	f.DurationVar(&cfg.Timing.TTFT, "ttft", 0, "time to first token")
	f.DurationVar(&cfg.Timing.Interval, "interval", 0, "time between two tokens")
	f.IntVar(&cfg.Timing.Tokens, "tokens", worker.DefaultTokens, "tokens of an answer that the request does not limit")
	return c
}

// maxMocks bounds the fleet: each worker holds a listener.
const maxMocks = 1024

func (a *app) mocking(cfg fleet.Config, addr string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	f, err := fleet.New(cfg)
	if err != nil {
		return usagef("%v; choose other ports", err)
	}
	defer func() { err = errors.Join(err, harness(f.Close())) }()
	served := make(chan error, 1)
	if addr != "" {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return usagef("--admin: %v; choose a free address such as 127.0.0.1:9900", err)
		}
		server := &http.Server{Handler: admin.Handler(f), ReadHeaderTimeout: 10 * time.Second}
		go func() { served <- server.Serve(l) }()
		defer server.Close()
		fmt.Fprintf(a.out, "admin http://%s\n", l.Addr())
	}
	for _, w := range f.Workers() {
		fmt.Fprintf(a.out, "%s %s\n", w.ID(), w.URL())
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return harness(err)
	}
}
