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
	var n, prefill, decode, ranks, base int
	var addr string
	var cfg fleet.Config
	c := &cobra.Command{
		Use: "mock --workers N | --prefill N --decode N", Short: "Run mock GPU workers until interrupted", Long: mockHelp, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if prefill+decode > 0 && !c.Flags().Changed("workers") {
				n = 0
			}
			var err error
			if cfg.Shapes, err = shapes(n, prefill, decode, ranks); err != nil {
				return err
			}
			n := len(cfg.Shapes)
			if c.Flags().Changed("base-port") {
				if base < 1 || base+n-1 > 65535 {
					return usagef("--base-port is %d, and %d workers need %d to %d; ports are 1 to 65535", base, n, base, base+n-1)
				}
				cfg.Ports = portsFrom(base)
			}
			if err := cfg.Timing.Validate(); err != nil {
				return usagef("%v", err)
			}
			return a.mocking(cfg, addr)
		},
	}
	f := c.Flags()
	f.IntVar(&n, "workers", 2, "how many workers that serve requests whole (default with --prefill or --decode: 0)")
	f.IntVar(&prefill, "prefill", 0, "how many prefill workers beside them")
	f.IntVar(&decode, "decode", 0, "how many decode workers beside them")
	f.IntVar(&ranks, "ranks", 0, "data-parallel ranks of each worker; 0 for engines that know no ranks")
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

  GET    /mock/v1/workers                all workers: id, url, models, role, ranks, alive, fault, ...
  POST   /mock/v1/workers                add one; the JSON body, if any, says what: {"role": ROLE, "ranks": N}
  PUT    /mock/v1/workers/{id}/fault     set a fault, the JSON body
  DELETE /mock/v1/workers/{id}/fault     clear it
  POST   /mock/v1/workers/{id}/crash     crash it: its port is closed, running requests are reset
  POST   /mock/v1/workers/{id}/restart   start it again
  GET    /mock/v1/ledger?since=N         all requests that arrived, from sequence number N on
  GET    /mock/v1/handoffs?since=N       all hand-offs of KV blocks from prefill to decode workers, from number N on

A worker's role is aggregated, prefill or decode. Prefill and decode workers hand KV blocks over as vLLM's do: a request
with "kv_transfer_params": {"do_remote_decode": true} makes the answer, which is never streamed, name what it left behind in
a field of the same name; that goes into the request for a decode worker, once. A decode worker that can fetch nothing serves
all the same; the ledger tells. The header X-data-parallel-rank chooses one of a worker's ranks.

A fault is {"kind": KIND, ...}. Its kinds, and the further keys of each:

  refuse                refuse new connections
  hang                  take connections and never answer on them
  hang-requests         read requests and never answer them                        count
  reset-before-headers  read a request, then reset its connection                  close, count
  reset-after-events    reset a stream after so many events                        events, close, count
  error-event           end a stream with an error event after so many events      events, count
  status                answer with an error or a redirect                         status (300 to 599), retryAfter (seconds), location, count

count is how many requests the fault strikes, 0 all until it is cleared; with close, the connection is closed in the
ordinary way instead of reset. An example, for workers that were started with --admin 127.0.0.1:9900:

  curl -X PUT http://127.0.0.1:9900/mock/v1/workers/w0/fault -d '{"kind": "status", "status": 503, "retryAfter": 1, "count": 3}'`

// maxMocks bounds the fleet: each worker holds a listener.
const maxMocks = 1024

// shapes are the fleet: aggregated, prefill, then decode workers, all with so many ranks.
func shapes(aggregated, prefill, decode, ranks int) (all []worker.Shape, err error) {
	for _, g := range []struct {
		flag string
		role worker.Role
		n    int
	}{{"workers", worker.Aggregated, aggregated}, {"prefill", worker.Prefill, prefill}, {"decode", worker.Decode, decode}} {
		if g.n < 0 || g.n > maxMocks {
			return nil, usagef("--%s is %d; write 0 to %d", g.flag, g.n, maxMocks)
		}
		for range g.n {
			all = append(all, worker.Shape{Role: g.role, Ranks: ranks})
		}
	}
	if n := len(all); n < 1 || n > maxMocks {
		return nil, usagef("--workers is %d; write 1 to %d, with --prefill and --decode, which are %d and %d, in all", aggregated, maxMocks, prefill, decode)
	}
	if err := all[0].Validate(); err != nil {
		return nil, usagef("--ranks: %v", err)
	}
	return all, nil
}

// describe is a worker's line: its id and address, and its role if it has one to tell.
func describe(w *worker.Worker) string {
	s := w.ID() + " " + w.URL()
	if r := w.Shape().Role; r != worker.Aggregated {
		s += " " + string(r)
	}
	return s
}

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
		fmt.Fprintln(a.out, describe(w))
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return harness(err)
	}
}
