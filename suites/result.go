package suites

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/onsi/gomega/types"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/spec"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
	"github.com/routeproof/routeproof/suites/timeline"
)

// Blank is a job's result before it has run: not-run, with everything that is
// known beforehand.
func (c *Catalogue) Blank(j Job, seed uint64) report.CaseResult {
	x, _ := c.Case(j.Case)
	cl, _ := c.Spec.Clause(x.Clause())
	return report.CaseResult{
		ID: x.ID, Permutation: j.Mutant, Clause: cl.ID, Level: level(cl), Profile: cl.Profile, Claims: claims(cl, x), Surface: surface(x),
		Verdict: report.NotRun, Title: cl.Title, Why: cl.Text, Seed: JobSeed(seed, j),
	}
}

// claims are what a case needs: its clause's claims and its own.
func claims(cl spec.Clause, x bench.Case) []string {
	return slices.Concat(cl.Claims, x.Claims)
}

func surface(x bench.Case) report.Surface {
	if x.Component() {
		return report.Component
	}
	return report.HTTP
}

func level(cl spec.Clause) report.Level { return report.Level(cl.Level) }

// result makes a job's verdict.
func (r *runner) result(ctx context.Context, j Job) report.CaseResult {
	res := r.cat.Blank(j, r.cfg.Seed)
	m := r.cfg.Manifest
	if claim := declined(m, res.Claims); claim != "" {
		res.Verdict, res.Detail = report.Declined, fmt.Sprintf("the manifest answers the claim %s with no", claim)
		return res
	}
	x, _ := r.cat.Case(j.Case)
	if !x.Component() && !m.HasRouter() {
		res.Verdict, res.Detail = report.Declined, "the manifest launches no router, only a component"
		return res
	}
	if r.misses >= maxMisses && j.Mutant == "" {
		res.Detail = fmt.Sprintf("given up: in %d cases in a row the target did not start, or gave no whole answer to any request", r.misses)
		return res
	}
	if r.faults >= maxMisses && j.Mutant == "" && x.Component() {
		res.Detail = fmt.Sprintf("given up: in %d cases in a row the adapter broke the protocol, so that nothing is known of the library", r.faults)
		return res
	}
	pool := r.pools[j.Mutant]
	if pool == nil {
		env := bench.Env{Manifest: m, Seed: JobSeed(r.cfg.Seed, Job{Mutant: j.Mutant}), Logf: r.cfg.Logf, OpenStore: openStore}
		if j.Mutant != "" {
			mutant, ok := r.cat.Mutant(j.Mutant)
			if !ok {
				res.Verdict, res.Detail = report.Error, fmt.Sprintf("no mutant %q; see `routeproof list --matrix`", j.Mutant)
				return res
			}
			env.Local, env.Component = mutant.New, mutant.Component()
		}
		pool = bench.NewPool(env)
		r.pools[j.Mutant] = pool
	}
	var seen *history.History
	out := pool.Exec(ctx, x, res.Seed, func(h *history.History) (err error) {
		seen = h
		res.Evidence, err = save(r.cfg.Evidence, j, h)
		return err
	})
	res.Started, res.Duration, res.LogTail = out.Started.UTC(), report.Seconds(out.Duration), out.LogTail
	res.Judged(out.Finding)
	res.Verdict = out.Verdict
	if out.Verdict == report.Fail {
		res.Example = timeline.Example(seen, out.Finding)
	}
	if out.Detail != "" {
		res.Detail = out.Detail
	}
	if j.Mutant != "" && !r.cfg.Natural {
		if out.Target != nil { // a mutant that cannot serve was not killed by the case
			res.Verdict, res.Detail = report.Error, fmt.Sprintf("mutant %s: %v", j.Mutant, out.Target)
			return res
		}
		killed(&res, j)
		return res
	}
	if j.Mutant == "" {
		r.count(x, out)
	}
	if out.Target != nil && r.cfg.Problem != nil {
		r.cfg.Problem(report.Problem{Kind: report.ProblemTarget, Subject: j.Case, Text: out.Target.Error()})
	}
	return res
}

// maxMisses is after how many cases in a row that show no life a target is given
// up: each may cost its whole limit, and the verdict is clear.
const maxMisses = 3

// count keeps the number of cases in a row in which the target did not start or
// answered nothing, or its adapter broke the protocol.
func (r *runner) count(x bench.Case, out bench.Outcome) {
	if x.Component() {
		if r.faults++; !out.Faulty {
			r.faults = 0
		}
		return
	}
	var gone *target.UnreachableError
	var busy *target.PortInUseError
	var fault *component.Fault
	if errors.As(out.Target, &gone) || errors.As(out.Target, &busy) || errors.As(out.Target, &fault) || out.Silent {
		r.misses++
	} else {
		r.misses = 0
	}
}

// killed turns a case's verdict on a mutant into the self-test's: pass means
// that the case failed on it, as it must.
func killed(res *report.CaseResult, j Job) {
	switch res.Verdict {
	case report.Fail:
		res.Verdict = report.Pass
	case report.Pass:
		res.Verdict = report.Fail
		res.Expected, res.Observed = fmt.Sprintf("case %s to fail on mutant %s", j.Case, j.Mutant), "it passed: the mutant survived"
	}
}

// packers are for histories, which are large and repeat themselves; a new one
// allocates a megabyte.
var packers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// save writes the evidence of a job and returns its files, relative to the report's
// directory, with their digests: the history and, of a conversation that went wrong, what
// `routeproof adapter check --conversation` plays.
func save(dir string, j Job, h *history.History) ([]report.Evidence, error) {
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	if err := errors.Join(json.NewEncoder(w).Encode(h), w.Close()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	name := strings.NewReplacer("/", "_", ":", "_").Replace(j.Name())
	files := map[string][]byte{name + ".json.gz": packed.Bytes()}
	if replay := h.Replay(); len(replay) > 0 {
		files[name+".jsonl"] = []byte(strings.Join(replay, "\n") + "\n")
	}
	var all []report.Evidence
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, file), files[file], 0o644); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(files[file])
		all = append(all, report.Evidence{File: filepath.ToSlash(filepath.Join(filepath.Base(dir), file)), SHA256: hex.EncodeToString(sum[:])})
	}
	return all, nil
}

// Pass is a Gomega matcher for a *report.CaseResult: it matches a verdict of
// pass, and its failure message is the case's own account.
func Pass() types.GomegaMatcher { return passes{} }

type passes struct{}

func (passes) Match(actual any) (bool, error) {
	res, ok := actual.(*report.CaseResult)
	if !ok {
		return false, fmt.Errorf("Pass matches a *report.CaseResult, not a %T", actual)
	}
	return res.Verdict == report.Pass, nil
}

func (passes) FailureMessage(actual any) string {
	res := actual.(*report.CaseResult)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", res.Name(), res.Verdict, res.Why)
	for _, v := range res.Violations {
		fmt.Fprintf(&b, "  %s\n", v)
	}
	for _, s := range []string{res.Detail, res.LogTail} {
		if s != "" {
			fmt.Fprintf(&b, "  %s\n", s)
		}
	}
	return b.String()
}

func (passes) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("%s passed and was expected not to", actual.(*report.CaseResult).Name())
}
