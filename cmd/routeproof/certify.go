package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/certify"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// Where reports go. A run of one case must not replace a certification's report.
const (
	defaultReportDir = "routeproof-report"
	defaultRunDir    = "routeproof-run"
)

// options are the flags that every command shares which runs cases.
type options struct {
	target, reportDir, seed string
	shards                  int
}

func (o *options) flags(c *cobra.Command, reportDir string, withTarget bool) {
	f := c.Flags()
	if withTarget {
		f.StringVar(&o.target, "target", "", "manifest of the router under test (default: the built-in reference)")
	}
	f.StringVar(&o.reportDir, "report-dir", reportDir, "folder for report.json, junit.xml and the evidence")
	f.StringVar(&o.seed, "seed", "", "base seed of all random choices, 0 to 18446744073709551615 (default: random)")
	f.IntVar(&o.shards, "shards", 0, "processes that run cases side by side (default: 12, 8 for a target of processes, 1 for one with fixed ports)")
}

// prepare turns flags into options of a run.
func (o *options) prepare(kill <-chan struct{}, changed func(flag string) bool) (certify.Options, error) {
	var out certify.Options
	cat, err := suites.Load()
	if err != nil {
		return out, harness(err)
	}
	out = certify.Options{Catalogue: cat, ManifestPath: o.target, ReportDir: o.reportDir, Shards: o.shards, Tool: tool(), Kill: kill}
	if changed("shards") && o.shards < 1 {
		return out, usagef("--shards is %d; write 1 or more, or leave it out", o.shards)
	}
	if changed("target") && o.target == "" {
		return out, usagef("--target is empty; name a manifest file, or leave it out for the built-in reference")
	}
	if o.reportDir == "" {
		return out, usagef("--report-dir is empty; name a folder")
	}
	if out.ReportDir, err = filepath.Abs(o.reportDir); err != nil {
		return out, harness(err)
	}
	if out.Seed, err = seed(o.seed, changed("seed")); err != nil {
		return out, err
	}
	if o.target != "" {
		if out.Manifest, err = target.Load(o.target, cat.Spec.ClaimNames()); err != nil {
			return out, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return out, harness(fmt.Errorf("find the own program, to start shards with: %w", err))
	}
	out.Command = []string{self, "shard"}
	return out, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func seed(text string, given bool) (uint64, error) {
	if !given {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return 0, harness(err)
		}
		return binary.LittleEndian.Uint64(b[:]), nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, usagef("--seed is %q; write a whole number from 0 to 18446744073709551615, or leave it out for a random one", text)
	}
	return n, nil
}

func (a *app) certify() *cobra.Command {
	var o options
	var profile, expect string
	c := &cobra.Command{
		Use:   "certify [--target FILE]",
		Short: "Certify a router: every case, no filter, no retry",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && isFile(args[0]) {
				return usagef("certify takes no argument; a manifest is named with --target: `routeproof certify --target %s`", args[0])
			}
			if len(args) > 0 {
				return usagef("certify runs everything and takes no %q; use `routeproof run %s` to run a part", args[0], args[0])
			}
			return nil
		},
		RunE: a.heeding(func(ctx context.Context, kill <-chan struct{}, c *cobra.Command, _ []string) error {
			p, err := o.prepare(kill, c.Flags().Changed)
			if err != nil {
				return err
			}
			p.Mode, p.Profile = report.Certify, profile
			if c.Flags().Changed("profile") && profile == "" {
				return usagef("--profile is empty; name a profile, or leave it out to certify all")
			}
			if c.Flags().Changed("expect") {
				if expect == "" {
					return usagef("--expect is empty; name a file with the expected verdicts, or leave it out")
				}
				if p.Expected, err = report.LoadExpected(expect, p.Catalogue.CaseIDs(""), p.Catalogue.Spec.ClaimNames()); err != nil {
					return usagef("%v; correct the file that --expect names", err)
				}
			}
			return a.runs(ctx, &p, certify.Run)
		}),
	}
	o.flags(c, defaultReportDir, true)
	c.Flags().StringVar(&profile, "profile", "", "certify the clauses of this profile only")
	c.Flags().StringVar(&expect, "expect", "", "file with the expected verdicts; exit 0 if and only if they are met exactly")
	return c
}

func (a *app) run() *cobra.Command {
	var o options
	var mutant string
	c := &cobra.Command{
		Use:   "run [--target FILE | --mutant ID] [CASE|CLAUSE|AREA ...]",
		Short: "Run some cases while developing a router; never certifies",
		RunE: a.heeding(func(ctx context.Context, kill <-chan struct{}, c *cobra.Command, args []string) error {
			p, err := o.prepare(kill, c.Flags().Changed)
			if err != nil {
				return err
			}
			p.Mode = report.Run
			cases, err := selected(p.Catalogue, args)
			if err != nil {
				return err
			}
			if c.Flags().Changed("mutant") {
				if _, ok := p.Catalogue.Mutant(mutant); !ok {
					return usagef("unknown mutant %q; near: %s (see `routeproof list --matrix`)", mutant, nearMutants(p.Catalogue, mutant))
				}
				if o.target != "" {
					return usagef("--mutant %s stands in for the built-in reference; leave --target out", mutant)
				}
			}
			for _, id := range cases {
				p.Jobs = append(p.Jobs, suites.Job{Case: id, Mutant: mutant})
			}
			return a.runs(ctx, &p, certify.Run)
		}),
	}
	o.flags(c, defaultRunDir, true)
	c.Flags().StringVar(&mutant, "mutant", "", "run on this wrong router, to see what a failure looks like")
	return c
}

// selected are the cases that arguments select; none selects all.
func selected(cat *suites.Catalogue, args []string) (ids []string, err error) {
	if len(args) == 0 {
		return cat.CaseIDs(""), nil
	}
	for i := range args {
		args[i] = canonical(cat, args[i])
	}
	cases, err := cat.Match(args)
	if err != nil {
		return nil, usagef("%v", err)
	}
	for _, c := range cases {
		ids = append(ids, c.ID)
	}
	return ids, nil
}

func (a *app) selfTest() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Test the suite itself: the reference must pass, every mutant must be killed",
		Args:  cobra.NoArgs,
		RunE: a.heeding(func(ctx context.Context, kill <-chan struct{}, c *cobra.Command, _ []string) error {
			p, err := o.prepare(kill, c.Flags().Changed)
			if err != nil {
				return err
			}
			p.Mode = report.SelfTest
			return a.runs(ctx, &p, certify.SelfTest)
		}),
	}
	o.flags(c, defaultReportDir, false)
	return c
}

// errNoReport guards against a run that says nothing.
var errNoReport = errors.New("the run made no report")
