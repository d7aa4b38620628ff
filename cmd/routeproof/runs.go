package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/routeproof/routeproof/suites/certify"
	"github.com/routeproof/routeproof/suites/report"
)

// runs runs the cases: progress on standard error, the summary on standard output.
func (a *app) runs(ctx context.Context, p *certify.Options, f func(context.Context, certify.Options) (*report.Report, error)) error {
	if err := p.Complete(); err != nil {
		return err
	}
	if err := writable(p.ReportDir); err != nil {
		return err
	}
	columns, tty := terminal(a.err)
	progress := &report.Terminal{W: a.err, Live: tty, Color: tty && colors(), Width: columns, Total: len(p.Jobs)}
	p.Progress = progress
	p.Reserved = func() {
		fmt.Fprintf(a.err, "routeproof: %s of %s %s, %s in %s, seed %d\n", p.Mode,
			p.Manifest.Implementation.Project, p.Manifest.Implementation.Version, count(len(p.Jobs), "case"), count(p.Shards, "shard"), p.Seed)
	}
	r, err := f(ctx, *p)
	if r == nil {
		if err == nil {
			err = errNoReport
		}
		return harness(err)
	}
	columns, tty = terminal(a.out)
	dir := shorter(p.ReportDir)
	summary := &report.Terminal{W: a.out, Color: tty && colors(), Width: columns, Dir: dir}
	if tty {
		progress.Live = false // its last line stays
	}
	a.saved = "read " + filepath.Join(dir, report.JSONFile)
	summary.Summary(r)
	if err != nil {
		return harness(fmt.Errorf("the run has ended, but its report cannot be written: %w", err))
	}
	fmt.Fprintf(a.out, "report: %s\n", filepath.Join(dir, report.JSONFile))
	a.exit = r.ExitCode
	return nil
}

// writable makes the report's folder, so that one that cannot be is known before
// anything is announced.
func writable(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.NewSyscallError("access "+dir, unix.Access(dir, unix.W_OK|unix.X_OK))
	}
	if err != nil {
		return usagef("cannot write a report to %s: %v; name another folder with --report-dir", dir, err)
	}
	return nil
}

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// heeding makes a command of one that runs cases: from its first step on, the first
// signal that asks us to end ends the context, and the second closes kill. Nor is it
// ended by a reader of its output who leaves.
func (a *app) heeding(run func(ctx context.Context, kill <-chan struct{}, c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, kill, done := a.interrupts()
		defer done()
		return run(ctx, kill, c, args)
	}
}

// interrupts is what heeding heeds.
func (a *app) interrupts() (context.Context, <-chan struct{}, func()) {
	outlive()
	ctx, cancel := context.WithCancel(context.Background())
	kill, over := make(chan struct{}), make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-over:
				return
			case s := <-signals:
				if s == syscall.SIGQUIT { // it asks for this, too
					_ = pprof.Lookup("goroutine").WriteTo(a.err, 2)
				}
				switch n {
				case 1:
					fmt.Fprintf(a.err, "\nrouteproof: %s: stopping; the report of what ran follows (again: stop at once)\n", s)
					cancel()
				case 2:
					close(kill)
				}
			}
		}
	}()
	return ctx, kill, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}

// terminal says whether w is one, and how wide; 0 is unknown.
func terminal(w io.Writer) (columns int, tty bool) {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}

func colors() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// shorter is a path relative to the working directory where that is inside it.
func shorter(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
