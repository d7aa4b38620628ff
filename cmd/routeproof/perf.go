package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/perf"
	"github.com/routeproof/routeproof/perf/compare"
	"github.com/routeproof/routeproof/perf/complexity"
	"github.com/routeproof/routeproof/perf/record"
	perfreport "github.com/routeproof/routeproof/perf/report"
	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/certify"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

const perfHelp = `Measure what a session index costs, beside a bare Go map, and compare measurements.

  routeproof perf run --save base.json               # complexity of the built-in reference: every ladder
  routeproof perf run --suite speed --save new.json  # speed, to compare
  routeproof perf compare base.json new.json         # exit 5: slower, or a class was lost
  routeproof perf compare --ab ./old ./new           # two programs in turns; sees smaller differences
  routeproof perf report base.json                   # one HTML file`

func (a *app) perf() *cobra.Command {
	c := &cobra.Command{
		Use: "perf", Short: "Measure complexity and speed; compare measurements", Long: perfHelp, Args: known,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.perfRun(), a.perfCompare(), a.perfReport())
	return c
}

// measuring are the flags of whatever measures.
type measuring struct {
	seed string
	only []string
}

func (m *measuring) flags(c *cobra.Command) {
	c.Flags().StringVar(&m.seed, "seed", "", "seed of all random choices, 0 to 18446744073709551615 (default: random; of speed, 1)")
	c.Flags().StringArrayVar(&m.only, "ladder", nil, "measure only ladders whose names begin with this `PREFIX`, such as k/new or d; may be repeated")
}

func (m *measuring) options(a *app, c *cobra.Command, suite string) (o perf.Options, err error) {
	if o.Seed, err = seed(m.seed, c.Flags().Changed("seed")); err != nil {
		return o, err
	}
	if m.seed == "" && suite == complexity.SuiteSpeed {
		o.Seed = complexity.SpeedSeed
	}
	o.Suite, o.Only = suite, m.only
	if _, _, err := complexity.Suite(suite, m.only...); err != nil {
		return o, usagef("%v; see `%s --help`", err, c.CommandPath())
	}
	o.Progress = func(name string, done *record.Ladder) {
		switch {
		case done == nil:
		case done.Declined != "":
			fmt.Fprintf(a.err, "%-10s declined: %s\n", name, done.Declined)
		case done.Judged != nil:
			fmt.Fprintf(a.err, "%-10s %s\n", name, done.Judged.Verdict)
		default:
			fmt.Fprintf(a.err, "%-10s measured\n", name)
		}
	}
	return o, nil
}

func (a *app) perfRun() *cobra.Command {
	var m measuring
	var suite, manifest, save, text string
	c := &cobra.Command{
		Use: "run [--suite NAME] [--save FILE]", Short: "Measure a target's complexity or speed",
		Long: "Measure a target's session index. Suites: complexity, every ladder to its top; short, to a middle rung; speed, one or\n" +
			"two rungs of each, often enough to compare. Exit 5: a ladder exceeds its class; 4: the noise does not allow to tell.",
		Args: cobra.NoArgs,
		RunE: a.heeding(func(ctx context.Context, _ <-chan struct{}, c *cobra.Command, _ []string) error {
			o, err := m.options(a, c, suite)
			if err != nil {
				return err
			}
			s, err := source(manifest, c.Flags().Changed("target"))
			if err != nil {
				return err
			}
			for flag, name := range map[string]string{"save": save, "text": text} {
				if c.Flags().Changed(flag) {
					if err := saveable(flag, name); err != nil {
						return err
					}
				}
			}
			return a.perfRuns(ctx, s, o, save, text)
		}),
	}
	m.flags(c)
	c.Flags().StringVar(&suite, "suite", complexity.SuiteComplexity, strings.Join(complexity.SuiteNames(), ", "))
	c.Flags().StringVar(&manifest, "target", "", "manifest of the target, whose component is measured (default: the built-in reference)")
	c.Flags().StringVar(&save, "save", "", "write the measurement to this `FILE`, to compare it or report it")
	c.Flags().StringVar(&text, "text", "", "write it as Go benchmark text to this `FILE`, for benchstat")
	return c
}

