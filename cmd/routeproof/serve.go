package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/impl/serve"
	"github.com/routeproof/routeproof/suites/report"
)

func (a *app) serve() *cobra.Command {
	var config, listen, policy string
	var workers, models []string
	var idle time.Duration
	c := &cobra.Command{
		Use:   "serve --config FILE | serve --listen ADDR --worker URL ...",
		Short: "Run the reference router; SIGHUP reads its file again",
		Long: `Run the reference router; SIGHUP reads its file again.

The file lists the workers, or says in which store they register themselves:

  discovery: {store: etcd, endpoints: ["http://127.0.0.1:2379"], prefix: /routeproof/workers}
  discovery: {store: file, root: DIR}

GET /routeproof/workers answers which workers the router uses now.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			changed := c.Flags().Changed
			if changed("config") {
				for _, f := range []string{"listen", "worker", "model", "policy", "idle-ttl"} {
					if changed(f) {
						return usagef("--%s and --config contradict each other; write it into %s, or leave --config out", f, config)
					}
				}
				return a.serving(config, false)
			}
			if listen == "" || len(workers) == 0 {
				return usagef("serve needs --config FILE, or --listen ADDR and at least one --worker URL; give one of the two")
			}
			if err := address("--listen", listen); err != nil {
				return err
			}
			file, err := temporary(listen, policy, idle, workers, models)
			if err != nil {
				return harness(err)
			}
			defer os.Remove(file)
			return a.serving(file, true)
		},
	}
	f := c.Flags()
	f.StringVar(&config, "config", "", "configuration file")
	f.StringVar(&listen, "listen", "", "address to serve on, such as 127.0.0.1:8080")
	f.StringArrayVar(&workers, "worker", nil, "URL of a worker, such as http://127.0.0.1:9001; give it once for each")
	f.StringArrayVar(&models, "model", []string{"mock"}, "model that every worker serves; give it once for each")
	f.StringVar(&policy, "policy", "round-robin", "selection policy of requests without a session")
	f.DurationVar(&idle, "idle-ttl", time.Minute, "idle time after which a session's binding lapses; 0 turns affinity off")
	return c
}

// serving runs the router until it is told to end. What is wrong with its file or
// its address is the user's to mend. ours says that the file was made of flags.
func (a *app) serving(file string, ours bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	reload := make(chan struct{})
	go func() {
		for {
			select {
			case <-hup:
			case <-ctx.Done():
				return
			}
			select {
			case reload <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	err := serve.Run(ctx, file, reload, slog.New(slog.NewTextHandler(a.err, nil)))
	var bad *serve.FileError
	var taken *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &taken) && taken.Op == "listen":
		if ours {
			return usagef("serve: --listen: %v; choose a free address of this machine, such as 127.0.0.1:8080", taken)
		}
		return usagef("%v", err)
	case errors.As(err, &bad):
		if ours {
			return usagef("serve: %s", bad.Problem)
		}
		return usagef("%v", bad)
	}
	return &harnessError{err, report.ExitFailure}
}

// address refuses what is no HOST:PORT.
func address(flag, text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		if _, bad := strconv.ParseUint(port, 10, 16); bad != nil {
			err = fmt.Errorf("port %q is not a number from 0 to 65535", port)
		}
	}
	if err != nil {
		return usagef("%s is %q: %v; write HOST:PORT, such as 127.0.0.1:8080", flag, text, reason(err))
	}
	return nil
}

// reason is an error without the address that it is about.
func reason(err error) string {
	var a *net.AddrError
	if errors.As(err, &a) {
		return a.Err
	}
	return err.Error()
}

// temporary writes the flags as the configuration file that the router reads. It
// is JSON, which is YAML.
func temporary(listen, policy string, idle time.Duration, urls, models []string) (string, error) {
	type worker struct {
		ID     string   `json:"id"`
		URL    string   `json:"url"`
		Models []string `json:"models"`
	}
	var workers []worker
	for i, u := range urls {
		workers = append(workers, worker{fmt.Sprintf("w%d", i), u, models})
	}
	doc := map[string]any{"listen": listen, "policy": policy, "workers": workers}
	if idle != 0 {
		doc["idleTTL"] = idle.String()
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "routeproof-serve-*.yaml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
