package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites/certify"
	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// app is one start of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	exit     int    // of a command that ended without an error
	saved    string // where what it printed can be read, too
}

// run runs one command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	a := &app{in: stdin, out: out, err: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	c, err := root.ExecuteC()
	lost := out.lost()
	if err != nil && (lost == nil || !errors.Is(err, lost)) {
		return a.failed(err, c.CommandPath())
	}
	if lost != nil {
		remedy := cmp.Or(a.saved, "write it elsewhere")
		if code := a.failed(harness(fmt.Errorf("standard output cannot be written: %w; %s", lost, remedy)), c.CommandPath()); a.exit == report.ExitOK {
			return code // any other says more
		}
	}
	return a.exit
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "routeproof",
		Short: "Certify routers for LLM inference",
		Long: "routeproof puts a router between real clients and mock GPU workers, records what happens, and judges it\n" +
			"against a written specification.",
		Args:          known,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(a.certify(), a.run(), a.list(), a.explain(), a.evidence(), a.selfTest(), a.serve(), a.mock(), a.adapter(), a.perf(), a.version(), a.shard(), a.hostile())
	return root
}

// known refuses what is no command, and names those that are nearest.
func known(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %q; near: %s (see `routeproof --help`)", args[0], strings.Join(near.Names(names, args[0])[:2], ", "))
}

// wanted says what a flag takes, by the type of its value.
var wanted = map[string]string{
	"int": "a whole number such as 2", "duration": "a time with its unit, such as 500ms or 30s", "bool": "true or false",
}

// flagName finds the flag in the message about a bad value.
var flagName = regexp.MustCompile(`for "(?:-., )?--([^"]+)" flag: `)

// badFlag says in a sentence what is wrong with the value of a flag.
func badFlag(c *cobra.Command, err error) error {
	var bad interface{ GetValue() string }
	m := flagName.FindStringSubmatch(err.Error())
	if !errors.As(err, &bad) || m == nil {
		return err
	}
	f := c.Flags().Lookup(m[1])
	if f == nil || wanted[f.Value.Type()] == "" {
		return err
	}
	return usagef("--%s is %q; write %s (see `%s --help`)", f.Name, bad.GetValue(), wanted[f.Value.Type()], c.CommandPath())
}

// failed prints an error and returns its exit status. What cobra says about
// flags, arguments and commands is the user's to mend, as is a bad manifest;
// everything else is ours.
func (a *app) failed(err error, command string) int {
	text := strings.TrimSpace(err.Error())
	var bad *target.ManifestError
	var usage *certify.UsageError
	var own *harnessError
	code := report.ExitUsage
	switch {
	case errors.As(err, &own):
		code = own.code
	case errors.As(err, &bad), errors.As(err, &usage):
	case !strings.Contains(text, "; "):
		text = strings.TrimRight(text, ".") + "; see `" + command + " --help`"
	}
	fmt.Fprintf(a.err, "routeproof: %s\n", text)
	return code
}

// harnessError is an error that is not the user's to mend.
type harnessError struct {
	err  error
	code int
}

func (e *harnessError) Error() string { return e.err.Error() }
func (e *harnessError) Unwrap() error { return e.err }

// harness marks an error as ours, unless it says itself that it is the user's.
func harness(err error) error {
	var usage *certify.UsageError
	var bad *target.ManifestError
	if err == nil || errors.As(err, &usage) || errors.As(err, &bad) {
		return err
	}
	return &harnessError{err, report.ExitHarness}
}

func usagef(format string, args ...any) error {
	return &certify.UsageError{Text: fmt.Sprintf(format, args...)}
}
