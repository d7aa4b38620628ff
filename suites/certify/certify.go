package certify

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

// Run runs the jobs in shards and writes report.json, junit.xml, the shards' logs
// and the evidence in ReportDir. It returns the report whenever something ran or
// was tried; the report's ExitCode says what came of it. An error beside a report
// means that it could not be written. Without a report the error is a
// *UsageError, a *target.ManifestError (exit status 2), or the harness's own.
//
// When ctx ends, the shards get 15 seconds to end cleanly, and the report says
// that it was interrupted.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if err := o.Complete(); err != nil {
		return nil, err
	}
	f, err := reserve(o.ReportDir)
	if err != nil {
		return nil, err
	}
	defer f.release()
	if o.Reserved != nil {
		o.Reserved()
	}
	r := begin(&o)
	r.Started = time.Now().UTC()
	began := time.Now()
	obstacle, err := preflight(ctx, o.Manifest, o.Seed)
	if err != nil {
		return nil, err
	}
	if err := f.sweep(); err != nil {
		return nil, err
	}
	col := newCollector(o.Progress)
	if obstacle != nil {
		col.problem(*obstacle)
		col.explain(col.missing(o.Jobs), "the run ended before its first case: "+firstLine(obstacle.Text))
	} else {
		runShards(ctx, &o, col)
	}
	r.Interrupted = ctx.Err() != nil
	if r.Interrupted {
		col.explain(col.missing(o.Jobs), "the run was interrupted")
	}
	r.Duration = report.Seconds(time.Since(began))
	finish(r, &o, col)
	return r, write(r, o.ReportDir)
}

// runShards returns when all shards have ended.
func runShards(ctx context.Context, o *Options, col *collector) {
	if ctx.Err() != nil {
		return
	}
	var all sync.WaitGroup
	for i, jobs := range split(o.Catalogue, o.Jobs, o.Shards, o.Seed) {
		s := &shard{n: i + 1, jobs: jobs, o: o, col: col}
		all.Go(func() { s.run(ctx) })
	}
	all.Wait()
}

// finish turns what was collected into the report's cases and result.
func finish(r *report.Report, o *Options, col *collector) {
	jobs := slices.Clone(o.Jobs)
	r.Problems = col.problems
	if left := o.leftOut(); len(left) > 0 {
		jobs = append(jobs, left...)
		r.Problems = append(r.Problems, report.Problem{Kind: report.ProblemRefused, Subject: "cases",
			Text: fmt.Sprintf("certify runs everything, and %d cases were left out, such as %s; use `routeproof run` to run a few", len(left), left[0].Name())})
	}
	slices.SortFunc(jobs, func(a, b suites.Job) int { return strings.Compare(a.Name(), b.Name()) })
	for _, j := range jobs {
		res, ok := col.results[j.Name()]
		if !ok {
			res = o.Catalogue.Blank(j, o.Seed)
			res.Detail = col.why[j.Name()]
		}
		res.Reproduce = o.reproduce(j)
		r.Cases = append(r.Cases, res)
	}
	r.Problems = append(r.Problems, lost(r.Cases, o.ReportDir)...)
	if o.Mode == report.SelfTest {
		r.SelfTest = count(r)
	} else {
		cases, problems := report.ApplyExemptions(r.Cases, o.exemptions(), time.Now())
		r.Cases, r.Problems = cases, append(r.Problems, problems...)
	}
	if e := o.Expected; e != nil {
		if o.Profile != "" {
			e = e.Of(r.Cases) // the file is about all profiles
		}
		report.Compare(r, e)
	}
	profiles := o.Catalogue.Spec.ProfileNames()
	switch {
	case o.Profile != "":
		profiles = []string{o.Profile}
	case o.Mode == report.Run:
		profiles = nil // those of the selected cases
	}
	r.Conclude(profiles)
}

// leftOut is what certify should have run and was not asked to.
func (o *Options) leftOut() (left []suites.Job) {
	if o.Mode != report.Certify {
		return nil
	}
	all, _ := AllJobs(o.Catalogue, o.Profile) // the profile was checked
	for _, j := range all {
		if !slices.Contains(o.Jobs, j) {
			left = append(left, j)
		}
	}
	return left
}

// write writes what is rendered from the report; each file is whole or absent.
func write(r *report.Report, dir string) error {
	_, err := r.WriteJSON(dir)
	if err2 := r.WriteJUnit(filepath.Join(dir, report.JUnitFile)); err == nil {
		err = err2
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
