// Package fleet runs many mock workers over one ledger, one set of plans and one
// record of hand-offs.
// It may touch the network only through its workers.
package fleet

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
)

// DefaultModel is served where a Config names no model.
const DefaultModel = "mock"

// Config describes a fleet.
type Config struct {
	Workers int            // how many aggregated ones without ranks to start with; 0 is allowed
	Shapes  []worker.Shape // of further workers to start with, in this order
	Models  []string       // names served, the first by default; none means DefaultModel
	Timing  worker.Timing  // of every worker, until its SetTiming
	Ledger  *ledger.Ledger // nil makes a new one
	// Ports are the ports of the first workers, in order, for targets that
	// cannot be told where workers are. Workers past the list get free ports;
	// a list that is not empty must cover Workers and Shapes.
	Ports []int
	// Handoffs is how many hand-offs the fleet remembers; 0 means handoff.Limit.
	// The oldest are forgotten first, and counted.
	Handoffs int
}

func (c *Config) complete() error {
	if c.Workers < 0 {
		return fmt.Errorf("fleet: workers is %d; it must not be negative", c.Workers)
	}
	if c.Handoffs < 0 {
		return fmt.Errorf("fleet: handoffs is %d; it must not be negative", c.Handoffs)
	}
	if n := c.Workers + len(c.Shapes); len(c.Ports) > 0 && len(c.Ports) < n {
		return fmt.Errorf("fleet: %d ports for %d workers; name one for each, or none", len(c.Ports), n)
	}
	for i, p := range c.Ports {
		if p < 1 || p > 65535 || slices.Contains(c.Ports[:i], p) {
			return fmt.Errorf("fleet: ports %v: %d is out of 1 to 65535 or named twice", c.Ports, p)
		}
	}
	if len(c.Models) == 0 {
		c.Models = []string{DefaultModel}
	}
	if c.Ledger == nil {
		c.Ledger = ledger.New()
	}
	if c.Handoffs == 0 {
		c.Handoffs = handoff.Limit
	}
	return nil
}

// Fleet is a set of running workers. All methods are safe for concurrent use.
type Fleet struct {
	config   Config
	plans    worker.Plans
	handoffs *handoff.Registry

	mu      sync.Mutex
	workers []*worker.Worker
	closed  bool
}

// New starts a fleet. If a worker cannot start, none is left running.
func New(c Config) (*Fleet, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	c.Models, c.Ports, c.Shapes = slices.Clone(c.Models), slices.Clone(c.Ports), slices.Clone(c.Shapes)
	f := &Fleet{config: c, handoffs: handoff.New(c.Handoffs)}
	for _, s := range append(make([]worker.Shape, c.Workers), c.Shapes...) {
		if _, err := f.Add(s); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Add starts one more worker; the zero shape is an aggregated one without ranks.
// IDs count up from w0, whatever the shape, and are never reused.
func (f *Fleet) Add(s worker.Shape) (*worker.Worker, error) {
	return f.AddServing(f.config.Models, s)
}

// AddServing is Add for a worker that serves other models than the fleet's.
func (f *Fleet) AddServing(models []string, s worker.Shape) (*worker.Worker, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errors.New("fleet: it is closed; no worker can be added")
	}
	n := len(f.workers)
	c := worker.Config{
		ID:       fmt.Sprintf("w%d", n),
		Models:   models,
		Shape:    s,
		Timing:   f.config.Timing,
		Ledger:   f.config.Ledger,
		Plans:    &f.plans,
		Handoffs: f.handoffs,
	}
	if n < len(f.config.Ports) {
		c.Addr = fmt.Sprintf("127.0.0.1:%d", f.config.Ports[n])
	}
	w, err := worker.New(c)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f.workers = append(f.workers, w)
	return w, nil
}

// Ledger is where all workers record.
func (f *Fleet) Ledger() *ledger.Ledger { return f.config.Ledger }

// Handoffs is the record of all hand-offs between the workers.
func (f *Fleet) Handoffs() *handoff.Registry { return f.handoffs }

// Models are the names served.
func (f *Fleet) Models() []string { return slices.Clone(f.config.Models) }

// Workers are all workers in the order of creation, crashed ones included.
func (f *Fleet) Workers() []*worker.Worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.workers)
}

// Worker is the worker with this id, or nil.
func (f *Fleet) Worker(id string) *worker.Worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		if w.ID() == id {
			return w
		}
	}
	return nil
}

// Plan makes every attempt with this join key follow the plan, on any worker.
// Set it before the request is sent. A plan the key already has is replaced.
func (f *Fleet) Plan(key string, p worker.Plan) (*worker.Handle, error) {
	h, err := f.plans.Set(key, p)
	if err != nil {
		return nil, fmt.Errorf("fleet: key %q: %w", key, err)
	}
	return h, nil
}

// Unplan forgets the plan of a key; attempts that run under it keep it.
func (f *Fleet) Unplan(key string) { f.plans.Drop(key) }

// ClearFaults makes every living worker behave. Plans keep their faults.
func (f *Fleet) ClearFaults() error {
	var errs []error
	for _, w := range f.Workers() {
		errs = append(errs, w.ClearFault())
	}
	return errors.Join(errs...)
}

// Close ends all workers as a crash does: attempts that still run end as
// crashed. It returns within about 2 seconds. Idempotent.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	workers := slices.Clone(f.workers)
	f.mu.Unlock()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() { errs[i] = w.Close() })
	}
	all.Wait()
	return errors.Join(errs...)
}
