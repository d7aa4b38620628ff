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
		Use: "mock --workers N", Short: "Run mock GPU workers until interrupted", Long: mockHelp, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > maxMocks {
				return usagef("--workers is %d; write 1 to %d", n, maxMocks)
			}
			if c.Flags().Changed("base-port") {
				if base < 1 || base+n-1 > 65535 {
					return usagef("--base-port is %d, and %d workers need %d to %d; ports are 1 to 65535", base, n, base, base+n-1)
				}
				cfg.Ports = portsFrom(base)
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
	f.IntVar(&base, "base-port", 0, "port of the first worker; the next ones follow, also those added later (default: free ports)")
	f.StringVar(&addr, "admin", "", "address of the control API, such as 127.0.0.1:9900 (default: none)")
	f.StringArrayVar(&cfg.Models, "model", []string{fleet.DefaultModel}, "model served; give it once for each")
	f.DurationVar(&cfg.Timing.TTFT, "ttft", 0, "time to first token")
	f.DurationVar(&cfg.Timing.Interval, "interval", 0, "time between two tokens")
	f.IntVar(&cfg.Timing.Tokens, "tokens", worker.DefaultTokens, "tokens of an answer that the request does not limit")
	return c
}

const mockHelp = `Run mock GPU workers, which speak the OpenAI API, until interrupted.

With --admin ADDR, they are controlled over HTTP at that address:

  GET    /mock/v1/workers                all workers: id, url, models, alive, fault, ...
  POST   /mock/v1/workers                add one
  PUT    /mock/v1/workers/{id}/fault     set a fault, the JSON body
  DELETE /mock/v1/workers/{id}/fault     clear it
  POST   /mock/v1/workers/{id}/crash     crash it: its port is closed, running requests are reset
  POST   /mock/v1/workers/{id}/restart   start it again
  GET    /mock/v1/ledger?since=N         all requests that arrived, from sequence number N on

A fault is {"kind": KIND, ...}. Its kinds, and the further keys of each:

  refuse                refuse new connections
  hang                  take connections and never answer on them
  hang-requests         read requests and never answer them                        count
  reset-before-headers  read a request, then reset its connection                  close, count
  reset-after-events    reset a stream after so many events                        events, close, count
  status                answer with an error                                       status (400 to 599), retryAfter (seconds), count

count is how many requests the fault strikes, 0 all until it is cleared; with close, the connection is closed in the
ordinary way instead of reset. An example, for workers that were started with --admin 127.0.0.1:9900:

  curl -X PUT http://127.0.0.1:9900/mock/v1/workers/w0/fault -d '{"kind": "status", "status": 503, "retryAfter": 1, "count": 3}'`

// maxMocks bounds the fleet: each worker holds a listener.
const maxMocks = 1024

// portsFrom are the ports of as many workers as there can be, those that are added
// later included.
func portsFrom(base int) (all []int) {
	for p := base; p <= min(base+maxMocks-1, 65535); p++ {
		all = append(all, p)
	}
	return all
}

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
