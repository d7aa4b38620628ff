package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// Outcome is what became of one case.
type Outcome struct {
	Verdict report.Verdict // pass, fail, error or inconclusive
	Finding judge.Finding
	Detail  string // why error or inconclusive
	// Target is set when the target could not be started, could not be reached or
	// died: then the run as a whole has a problem beside the verdict.
	Target error
	// Faulty says that the component's adapter broke the protocol.
	Faulty bool
	// Silent says that no request of the case got a whole answer of any status.
	Silent   bool
	LogTail  string // the end of the target's output, unless the case passed
	Started  time.Time
	Duration time.Duration
}

// Pool runs cases one after another, on shared benches where they allow it.
type Pool struct {
	env     Env
	shared  map[Setting]*Bench
	adapter *adapter // nil while there is none
}

// NewPool makes an empty pool. Close it.
func NewPool(env Env) *Pool { return &Pool{env: env, shared: map[Setting]*Bench{}} }

// Close ends all shared benches.
func (p *Pool) Close() error {
	var errs []error
	for k, b := range p.shared {
		errs = append(errs, b.Close())
		delete(p.shared, k)
	}
	return errors.Join(append(errs, p.dropAdapter())...)
}

// Exec runs one case: open, drive, save the evidence, judge, tear down. save is
// called before tear-down, and not at all if nothing could be driven. Exec comes
// back within the case's limit and the times that opening and closing may take.
func (p *Pool) Exec(ctx context.Context, c Case, seed uint64, save func(*history.History) error) (out Outcome) {
	out.Started = time.Now()
	defer func() { out.Duration = time.Since(out.Started) }()
	if c.Component() {
		p.converse(ctx, c, seed, save, &out)
		return out
	}
	b, err := p.open(ctx, c)
	if err != nil {
		return opened(out, err)
	}
	keep := p.shares(c)
	defer func() {
		if keep && out.Verdict != report.Error && out.Target == nil {
			if err := b.Restore(ctx); err == nil {
				return
			}
		}
		// A bench that cannot be restored is not shared any more; the next case gets a new one.
		for k, s := range p.shared {
			if s == b {
				delete(p.shared, k)
			}
		}
		if err := b.Close(); err != nil && out.Verdict == report.Pass {
			out.Verdict, out.Detail = report.Error, fmt.Sprintf("tear-down failed: %v", err)
		}
	}()
	drive(ctx, b, c, seed, save, &out)
	if out.Verdict != report.Pass {
		out.LogTail = b.LogTail(20)
	}
	return out
}

// opened classifies a bench that did not come up.
func opened(out Outcome, err error) Outcome {
	var gone *target.UnreachableError
	var busy *target.PortInUseError
	if errors.As(err, &gone) || errors.As(err, &busy) {
		out.Verdict, out.Target = report.Fail, err
		out.Finding.Violations = []judge.Violation{{Expected: "a target that starts and becomes ready", Observed: err.Error()}}
		return out
	}
	out.Verdict, out.Detail = report.Error, err.Error()
	return out
}

// drive runs the case on its bench and judges what came of it.
func drive(ctx context.Context, b *Bench, c Case, seed uint64, save func(*history.History) error, out *Outcome) {
	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	r := b.Begin(c, seed)
	r.giveUp = cancel
	err := protect(func() error { return c.Drive(limited, r) })
	h, own := r.Finish()
	out.Silent = !r.alive()
	err = errors.Join(err, own)
	if save != nil {
		if saved := save(h); saved != nil {
			err = errors.Join(err, fmt.Errorf("save the evidence: %w", saved))
		}
	}
	var unapplied *target.ApplyError
	switch died := b.Died(); {
	case ctx.Err() != nil:
		out.Verdict, out.Detail = report.Error, "interrupted"
	case lost(died):
		out.Verdict, out.Detail = report.Error, died.Error()
	case died != nil:
		out.Verdict, out.Target = report.Fail, died
		out.Finding.Violations = []judge.Violation{{Expected: "a target that lives through the case", Observed: died.Error()}}
	case errors.As(err, &unapplied):
		out.Verdict = report.Fail
		out.Finding.Violations = []judge.Violation{{Expected: fmt.Sprintf("a change of workers taken over within %v", b.env.Manifest.Timeouts.Convergence), Observed: unapplied.Error()}}
	case err != nil:
		out.Verdict, out.Detail = report.Error, err.Error()
	default:
		conclude(c, h, limited.Err() != nil, out)
	}
	excuse(h, out)
	if out.Verdict == report.Fail && out.Detail == "" {
		out.Detail = stalled(h)
	}
}

