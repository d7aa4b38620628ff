package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/fleet"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/target"
)

// Env is what every bench of a run shares.
type Env struct {
	Manifest *target.Manifest
	Local    target.LocalFactory // a stand-in for the in-process reference; nil = the reference itself
	// Coordinator stands in for the in-process component's table of sessions; nil = its own.
	Coordinator target.CoordinatorFactory
	Index       target.IndexFactory // for its session index; nil = its own
	Seed        uint64
	Logf        func(format string, args ...any) // may be nil
}

// Bench is a running target with its fleet.
type Bench struct {
	env     Env
	variant string
	shape   Fleet
	fleet   *fleet.Fleet
	running *target.Running
	wired   []string // ids of the workers last applied
	session target.Session
}

// closeLimit bounds the stop of a target and its fleet beyond the manifest's own grace.
const closeLimit = 40 * time.Second

// Open starts the workers, n of them aggregated, and the target wired to all. Its
// errors are the target's (*target.UnreachableError and friends) or the harness's.
func Open(ctx context.Context, env Env, variant string, n int, shape Fleet) (*Bench, error) {
	m := env.Manifest
	session, err := m.SessionOf(variant)
	if err != nil {
		return nil, err
	}
	ports := m.Wiring.Ports
	if all := len(shape.shapes(n)); len(ports) > 0 && len(ports) < all {
		return nil, fmt.Errorf("%s: wiring.ports lists %d ports and this case needs %d workers; list more", m.File, len(ports), all)
	}
	f, err := shape.start(n, m.Models, ports)
	if err != nil {
		return nil, fmt.Errorf("start the mock fleet: %w", err)
	}
	b := &Bench{env: env, variant: variant, shape: shape, fleet: f, session: session}
	for _, w := range f.Workers() {
		b.wired = append(b.wired, w.ID())
	}
	b.running, err = target.Start(ctx, m, target.Options{
		Variant: variant, Workers: b.targets(b.wired), Local: env.Local, Seed: env.Seed, Logf: env.Logf,
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

// targets describes workers as a target's configuration needs them.
func (b *Bench) targets(ids []string) []target.Worker {
	out := make([]target.Worker, 0, len(ids))
	for _, id := range ids {
		w := b.fleet.Worker(id)
		s := w.Shape()
		out = append(out, target.Worker{ID: w.ID(), Host: w.Host(), Port: w.Port(), URL: w.URL(), Model: b.env.Manifest.Models[0], Role: string(s.Role), Ranks: s.Ranks})
	}
	return out
}

// apply wires exactly these workers and returns when the target has verifiably taken them.
func (b *Bench) apply(ctx context.Context, ids []string) error {
	if err := b.running.Apply(ctx, b.targets(ids)); err != nil {
		return err
	}
	b.wired = ids
	return nil
}

// Died says why the target ended by itself, or nil while it lives.
func (b *Bench) Died() error {
	select {
	case <-b.running.Exited():
		if err := b.running.ExitError(); err != nil {
			return err
		}
		return errors.New("the target ended by itself with status 0")
	default:
		return nil
	}
}

// Restore undoes what a case may have left, so that the next one can share the
// bench: faults off, dead workers up, nothing in flight.
func (b *Bench) Restore(ctx context.Context) error {
	if err := b.fleet.ClearFaults(); err != nil {
		return err
	}
	for _, w := range b.fleet.Workers() {
		if !w.Alive() {
			if err := w.Restart(); err != nil {
				return fmt.Errorf("restart worker %s: %w", w.ID(), err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	err := b.fleet.Ledger().Wait(ctx, func(v ledger.View) bool { return running(v) == 0 })
	if err != nil {
		return fmt.Errorf("the last case's requests are still at the workers after %v: %w", settleLimit, err)
	}
	return nil
}

// settleLimit is how long requests of an ended case may stay at workers of a shared bench.
const settleLimit = 3 * time.Second

// LogTail is the end of the target's own output.
func (b *Bench) LogTail(lines int) string { return b.running.LogTail(lines) }

// Close stops the target, then the fleet. It always comes back.
func (b *Bench) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return errors.Join(b.running.Stop(ctx), b.fleet.Close())
}

// fault and plan re-exports keep case files to one import.
type (
	// Fault is a worker's misbehaviour; see mockers/worker.
	Fault = worker.Fault
	// Plan steers one request at the workers; see mockers/worker.
	Plan = worker.Plan
	// Handle releases and advances a planned request.
	Handle = worker.Handle
)
