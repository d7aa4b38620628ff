package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/fixtures/hostile"
	"github.com/routeproof/routeproof/suites/certify"
	"github.com/routeproof/routeproof/suites/report"
)

// shard is how certify, run and selftest start their child processes.
func (a *app) shard() *cobra.Command {
	return &cobra.Command{
		Use: "shard", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			events, err := certify.Events()
			if err != nil {
				return err
			}
			defer events.Close()
			if os.Getenv("GOGC") == "" {
				// A shard holds little and makes much garbage: collecting less often saves a
				// tenth of its time, which its neighbours on two cores can use.
				debug.SetGCPercent(300)
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return harness(certify.ShardMain(ctx, a.in, events, a.err))
		},
	}
}

// hostile is what the manifests in fixtures/targets/hostile run.
func (a *app) hostile() *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use: "hostile MODE --listen ADDR", Hidden: true, Args: cobra.ExactArgs(1),
		Long: "Misbehave as a router must not. Modes: " + strings.Join(hostile.Modes(), ", "),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			err := hostile.Run(ctx, args[0], addr)
			if errors.Is(err, hostile.ErrAtOnce) {
				return &harnessError{err, report.ExitFailure}
			}
			return err
		},
	}
	c.Flags().StringVar(&addr, "listen", "", "loopback address with a port")
	return c
}
