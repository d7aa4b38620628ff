package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

const (
	// ginkgoGrace is how long a spec whose time is up gets to return before it is left behind.
	ginkgoGrace = 30 * time.Second
	// orphanLimit is how long a shard lives on, at most, after it was told to stop.
	orphanLimit = time.Minute
)

// ShardMain is the whole life of a shard: it reads its assignment from in, runs
// it as a Ginkgo suite and writes events to out. The end of in, or of ctx, stops
// the running case and ends the shard. Ginkgo runs one suite per process, so this
// can be called once; a shard that cannot stop ends its process by force.
func ShardMain(ctx context.Context, in io.Reader, out io.Writer, log io.Writer) error {
	dec := json.NewDecoder(in)
	var a assignment
	if err := dec.Decode(&a); err != nil {
		return usagef("shard: no assignment on standard input (%v); a shard is started by certify, run or selftest", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := context.AfterFunc(ctx, func() {
		time.AfterFunc(orphanLimit, func() {
			fmt.Fprintf(log, "shard: still running %v after it was told to stop\n", orphanLimit)
			os.Exit(report.ExitHarness)
		})
	})
	defer stopped()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // until whoever started us is gone or wants no more
	}()
	c := &child{a: a, log: log, results: map[string]report.Verdict{}}
	c.out = newSender(out, cancel)
	if err := c.run(ctx); err != nil {
		c.problem(fmt.Sprintf("cannot run: %v", err))
		return err
	}
	c.out.send(event{Done: true})
	return nil
}

// child is a shard at work.
type child struct {
	a       assignment
	out     *sender
	log     io.Writer
	results map[string]report.Verdict // Ginkgo runs one spec at a time
}

func (c *child) problem(text string) {
	c.out.send(event{Problem: &report.Problem{Kind: report.ProblemHarness, Subject: fmt.Sprintf("shard %d", c.a.Shard), Text: text}})
}

func (c *child) run(ctx context.Context) error {
	cat, err := suites.Load()
	if err != nil {
		return err
	}
	m, err := target.Parse(c.a.File, []byte(c.a.Manifest), cat.Spec.ClaimNames())
	if err != nil {
		return err
	}
	err = suites.Specs(suites.Config{
		Manifest: m, Jobs: c.a.Jobs, Seed: c.a.Seed, Natural: c.a.Natural, Evidence: c.a.Evidence, Context: ctx,
		Started: func(name string) { c.out.send(event{Started: name}) },
		Finished: func(r report.CaseResult) {
			c.results[r.Name()] = r.Verdict
			c.out.send(event{Finished: &r})
		},
		Problem: func(p report.Problem) { c.out.send(event{Problem: &p}) },
		Logf:    func(format string, args ...any) { fmt.Fprintf(c.log, format+"\n", args...) },
	})
	if err != nil {
		return err
	}
	var told ginkgo.Report
	ginkgo.ReportAfterSuite("keep what Ginkgo saw", func(r ginkgo.Report) { told = r })
	gomega.RegisterFailHandler(ginkgo.Fail)
	suite, reporter := ginkgoConfig(cat, c.a)
	passed := ginkgo.RunSpecs(notTesting{}, fmt.Sprintf("routeproof shard %d", c.a.Shard), suite, reporter)
	if ctx.Err() == nil { // a run that was stopped agrees with nothing
		c.crossCheck(passed, told)
	}
	return nil
}

// ginkgoConfig is a suite without retries, in a fixed order, within a fixed time.
func ginkgoConfig(cat *suites.Catalogue, a assignment) (suite types.SuiteConfig, reporter types.ReporterConfig) {
	suite, reporter = ginkgo.GinkgoConfiguration()
	suite.RandomSeed = int64(a.Seed >> 1) // orders the areas
	suite.RandomizeAllSpecs, suite.FailFast, suite.FailOnEmpty, suite.DryRun = false, false, true, false
	suite.FlakeAttempts, suite.MustPassRepeatedly = 0, 0
	suite.FocusStrings, suite.SkipStrings, suite.FocusFiles, suite.SkipFiles, suite.LabelFilter = nil, nil, nil, nil, ""
	suite.GracePeriod = ginkgoGrace
	suite.Timeout = time.Minute
	for _, j := range a.Jobs {
		c, _ := cat.Case(j.Case)
		suite.Timeout += c.Limit + suites.SpecGrace
	}
	reporter.NoColor, reporter.Succinct = true, true
	return suite, reporter
}

// crossCheck holds Ginkgo's own result against what was reported: neither may
// be green where the other is not.
func (c *child) crossCheck(passed bool, told ginkgo.Report) {
	good := true
	for _, j := range c.a.Jobs {
		v, ok := c.results[j.Name()]
		if !ok {
			c.problem(fmt.Sprintf("case %s ended without a result%s", j.Name(), because(told)))
		}
		good = good && (v == report.Pass || v == report.Declined)
	}
	switch {
	case passed && !good:
		c.problem("Ginkgo counts the shard as passed, though not every case passed: a verdict was lost")
	case !passed && good:
		c.problem("Ginkgo counts the shard as failed, though every case passed" + because(told))
	}
}

// because is what Ginkgo says of failures, in few words.
func because(told ginkgo.Report) string {
	var all []string
	for _, s := range told.SpecReports {
		if s.Failed() {
			all = append(all, fmt.Sprintf("%s %q: %s", s.State, s.FullText(), s.FailureMessage()))
		}
	}
	all = append(all, told.SpecialSuiteFailureReasons...)
	if len(all) > 3 {
		all = append(all[:3], "...")
	}
	text := strings.Join(all, "; ")
	if text == "" {
		return "; see the shard's log"
	}
	if len(text) > 1500 {
		text = text[:1500] + "..."
	}
	return ": " + text
}

// notTesting is Ginkgo's T where there is no `go test`; RunSpecs also returns what it would tell.
type notTesting struct{}

func (notTesting) Fail() {}

// EventsFD is the file descriptor of a shard's process that ShardMain's out
// should be: it is apart from standard output, where anybody may write.
const EventsFD = 3

// Events opens EventsFD, which certify gave to the process.
func Events() (*os.File, error) {
	f := os.NewFile(EventsFD, "events")
	if f == nil {
		return nil, usagef("shard: no file descriptor %d; a shard is started by certify, run or selftest", EventsFD)
	}
	if _, err := f.Stat(); err != nil {
		return nil, usagef("shard: file descriptor %d: %v; a shard is started by certify, run or selftest", EventsFD, err)
	}
	unix.CloseOnExec(EventsFD)
	return f, nil
}
