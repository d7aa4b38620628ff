// Package worker is one mock GPU worker: a vLLM-like HTTP server on an address
// of its own, which records every request in the ledger and misbehaves on
// command. It may touch the network and the ledger; it knows no router.
//
// It speaks HTTP/1.0 and 1.1. Like every net/http server it takes a client that
// closes its sending side for one that has left.
package worker

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/netfault"
)

const (
	headerTimeout = 10 * time.Second // for a client to send its request headers
	idleTimeout   = 5 * time.Minute  // of a kept-alive connection
	letGoTimeout  = 2 * time.Second  // for running attempts to end at a crash
)

// Config describes a worker. ID, Models and Ledger are required.
type Config struct {
	ID       string
	Addr     string   // IP and port; empty means a free port on 127.0.0.1
	Models   []string // names served; the first is the one that answers by default
	Shape    Shape
	Timing   Timing
	Ledger   *ledger.Ledger
	Plans    *Plans            // nil for none
	Handoffs *handoff.Registry // shared by the workers that pass blocks to each other; nil for one of its own
}

func (c Config) validate() error {
	switch {
	case c.ID == "":
		return errors.New("worker: the id is empty; give it one like w0")
	case len(c.Models) == 0 || slices.Contains(c.Models, ""):
		return fmt.Errorf("worker %s: models %q: give at least one name, none of them empty", c.ID, c.Models)
	case c.Ledger == nil:
		return fmt.Errorf("worker %s: it has no ledger; give it ledger.New()", c.ID)
	}
	if err := errors.Join(c.Shape.Validate(), c.Timing.Validate()); err != nil {
		return fmt.Errorf("worker %s: %w", c.ID, err)
	}
	return nil
}

// Worker is a running worker. All methods are safe for concurrent use.
type Worker struct {
	id       string
	models   atomic.Pointer[[]string] // what it points to never changes
	shape    Shape
	ledger   *ledger.Ledger
	plans    *Plans
	handoffs *handoff.Registry
	net      *netfault.Listener
	server   *http.Server
	served   chan struct{} // closed when the server has left
	probes   atomic.Int64

	// turn serialises crash, restart, close and network faults.
	turn   sync.Mutex
	closed bool

	mu     sync.Mutex
	life   *life
	alive  bool
	timing Timing
	fault  *Fault
	left   int           // requests that a counted fault still strikes
	letGo  chan struct{} // closed when the fault is set or cleared
}

// New starts a worker in its first incarnation.
func New(c Config) (*Worker, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Plans == nil {
		c.Plans = &Plans{}
	}
	if c.Handoffs == nil {
		c.Handoffs = handoff.New(handoff.Limit)
	}
	l, err := netfault.Listen(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", c.ID, err)
	}
	w := &Worker{
		id: c.ID, shape: c.Shape.complete(), ledger: c.Ledger, plans: c.Plans, handoffs: c.Handoffs,
		net: l, timing: c.Timing, served: make(chan struct{}), letGo: make(chan struct{}), life: newLife(1, c.Shape.Ranks), alive: true,
	}
	w.Serve(c.Models...)
	w.server = &http.Server{
		Handler:           http.HandlerFunc(w.serve),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         l.ConnState,
		ConnContext:       w.connContext,
		ErrorLog:          log.New(io.Discard, "", 0), // broken connections are the point here
	}
	go func() {
		defer close(w.served)
		w.server.Serve(l) // returns when the listener is closed, always with an error
	}()
	return w, nil
}

// ID is the worker's name in the fleet; it outlives crashes.
func (w *Worker) ID() string { return w.id }

// Models are the names served.
func (w *Worker) Models() []string { return slices.Clone(*w.models.Load()) }

// Serve makes the worker serve these names, one at least, instead of those that it has;
// requests whose headers had been read go on as if it had not.
func (w *Worker) Serve(models ...string) {
	names := slices.Clone(models)
	w.models.Store(&names)
}

// Shape is the worker's role, which is never empty here, and its ranks.
func (w *Worker) Shape() Shape { return w.shape }

// Host is the address without the port.
func (w *Worker) Host() string { return w.addr().IP.String() }

// Port is the port, the same in every incarnation.
func (w *Worker) Port() int { return w.addr().Port }

// URL is the base URL, without a slash at the end.
func (w *Worker) URL() string {
	return "http://" + net.JoinHostPort(w.Host(), strconv.Itoa(w.Port()))
}

func (w *Worker) addr() *net.TCPAddr { return w.net.Addr().(*net.TCPAddr) }