// source is the component of a manifest, or the built-in reference.
func source(manifest string, given bool) (perf.Source, error) {
	if given && manifest == "" {
		return perf.Source{}, usagef("--target is empty; name a manifest file, or leave it out for the built-in reference")
	}
	cat, err := suites.Load()
	if err != nil {
		return perf.Source{}, harness(err)
	}
	m := target.Reference(cat.Spec.ClaimNames())
	if manifest != "" {
		if m, err = target.Load(manifest, cat.Spec.ClaimNames()); err != nil {
			return perf.Source{}, err
		}
	}
	return perf.FromManifest(m)
}

// saveable says before anything is measured whether a file can be written.
func saveable(flag, name string) error {
	if name == "" {
		return usagef("--%s is empty; name a file", flag)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".routeproof-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if info, stat := os.Stat(name); err == nil && stat == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return usagef("--%s: cannot write %s: %v; name another file", flag, name, err)
	}
	return nil
}

func (a *app) perfRuns(ctx context.Context, s perf.Source, o perf.Options, save, text string) error {
	f, err := perf.Run(ctx, s, o)
	if f == nil || len(f.Ladders) == 0 && err != nil {
		return a.unmeasured(ctx, err)
	}
	problem := a.keep(f, save, text)
	if save != "" {
		a.saved = "see `routeproof perf report " + save + "`"
	}
	_ = perfreport.Table(a.out, f) // what is lost of it, a.out remembers
	if err != nil {
		problem = errors.Join(a.unmeasured(ctx, err), problem)
	}
	if problem != nil {
		return problem
	}
	for _, l := range f.Ladders {
		switch {
		case l.Judged == nil:
		case l.Judged.Verdict == record.Fail:
			a.exit = report.ExitPerformance
		case l.Judged.Verdict == record.Inconclusive && a.exit == report.ExitOK:
			a.exit = report.ExitHarness
		}
	}
	return nil
}

// keep writes what was measured.
func (a *app) keep(f *record.File, save, text string) error {
	if save != "" {
		if err := f.Write(save); err != nil {
			return harness(fmt.Errorf("the measurement cannot be written: %w", err))
		}
	}
	if text == "" {
		return nil
	}
	return writeFile(text, func(w io.Writer) error { return perfreport.Benchmarks(w, f) })
}

func writeFile(name string, write func(io.Writer) error) error {
	w, err := os.Create(name)
	if err != nil {
		return harness(err)
	}
	return harness(errors.Join(write(w), w.Close()))
}

// unmeasured is how a measurement that did not end well ends the program.
func (a *app) unmeasured(ctx context.Context, err error) error {
	var bad *target.ManifestError
	var gone *target.UnreachableError
	var unfit *complexity.TargetError
	var fault *component.Fault
	switch {
	case ctx.Err() != nil:
		a.exit = report.ExitInterrupted
		return nil
	case errors.As(err, &bad):
		return err
	case errors.As(err, &gone), errors.As(err, &fault):
		return &harnessError{err, report.ExitTarget}
	case errors.As(err, &unfit):
		return &harnessError{err, report.ExitFailure}
	}
	return harness(err)
}

func (a *app) perfCompare() *cobra.Command {
	var m measuring
	var ab bool
	c := &cobra.Command{
		Use: "compare OLD NEW", Short: "Say whether a measurement, or with --ab a program, is slower than another",
		Long: "Compare two files that `routeproof perf run --save` wrote, by the ratios of target to map; or with --ab two targets, each a\n" +
			"manifest (.yaml, .yml) or a program that serves an adapter when it is started with the argument `adapter`, such as another\n" +
			"build of routeproof, sample by sample in turns. Exit 5: a regression; 4: none was found, but none can be excluded, because of\n" +
			"too few samples, a ladder of the old one that the new one lacks, another suite or an interrupted measurement.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("compare takes two, the old one and the new one, and got %d; see `%s --help`", len(args), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if ab {
				return a.sideBySide(c, m, args[0], args[1])
			}
			for _, flag := range []string{"seed", "ladder"} {
				if c.Flags().Changed(flag) {
					return usagef("--%s is for --ab, which measures; files were measured already; leave it out", flag)
				}
			}
			old, err := measured(args[0])
			if err != nil {
				return err
			}
			new, err := measured(args[1])
			if err != nil {
				return err
			}
			return a.compared(compare.Files(old, new, compare.Saved), "measure both to the end, with --suite speed and the same --ladder")
		},
	}
	m.flags(c)
	c.Flags().BoolVar(&ab, "ab", false, "OLD and NEW are targets; measure them in turns")
	return c
}

