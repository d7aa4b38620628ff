package certify

import (
	"context"
	"errors"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// preflight starts the target once with a few workers and stops it again, so
// that one that cannot run is known before any case. A manifest that turns out
// unusable is the error; everything else that keeps the run from its cases is
// the problem.
func preflight(ctx context.Context, m *target.Manifest, seed uint64) (*report.Problem, error) {
	if m.Claims[bench.ComponentClaim] && m.Component != nil && m.Component.InProcess == "" {
		if err := begins(ctx, m); err != nil {
			return obstacle(ctx, err)
		}
	}
	if m.Launch.InProcess != "" || !m.HasRouter() {
		return nil, nil
	}
	workers := bench.DefaultWorkers
	if n := len(m.Wiring.Ports); n > 0 {
		workers = min(workers, n)
	}
	b, err := bench.Open(ctx, bench.Env{Manifest: m, Seed: seed}, "", workers, bench.Fleet{})
	if err == nil {
		if err = b.Close(); err == nil || ctx.Err() != nil {
			return nil, nil
		}
		return &report.Problem{Kind: report.ProblemHarness, Subject: "preflight", Text: "the target was started once and cannot be stopped: " + err.Error()}, nil
	}
	return obstacle(ctx, err)
}

// begins starts the component's adapter and ends it again. How it speaks, and ends, is
// for the cases to say.
func begins(ctx context.Context, m *target.Manifest) error {
	c, err := target.StartComponent(ctx, m, target.ComponentOptions{})
	if err == nil {
		_ = c.Close(ctx)
	}
	return err
}

// obstacle says whose problem it is that a target did not start.
func obstacle(ctx context.Context, err error) (*report.Problem, error) {
	var bad *target.ManifestError
	var gone *target.UnreachableError
	var busy *target.PortInUseError
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case errors.As(err, &bad):
		return nil, bad
	case errors.As(err, &gone) || errors.As(err, &busy):
		return &report.Problem{Kind: report.ProblemTarget, Subject: "target", Text: err.Error()}, nil
	}
	return &report.Problem{Kind: report.ProblemHarness, Subject: "preflight", Text: err.Error()}, nil
}