// Incarnation counts lives, from 1.
func (w *Worker) Incarnation() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life.incarnation
}

// Alive says that the worker has not crashed and is not closed. A worker with a
// fault is alive.
func (w *Worker) Alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alive
}

// Probes is the number of GET requests to /health, /v1/models and /metrics,
// which are counted instead of recorded.
func (w *Worker) Probes() int { return int(w.probes.Load()) }

// Timing is the timing in force.
func (w *Worker) Timing() Timing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timing
}

// SetTiming changes the timing for requests that arrive from now on.
func (w *Worker) SetTiming(t Timing) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("worker %s: %w", w.id, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timing = t
	return nil
}

// Crash kills the worker: new connections are refused, all connections reset,
// and running attempts end as crashed before Crash returns. It also forgets the
// fault. A worker that is dead already stays so.
func (w *Worker) Crash() {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.crash()
}

func (w *Worker) crash() {
	w.mu.Lock()
	if !w.alive {
		w.mu.Unlock()
		return
	}
	w.alive = false
	l := w.life
	w.mu.Unlock()
	// The life ends before its connections break, so that an attempt that sees
	// its connection break knows that it was a crash.
	l.kill()
	w.handoffs.Gone(w.id, l.incarnation)
	w.net.Crash()
	w.replaceFault(nil)
	timeout := time.NewTimer(letGoTimeout)
	defer timeout.Stop()
	select {
	case <-l.idle:
	case <-timeout.C:
	}
}

// Restart brings a crashed worker back at the same address as the next
// incarnation, without a fault.
func (w *Worker) Restart() error {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.closed {
		return fmt.Errorf("worker %s: it is closed and cannot restart", w.id)
	}
	if w.Alive() {
		return fmt.Errorf("worker %s: it is alive; crash it before restarting it", w.id)
	}
	w.mu.Lock()
	w.life = newLife(w.life.incarnation+1, w.shape.Ranks)
	w.mu.Unlock()
	w.server.SetKeepAlivesEnabled(true)
	if err := w.net.SetMode(netfault.Open); err != nil {
		return fmt.Errorf("worker %s: cannot restart: %w", w.id, err)
	}
	w.mu.Lock()
	w.alive = true
	w.mu.Unlock()
	return nil
}

// Close ends the worker for good, as a crash does, and gives its address back.
// Idempotent.
func (w *Worker) Close() error {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.crash()
	w.server.Close() // its error is the listener's, which is closed next
	err := w.net.Close()
	<-w.served
	return err
}

// SetFault puts a fault in force in place of the one before.
func (w *Worker) SetFault(f Fault) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("worker %s: %w", w.id, err)
	}
	w.turn.Lock()
	defer w.turn.Unlock()
	if !w.Alive() {
		return fmt.Errorf("worker %s: it is not alive; restart it before setting fault %s", w.id, f.Kind)
	}
	w.replaceFault(&f)
	mode := netfault.Open
	switch f.Kind {
	case Refuse:
		mode = netfault.Refuse
	case Hang:
		mode = netfault.Hang
	}
	return w.setMode(mode)
}

// ClearFault makes the worker behave again. Without a fault it does nothing.
func (w *Worker) ClearFault() error {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.replaceFault(nil)
	if !w.Alive() {
		return nil
	}
	return w.setMode(netfault.Open)
}

// Fault is the fault in force, or nil. Its Count is what is left of it.
func (w *Worker) Fault() *Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == nil {
		return nil
	}
	f := *w.fault
	f.Count = w.left
	return &f
}

func (w *Worker) setMode(m netfault.Mode) error {
	// Answers under way then say "Connection: close", so that a client's pool
	// does not keep what is about to be closed.
	w.server.SetKeepAlivesEnabled(m != netfault.Refuse)
	if err := w.net.SetMode(m); err != nil {
		return fmt.Errorf("worker %s: %w", w.id, err)
	}
	return nil
}

func (w *Worker) replaceFault(f *Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.letGo)
	w.letGo = make(chan struct{})
	w.fault, w.left = f, 0
	if f != nil {
		w.left = f.Count
	}
}

// strike returns the worker's fault that hits the next inference request, if
// any, and the channel that closes when it lets go.
func (w *Worker) strike() (Fault, <-chan struct{}, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == nil || w.fault.network() {
		return Fault{}, nil, false
	}
	f := *w.fault
	if f.Count > 0 {
		w.left--
		if w.left == 0 {
			w.fault = nil
		}
	}
	return f, w.letGo, true
}
