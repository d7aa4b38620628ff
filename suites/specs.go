package suites

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Job is one spec to run: a case on the target, or, for the self-test, on a
// mutant that it must kill.
type Job struct {
	Case   string `json:"case"`
	Mutant string `json:"mutant,omitempty"` // "" = the manifest's target
}

// Name is the job's name in a report: the case, and the mutant if there is one.
func (j Job) Name() string {
	if j.Mutant == "" {
		return j.Case
	}
	return j.Case + "/" + j.Mutant
}

// Config shapes the specs.
type Config struct {
	Manifest *target.Manifest // nil = the reference
	Jobs     []Job            // nil = every case on the manifest's target
	Seed     uint64           // base seed; a case's own is a hash of it and the job
	Natural  bool             // verdicts on mutants stay as the case gave them; else they are the self-test's, turned round
	Evidence string           // directory for histories; "" = a temporary one, kept only for what did not pass
	// Context, when it ends, cancels the running case and leaves it and the rest
	// without a result; what was started is still stopped. nil never ends.
	Context  context.Context
	Started  func(name string)
	Finished func(report.CaseResult)
	Problem  func(report.Problem) // a finding about the run as a whole
	Logf     func(format string, args ...any)
}

// SpecGrace is what a spec may take beyond its case's limit: for starting and
// stopping the target, which the manifest bounds.
const SpecGrace = 2 * time.Minute

// Specs defines the Ginkgo nodes for a configuration. Call it while the tree is
// being built: at the top level of a package or inside a Describe.
func Specs(cfg Config) error {
	cat, err := Load()
	if err != nil {
		return err
	}
	if cfg.Manifest == nil {
		cfg.Manifest = target.Reference(cat.Spec.ClaimNames())
	}
	if cfg.Jobs == nil {
		for _, c := range cat.Cases {
			cfg.Jobs = append(cfg.Jobs, Job{Case: c.ID})
		}
	}
	for _, j := range cfg.Jobs {
		if _, ok := cat.Case(j.Case); !ok {
			return fmt.Errorf("job names case %q, which the catalogue does not hold", j.Case)
		}
	}
	if err := cat.Fits(cfg.Manifest, cfg.Jobs); err != nil {
		return err
	}
	if cfg.Context == nil {
		cfg.Context = context.Background()
	}
	temporary := cfg.Evidence == ""
	if temporary {
		if cfg.Evidence, err = os.MkdirTemp("", "routeproof-evidence-"); err != nil {
			return fmt.Errorf("make a directory for evidence: %w", err)
		}
	}
	r := &runner{cfg: cfg, cat: cat, pools: map[string]*bench.Pool{}, temporary: temporary}
	byArea := map[string][]Job{}
	for _, j := range cfg.Jobs {
		byArea[j.Case[:3]] = append(byArea[j.Case[:3]], j)
	}
	for _, area := range slices.Sorted(maps.Keys(byArea)) {
		// Specs of one container share its target; it is stopped after the last of them.
		ginkgo.Describe(area, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
			for _, j := range byArea[area] {
				r.spec(j)
			}
			ginkgo.AfterAll(func() {
				gomega.Expect(r.close()).To(gomega.Succeed(), "stop the shared targets")
			})
		})
	}
	return nil
}

// spec defines one job's node. Its labels are the clause's metadata, so that a
// Ginkgo label filter can select by them.
func (r *runner) spec(j Job) {
	c, _ := r.cat.Case(j.Case)
	cl, _ := r.cat.Spec.Clause(c.Clause())
	labels := append([]string{cl.ID, cl.Level, cl.Profile}, cl.Claims...)
	ginkgo.It(fmt.Sprintf("%s: %s", j.Name(), c.Requirement), ginkgo.Label(labels...), ginkgo.SpecTimeout(c.Limit+SpecGrace),
		func(ctx ginkgo.SpecContext) {
			if r.cfg.Context.Err() != nil {
				ginkgo.Skip(stopped)
			}
			limited, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(r.cfg.Context, cancel)()
			res := r.run(limited, j)
			if res.Verdict == report.Declined {
				ginkgo.Skip(res.Detail)
			}
			gomega.Expect(&res).To(Pass())
		})
}

// Run certifies a target inside a plain `go test`: every case is a spec, and a
// verdict other than pass or declined fails the test. nil is the reference. It
// may be called once per test binary, for Ginkgo runs one suite per process.
func Run(t *testing.T, m *target.Manifest) {
	t.Helper()
	run(t, Config{Manifest: m, Seed: 1, Logf: t.Logf})
}

func run(t *testing.T, cfg Config) {
	t.Helper()
	if err := Specs(cfg); err != nil {
		t.Fatal(err)
	}
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "routeproof")
}

// declined names the first claim that the target answers with no, or "".
func declined(m *target.Manifest, claims []string) string {
	for _, name := range claims {
		if !m.Claims[name] {
			return name
		}
	}
	return ""
}

// JobSeed is a job's own seed: a hash of the base seed and its name, so that it
// does not depend on the order of cases.
func JobSeed(base uint64, j Job) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", base, j.Name())
	return h.Sum64()
}

// stopped is why a spec was skipped whose run had ended.
const stopped = "the run was stopped"

// runner runs jobs on pools of benches, one per target.
type runner struct {
	cfg       Config
	cat       *Catalogue
	temporary bool                   // the evidence directory is ours, and what passed is not kept
	pools     map[string]*bench.Pool // by mutant ID; "" = the manifest's target
	misses    int                    // cases in a row in which the manifest's target showed no life
	faults    int                    // cases on the component in a row in which its adapter broke the protocol
}

func (r *runner) close() error {
	var first error
	for id, p := range r.pools {
		err := p.Close()
		var fault *component.Fault
		if errors.As(err, &fault) && id == "" && r.cfg.Problem != nil { // it is the adapter that must be mended
			r.cfg.Problem(report.Problem{Kind: report.ProblemAdapter, Subject: "adapter", Text: err.Error()})
			err = nil
		}
		if err != nil && first == nil {
			first = err
		}
		delete(r.pools, id)
	}
	if r.temporary {
		// It goes once it is empty; what did not pass stays for a look.
		_ = os.Remove(r.cfg.Evidence)
	}
	return first
}

// run runs one job and reports it.
func (r *runner) run(ctx context.Context, j Job) report.CaseResult {
	if r.cfg.Started != nil {
		r.cfg.Started(j.Name())
	}
	res := r.result(ctx, j)
	if r.cfg.Context.Err() != nil && res.Verdict == report.Error {
		return res // cut short: it has no result
	}
	if (r.temporary || j.Mutant != "") && res.Verdict == report.Pass {
		for _, e := range res.Evidence {
			_ = os.Remove(filepath.Join(filepath.Dir(r.cfg.Evidence), filepath.FromSlash(e.File)))
		}
		res.Evidence = nil
	}
	if r.cfg.Finished != nil {
		r.cfg.Finished(res)
	}
	return res
}
