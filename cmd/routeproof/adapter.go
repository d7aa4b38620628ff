package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/impl/adapter"
)

const adapterHelp = `Serve the reference's libraries on standard input and output.

The component protocol is lines of JSON, one operation each; suites/target/component.md describes it, and how to
write an adapter for a library of your own in an hour. Try it by hand:

  $ routeproof adapter
  {"id":1,"op":"hello","args":{"protocol":1}}

It ends when its input does.`

func (a *app) adapter() *cobra.Command {
	c := &cobra.Command{
		Use: "adapter", Short: "Serve the reference's libraries over the component protocol", Long: adapterHelp, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			served := make(chan error, 1)
			go func() { served <- adapter.Serve(ctx, a.in, a.out) }()
			select {
			case err := <-served:
				return harness(err)
			case <-ctx.Done(): // Serve may be stuck in a read, which ends with the process
				return nil
			}
		},
	}
	return c
}