// measured reads a measurement.
func measured(name string) (*record.File, error) {
	f, err := record.Read(name)
	if err != nil {
		return nil, &certify.UsageError{Text: err.Error()}
	}
	return f, nil
}

func (a *app) sideBySide(c *cobra.Command, m measuring, old, new string) error {
	o, err := m.options(a, c, complexity.SuiteSpeed)
	if err != nil {
		return err
	}
	var sources [2]perf.Source
	for i, name := range []string{old, new} {
		if sources[i], err = program(name); err != nil {
			return err
		}
	}
	ctx, _, done := a.interrupts()
	defer done()
	x, y, err := perf.RunPair(ctx, sources[0], sources[1], o)
	if err != nil {
		return a.unmeasured(ctx, err)
	}
	return a.compared(compare.SideBySide(x, y, compare.Pairs), "compare programs of which the new one claims what the old one claims")
}

// program is a manifest's component, or a program that is an adapter.
func program(name string) (perf.Source, error) {
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return source(name, true)
	}
	path, err := filepath.Abs(name)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
			err = errors.New("it is not executable")
		}
	}
	if err != nil {
		return perf.Source{}, usagef("--ab: %q cannot be run: %v; name a program or a manifest", name, err)
	}
	return perf.FromProgram(path), nil
}

// compared says what a comparison came to; remedy is for one that proves nothing.
func (a *app) compared(r compare.Result, remedy string) error {
	_ = perfreport.Comparison(a.out, r) // what is lost of it, a.out remembers
	switch bad, gaps := r.Regressions(), r.Gaps(); {
	case len(bad) > 0:
		fmt.Fprintf(a.out, "%s\n", count(len(bad), "regression"))
		a.exit = report.ExitPerformance
	case len(gaps) > 0:
		return harness(fmt.Errorf("no regression was found, but none can be excluded: %s; %s", strings.Join(gaps, ", "), remedy))
	case r.Undecided():
		return harness(fmt.Errorf("nothing can be told: the two have no ladder in common that was timed often enough; %s", remedy))
	default:
		fmt.Fprintln(a.out, "no regression")
	}
	return nil
}

func (a *app) perfReport() *cobra.Command {
	var html, text string
	c := &cobra.Command{
		Use: "report FILE", Short: "Show a measurement: a table, and one HTML file with plots",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("report takes one file that `routeproof perf run --save FILE` wrote, and got %d; see `%s --help`", len(args), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f, err := measured(args[0])
			if err != nil {
				return err
			}
			if html == "" {
				html = strings.TrimSuffix(args[0], ".json") + ".html"
			}
			if err := saveable("html", html); err != nil {
				return err
			}
			if c.Flags().Changed("text") {
				if err := saveable("text", text); err != nil {
					return err
				}
				if err := a.keep(f, "", text); err != nil {
					return err
				}
			}
			if err := writeFile(html, func(w io.Writer) error { return perfreport.HTML(w, f) }); err != nil {
				return err
			}
			if err := perfreport.Table(a.out, f); err != nil {
				return harness(err)
			}
			_, err = fmt.Fprintf(a.out, "report: %s\n", html)
			return harness(err)
		},
	}
	c.Flags().StringVar(&html, "html", "", "where to write the HTML `FILE` (default: beside the measurement)")
	c.Flags().StringVar(&text, "text", "", "write Go benchmark text to this `FILE`, for benchstat")
	return c
}
