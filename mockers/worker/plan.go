package worker

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/openai"
)

// Plan steers the attempts of one request, chosen by its join key. Every
// attempt with the key follows it, whichever worker it reaches.
type Plan struct {
	// Role limits the plan to attempts at workers of this role, which are one leg
	// of a request that is served by two; empty means all attempts.
	Role Role
	// HoldHeaders keeps the response headers back until Handle.Release.
	HoldHeaders bool
	// Step lets a stream write one event, of whatever sort, per
	// Handle.Advance, and takes the timing's place. Answers without stream
	// have no events and are not affected.
	Step bool
	// Status is that of a good answer, 200 to 203; 0 is 200.
	Status int
	// Events is the number of tokens of the answer; 0 leaves it to the request.
	Events int
	// TTFT is the time to first token; 0 leaves it to the worker.
	TTFT time.Duration
	// Interval between tokens; 0 leaves it to the worker.
	Interval time.Duration
	// HoldFinish keeps back the end of the answer until Handle.Release: [DONE],
	// or the second half of an answer without stream.
	HoldFinish bool
	// Header is in every answer beside what the worker says itself, each value on a
	// line of its own, in errors and streams, too.
	Header http.Header
	// Fault strikes the planned request instead of the worker's own fault. Its
	// Count counts attempts: 1 spoils the first and lets the retry through.
	Fault *Fault
	// Then strikes the attempts after those that Fault counts.
	Then *Fault
}

// framing are the headers that say what an answer's body is and where it ends.
var framing = []string{"Connection", "Content-Length", "Content-Type", "Transfer-Encoding"}

// Validate says what is wrong with the plan, if anything.
func (p Plan) Validate() error {
	if p.Events < 0 || p.Events > openai.MaxTokens {
		return fmt.Errorf("plan: events is %d; use 1 to %d, or 0 for the request's own length", p.Events, openai.MaxTokens)
	}
	if p.Status != 0 && (p.Status < 200 || p.Status > 203) {
		return fmt.Errorf("plan: status is %d; use 200 to 203, which have a body, 0 for 200, or a fault of kind status", p.Status)
	}
	if p.Role != "" && !slices.Contains(roles, p.Role) {
		return fmt.Errorf("plan: no role %q; use one of %v, or none for all", p.Role, roles)
	}
	if p.TTFT < 0 || p.Interval < 0 {
		return fmt.Errorf("plan: ttft %s and interval %s must not be negative", p.TTFT, p.Interval)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		if name != http.CanonicalHeaderKey(name) || slices.Contains(framing, name) {
			return fmt.Errorf("plan: header %q cannot be planned; write names like X-Name, and leave %v to the worker", name, framing)
		}
	}
	if p.Then != nil && (p.Fault == nil || p.Fault.Count == 0 || p.Then.Count != 0) {
		return errors.New("plan: then follows a fault with a count, and has none itself; give fault one, and then none")
	}
	for _, f := range []*Fault{p.Fault, p.Then} {
		if f == nil {
			continue
		}
		if err := f.Validate(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if f.network() {
			return fmt.Errorf("plan: fault %s acts on whole connections; set it on a worker", f.Kind)
		}
	}
	return nil
}

// Handle moves planned attempts on. Its methods never block, may be called
// before the first attempt arrives, and are safe for concurrent use.
type Handle struct {
	plan Plan

	mu       sync.Mutex
	struck   int // attempts that the fault has struck
	released bool
	steps    int
	free     bool
	doomed   bool
	changed  chan struct{}
}

func newHandle(p Plan) *Handle {
	p.Header = p.Header.Clone()
	for _, f := range []**Fault{&p.Fault, &p.Then} {
		if *f != nil {
			own := **f // the caller may reuse his
			*f = &own
		}
	}
	return &Handle{plan: p, changed: make(chan struct{})}
}

func (h *Handle) update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// Release lets the headers and the ends of all attempts out, present and future
// ones, and lets go of attempts that the plan's hang-requests keeps.
func (h *Handle) Release() { h.update(func() { h.released = true }) }

// Advance lets every attempt write one more event. An attempt that comes late
// may write as many at once as Advance has been called so far.
func (h *Handle) Advance() { h.update(func() { h.steps++ }) }

// Reset breaks the connection of every attempt that waits for an Advance or for
// the release of its second half, and of those that come to wait for one later.
// What Advance has let out is written first, so the break comes behind exactly
// that event.
func (h *Handle) Reset() { h.update(func() { h.doomed, h.free, h.released = true, true, true }) }

// Finish lifts every hold for good: headers, ends, steps and hung attempts.
func (h *Handle) Finish() { h.update(func() { h.released, h.free = true, true }) }

// strike returns the fault that hits the next attempt, if any.
func (h *Handle) strike() (Fault, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.plan.Fault
	if f != nil && f.Count > 0 && h.struck >= f.Count {
		f = h.plan.Then
	}
	if f == nil {
		return Fault{}, false
	}
	h.struck++
	return *f, true
}

// mayAnswer says whether the headers may go out, and if not, what to wait for
// before asking again.
func (h *Handle) mayAnswer() (bool, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.plan.HoldHeaders || h.released, h.changed
}

// mayFinish says whether the end of the answer may go out.
func (h *Handle) mayFinish() (bool, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.plan.HoldFinish || h.released, h.changed
}

// isDoomed says that event number n, from 0, is not to be written but broken off.
func (h *Handle) isDoomed(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doomed && n >= h.steps
}

// isCut says that the second half of an answer is not to be written but broken off.
func (h *Handle) isCut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doomed
}

// mayLetGo says whether a hung attempt may end.
func (h *Handle) mayLetGo() (bool, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released, h.changed
}

// mayStep says whether event number n, from 0, may be written.
func (h *Handle) mayStep(n int) (bool, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.free || n < h.steps, h.changed
}

// Plans holds the plans of a fleet. The zero value is empty and ready.
type Plans struct {
	mu    sync.Mutex
	byKey map[string]*Handle
}

// Set makes attempts with this join key follow the plan from now on. A plan
// that the key already has is replaced; attempts that run under it keep it.
func (p *Plans) Set(key string, plan Plan) (*Handle, error) {
	if key == "" {
		return nil, errors.New("plan: the join key is empty; give the key that the request will carry")
	}
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	h := newHandle(plan)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = map[string]*Handle{}
	}
	p.byKey[key] = h
	return h, nil
}

// Drop forgets the plan of a key, if it has one. Attempts that run keep it.
func (p *Plans) Drop(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byKey, key)
}

func (p *Plans) of(key string) *Handle {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byKey[key]
}

// planOf is the plan that a request with this key follows at this worker.
func (w *Worker) planOf(key string) *Handle {
	h := w.plans.of(key)
	if h != nil && h.plan.Role != "" && h.plan.Role != w.shape.Role {
		return nil
	}
	return h
}
