package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
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
	// Component is what stands in for parts of the in-process component.
	Component target.ComponentOptions
	Seed      uint64
	Logf      func(format string, args ...any) // may be nil
	// OpenStore makes an empty discovery store of a kind, target.StoreEtcd or StoreFile, for
	// records that are kept alive as the registration says; nil = there is none to be had.
	OpenStore func(ctx context.Context, kind string, r target.Registration) (*Discovery, error)

	dropped func() uint64 // the kernel's count of dropped packets; nil = the kernel's own
}

// Setting is what a bench must be for a case. Cases of one setting can share a bench.
type Setting struct {
	Variant string // of the manifest
	Workers int    // aggregated ones
	Fleet   Fleet  // and others
	Store   string // kind of the discovery store where the target looks for them; "": it is told
	Where          // and how it gets there
}

// Bench is a running target with its fleet.
type Bench struct {
	env Env
	Setting
	disc    *Discovery // nil without a store
	fleet   *fleet.Fleet
	running *target.Running
	wired   []string          // ids of the workers last applied
	names   map[string]string // ids under which workers are wired, where these are not their own
	session target.Session
}

// closeLimit bounds the stop of a target and its fleet beyond the manifest's own grace.
const closeLimit = 40 * time.Second

// Open starts the workers and the target wired to all, told about them or shown them in
// a store. Its errors are the target's (*target.UnreachableError and friends) or the harness's.
func Open(ctx context.Context, env Env, set Setting) (*Bench, error) {
	if env.dropped == nil {
		env.dropped = droppedPackets
	}
	m := env.Manifest
	session, err := m.SessionOf(set.Variant)
	if err != nil {
		return nil, err
	}
	ports := m.Wiring.Ports
	if all := len(set.Fleet.shapes(set.Workers)); len(ports) > 0 && len(ports) < all {
		return nil, fmt.Errorf("%s: wiring.ports lists %d ports and this case needs %d workers; list more", m.File, len(ports), all)
	}
	f, err := set.Fleet.start(set.Workers, m.Models, m.Aliases, ports)
	if len(ports) > 0 && errors.Is(err, syscall.EADDRINUSE) {
		return nil, &target.ManifestError{File: m.File, Line: 1, Column: 1, Key: "wiring.ports", Problem: err.Error(),
			Remedy: "end what listens there, or list other ports and tell the target of them"}
	}
	if err != nil {
		return nil, fmt.Errorf("start the mock fleet: %w", err)
	}
	b := &Bench{env: env, Setting: set, fleet: f, session: session, names: map[string]string{}}
	for _, w := range f.Workers() {
		b.wired = append(b.wired, w.ID())
	}
	opt := target.Options{Variant: set.Variant, Local: env.Local, Seed: env.Seed, Logf: env.Logf}
	if set.Store != "" {
		if err := b.discover(ctx); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		opt.Store = b.disc.At
	} else {
		opt.Workers = b.targets(b.wired)
	}
	b.running, err = target.Start(ctx, m, opt)
	if err != nil {
		return nil, errors.Join(err, f.Close(), b.disc.close())
	}
	return b, nil
}

// targets describes workers as a target's configuration needs them.
func (b *Bench) targets(ids []string) []target.Worker {
	out := make([]target.Worker, 0, len(ids))
	for _, id := range ids {
		w := b.fleet.Worker(id)
		s := w.Shape()
		out = append(out, target.Worker{ID: cmp.Or(b.names[id], id), Host: w.Host(), Port: w.Port(), URL: w.URL(), Model: w.Models()[0], Role: string(s.Role), Ranks: s.Ranks})
	}
	return out
}

// apply wires exactly these workers and returns when the target has verifiably taken them.
func (b *Bench) apply(ctx context.Context, ids []string) error {
	if b.disc != nil {
		return errors.New("the target looks for workers in a store: register and unregister them")
	}
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
	return errors.Join(b.running.Stop(ctx), b.fleet.Close(), b.disc.close())
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
