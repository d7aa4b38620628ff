package certify

import (
	"context"
	"errors"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// preflight starts the target once with a few workers and stops it again, so
// that one that cannot run is known before any case. A manifest that turns out
// unusable is the error; everything else that keeps the run from its cases is
// the problem.
func preflight(ctx context.Context, m *target.Manifest, seed uint64) (*report.Problem, error) {
	if obstacle, err := preflightComponent(ctx, m); obstacle != nil || err != nil {
		return obstacle, err
	}
	if m.Launch.InProcess != "" || !m.HasRouter() {
		return nil, nil
	}
	workers := bench.DefaultWorkers
	if n := len(m.Wiring.Ports); n > 0 {
		workers = min(workers, n)
	}
	b, err := bench.Open(ctx, bench.Env{Manifest: m, Seed: seed}, bench.Setting{Workers: workers})
	if err == nil {
		if err = b.Close(); err == nil || ctx.Err() != nil {
			return nil, nil
		}
		return &report.Problem{Kind: report.ProblemHarness, Subject: "preflight", Text: "the target was started once and cannot be stopped: " + err.Error()}, nil
	}
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

// preflightComponent starts the adapter once and lets it say hello.
func preflightComponent(ctx context.Context, m *target.Manifest) (*report.Problem, error) {
	if m.Component == nil || m.Component.InProcess != "" || !m.Claims[bench.ComponentClaim] && !m.Claims[bench.SessionIndexClaim] {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, adapterLimit)
	defer cancel()
	c, err := target.StartComponent(limited, m, target.ComponentOptions{})
	if err == nil {
		_, err = c.Hello(limited)
		closing, cancel := context.WithTimeout(context.Background(), adapterLimit)
		defer cancel()
		_ = c.Close(closing) // how it ends is for its cases to say
	}
	var bad *target.ManifestError
	kind := report.ProblemTarget
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, nil
	case errors.As(err, &bad):
		return nil, bad
	case errors.As(err, new(*component.Fault)), errors.As(err, new(*component.Error)):
		kind = report.ProblemAdapter // it started, and must be mended
	}
	return &report.Problem{Kind: kind, Subject: "adapter", Text: err.Error()}, nil
}

// adapterLimit is how long an adapter may take to start and to say hello.
const adapterLimit = 20 * time.Second