// lost says that the target ended with our own guard, which is nobody's fault but ours.
func lost(died error) bool {
	var e *target.ExitError
	return errors.As(died, &e) && e.Lost
}

// conclude judges the history. What the case's own limit cut off is left out of
// it, and then a pass is not worth the name.
func conclude(c Case, h *history.History, cut bool, out *Outcome) {
	whole := *h
	whole.Requests = slices.DeleteFunc(slices.Clone(h.Requests), func(r history.Request) bool { return r.End == history.Cut })
	out.Finding, out.Detail = judged(c, &whole)
	// Whatever a case is about, nobody may ever get another's answer (RTE-005).
	out.Finding.Violations = append(out.Finding.Violations, judge.OwnAnswer()(&whole).Violations...)
	out.Verdict = verdict(out.Finding, out.Detail)
	switch {
	case out.Silent && (out.Verdict == report.Pass || out.Verdict == report.Inconclusive):
		out.Verdict = report.Fail
		out.Finding.Violations = []judge.Violation{{Expected: "a whole answer to some request",
			Observed: fmt.Sprintf("none to the %d that were waited for; the last ended: %s", len(whole.Requests), lastEnd(h))}}
	case cut && out.Verdict == report.Pass || out.Verdict == report.Inconclusive && cut:
		out.Verdict = report.Inconclusive
		out.Finding.Inconclusive = fmt.Sprintf("the case's limit of %v passed after %d requests: this target or this machine is too slow for it, or waits for something that does not come; see how the last requests ended in the evidence",
			c.Limit, len(whole.Requests))
	}
}

func lastEnd(h *history.History) string {
	r := h.Requests[len(h.Requests)-1]
	for i := len(h.Requests) - 1; i >= 0 && r.End == history.Cut; i-- {
		r = h.Requests[i]
	}
	return strings.TrimSpace(string(r.End) + " " + r.Err)
}

// judged guards against a history that nobody wrote and a judge that panics.
func judged(c Case, h *history.History) (f judge.Finding, detail string) {
	if len(h.Requests) == 0 {
		return f, errNoLedger.Error()
	}
	if err := protect(func() error { f = c.Judge(h); return nil }); err != nil {
		return f, err.Error()
	}
	return f, ""
}

func verdict(f judge.Finding, detail string) report.Verdict {
	switch {
	case detail != "":
		return report.Error
	case len(f.Violations) > 0:
		return report.Fail
	case f.Inconclusive != "":
		return report.Inconclusive
	default:
		return report.Pass
	}
}

// protect turns a panic into the harness's own error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// shares says whether the case runs on a shared bench. An external target is
// one and the same for all cases.
func (p *Pool) shares(c Case) bool { return !c.Alone || p.env.Manifest.Launch.External }

func (p *Pool) open(ctx context.Context, c Case) (*Bench, error) {
	key := Setting{c.Variant, c.Workers, c.Fleet, c.Store, c.Where}
	if b := p.shared[key]; b != nil && p.shares(c) {
		if b.Died() == nil {
			return b, nil
		}
		delete(p.shared, key)
		_ = b.Close() // it died in a case that has said so
	}
	if err := p.makeRoom(); err != nil {
		return nil, err
	}
	b, err := Open(ctx, p.env, key)
	if err == nil && p.shares(c) {
		p.shared[key] = b
	}
	return b, err
}

// makeRoom ends all shared benches if no two fleets can be there at once, their
// ports being fixed.
func (p *Pool) makeRoom() error {
	if len(p.env.Manifest.Wiring.Ports) == 0 {
		return nil
	}
	return p.Close()
}
