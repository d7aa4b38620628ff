package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	golden "github.com/routeproof/routeproof/fixtures/component"
	"github.com/routeproof/routeproof/impl/adapter"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target/component"
	"github.com/routeproof/routeproof/suites/target/component/conversation"
)

const adapterHelp = `Serve the reference's libraries on standard input and output, until the input ends.

The component protocol is lines of JSON, one operation each; suites/target/component.md describes it, and how to
write an adapter for a library of your own in an hour. By hand:

  $ routeproof adapter
  {"id":1,"op":"hello","args":{"protocol":1}}`

func (a *app) adapter() *cobra.Command {
	c := &cobra.Command{
		Use: "adapter", Short: "Serve the reference's libraries over the component protocol; check adapters", Long: adapterHelp, Args: cobra.NoArgs,
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
	c.AddCommand(a.adapterCheck())
	return c
}

const checkHelp = `Play the golden conversations to an adapter, each to a fresh one, and print what comes out otherwise.

A conversation that needs what the adapter does not claim is declined. An example:

  routeproof adapter check python3 fixtures/adapters/python/affinity.py

A failure of AFF-020/random leaves its smallest conversation beside its evidence, with the end that it should have had:

  routeproof adapter check --conversation routeproof-report/evidence/AFF-020_random.jsonl ./my-adapter`

// conversationLimit is how long one conversation may take. None waits for real time.
const conversationLimit = 20 * time.Second

func (a *app) adapterCheck() *cobra.Command {
	var files []string
	c := &cobra.Command{
		Use: "check COMMAND [ARGUMENT...]", Short: "Play the golden conversations to an adapter", Long: checkHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no command that starts the adapter; write it, with its arguments, at the end")
			}
			if _, err := exec.LookPath(args[0]); err != nil {
				return usagef("the adapter %q cannot be run: %v; install it, or write its path", args[0], err)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return a.checking(ctx, files, args)
		},
	}
	c.Flags().StringArrayVar(&files, "conversation", nil, "play this `FILE` instead of the golden conversations; may be repeated")
	c.Flags().SetInterspersed(false) // what follows the command is the adapter's
	return c
}

// conversations reads files, or the golden ones where there are none.
func conversations(files []string) (all []*conversation.Conversation, err error) {
	if len(files) == 0 {
		all, err = conversation.Load(golden.Files)
		return all, harness(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, usagef("--conversation: %v", err)
		}
		v, err := conversation.Parse(name, text)
		if err != nil {
			return nil, usagef("--conversation: %v", err)
		}
		all = append(all, v)
	}
	return all, nil
}

func (a *app) checking(ctx context.Context, files, command []string) error {
	all, err := conversations(files)
	if err != nil {
		return err
	}
	// What fails at the first line fails in every conversation, each time for as long.
	if err := greet(ctx, command); err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.out, "fail      hello, with which every conversation begins\n  %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		a.exit = report.ExitFailure
		return nil
	}
	var passed, failed, declined int
	for _, v := range all {
		err := checkOne(ctx, v, command)
		var no *conversation.DeclinedError
		switch {
		case ctx.Err() != nil:
			a.exit = report.ExitInterrupted
			return nil
		case errors.As(err, &no):
			declined++
			lacks := "claim " + string(no.Claim)
			if no.Component != "" {
				lacks = "component " + no.Component
			}
			fmt.Fprintf(a.out, "declined  %s (no %s)\n", v.Name, lacks)
		case err != nil:
			failed++
			fmt.Fprintf(a.out, "fail      %s\n  %s\n", v.Name, strings.ReplaceAll(err.Error(), "\n", "\n  "))
		default:
			passed++
			fmt.Fprintf(a.out, "pass      %s\n", v.Name)
		}
	}
	fmt.Fprintf(a.out, "\n%d pass, %d fail, %d declined\n", passed, failed, declined)
	if failed > 0 || passed == 0 {
		a.exit = report.ExitFailure
	}
	return nil
}

// greet asks the adapter who it is.
func greet(ctx context.Context, command []string) error {
	limited, cancel := context.WithTimeout(ctx, conversationLimit)
	defer cancel()
	c, err := component.Launch(limited, command)
	if err != nil {
		return err
	}
	_, err = c.Hello(limited)
	var f *component.Fault
	if errors.As(err, &f) && f.Kind == component.NoAnswer {
		err = fmt.Errorf("%w\nIt was waited for %v. Does the adapter flush its output after each line?", err, conversationLimit)
	}
	if closed := c.Close(limited); err == nil {
		err = closed
	}
	return err
}

func checkOne(ctx context.Context, v *conversation.Conversation, command []string) error {
	limited, cancel := context.WithTimeout(ctx, conversationLimit)
	defer cancel()
	c, err := component.Launch(limited, command)
	if err != nil {
		return err
	}
	err = v.Play(limited, c)
	if closed := c.Close(limited); err == nil { // what came first is the cause
		err = closed
	}
	return err
}
