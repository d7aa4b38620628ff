package main

import (
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites/timeline"
)

const evidenceHelp = `Print the evidence that a run kept of a case: what the harness did, what its clients sent and saw, and what reached
the workers, in order of time. Keys of requests and ids of sessions, as a failure names them, select these alone,
with headers and bodies. An example:

  routeproof evidence routeproof-report/evidence/AFF-001_turns.json.gz 1a2b3c4d-7`

func (a *app) evidence() *cobra.Command {
	return &cobra.Command{
		Use: "evidence FILE [KEY|SESSION...]", Short: "Print the evidence of a case as a timeline", Long: evidenceHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("evidence needs a file; name a .json.gz from the folder evidence beside a report.json")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := timeline.Read(args[0])
			if err != nil {
				return usagef("%v", err)
			}
			err = timeline.Print(a.out, h, args[1:]...)
			var unknown *timeline.UnknownError
			switch {
			case errors.As(err, &unknown):
				return usagef("%v", err)
			case errors.Is(err, syscall.EPIPE): // the reader has seen enough
				return nil
			}
			return harness(err)
		},
	}
}
