package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/target"
)

// Run is one case at work on a bench. Its methods record everything; the first
// error of the harness itself is kept and ends up as the case's verdict, so
// drives need not check each call.
type Run struct {
	bench  *Bench
	c      Case
	seed   uint64
	prefix string
	from   int // ledger position at the start
	handed int // hand-offs of the fleet at the start
	client *client
	rnd    *rand.Rand

	giveUp  context.CancelFunc // ends the drive; set before it starts
	stalls  *stalls
	packets uint64 // that the kernel had dropped at the start

	mu       sync.Mutex
	answered int // requests with a whole answer
	lost     int // requests without one, weighed, while none had any
	n        int
	pending  []*Pending
	handles  []*Handle
	planned  []string
	marks    []history.Mark
	left     []string // in the discovery store, when the case looked
	err      error
	starters []string // workers wired at the start
}

// Begin isolates a case on the bench: own keys, own sessions, own part of the ledger.
// Finish it.
func (b *Bench) Begin(c Case, seed uint64) *Run {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", c.ID, seed)
	cr := b.env.Manifest.Session.Carrier
	return &Run{
		bench: b, c: c, seed: seed, prefix: fmt.Sprintf("%08x", uint32(h.Sum64())), from: b.fleet.Ledger().Len(), handed: b.fleet.Handoffs().Len(),
		client: newClient(b.running.BaseURL(), b.fleet.Ledger().Now, carrier{
			header: cr.Header, body: cr.Body, cookie: cr.Cookie, pins: b.env.Manifest.Pins, tenant: b.env.Manifest.Session.Tenant, query: b.env.Manifest.Session.Query}),
		rnd:      rand.New(rand.NewPCG(seed, h.Sum64())),
		starters: slices.Clone(b.wired),
		stalls:   watchStalls(b.fleet.Ledger().Now),
		packets:  b.env.dropped(),
	}
}

// Rand is the case's own seeded source. Drives use it from one goroutine.
func (r *Run) Rand() *rand.Rand { return r.rnd }

// IdleTTL is the idle time that the manifest declares for this variant.
func (r *Run) IdleTTL() time.Duration { return r.bench.session.IdleTTL }

// Capacity is how many bindings the manifest declares for this variant.
func (r *Run) Capacity() int { return r.bench.session.Capacity }

// Convergence is the longest time the target may take to follow a change.
func (r *Run) Convergence() time.Duration { return r.bench.env.Manifest.Timeouts.Convergence }

// HeaderTimeout is how long the target waits for a worker's response headers in the
// case's variant; 0 if the manifest does not say.
func (r *Run) HeaderTimeout() time.Duration {
	d, _ := r.bench.env.Manifest.HeadersOf(r.bench.Variant) // the bench was opened with this variant
	return d
}

// Model is the model that the target serves, the first of several.
func (r *Run) Model() string { return r.bench.env.Manifest.Models[0] }

// Aliases are the other names of a model that the manifest declares.
func (r *Run) Aliases(model string) []string {
	return everyName(r.bench.env.Manifest.Aliases, model)[1:]
}

// ModelsServed are the models of a case that has several.
func (r *Run) ModelsServed() []string { return r.bench.env.Manifest.Models[:r.c.Fleet.Models] }

// Workers lists the ids wired to the target now.
func (r *Run) Workers() []string { return slices.Clone(r.bench.wired) }

// Pins are the headers by which a request names where it wants to be served.
func (r *Run) Pins() target.Pins { return r.bench.env.Manifest.Pins }

// Sessions says whether the target knows sessions at all.
func (r *Run) Sessions() bool { return r.bench.session.Kind != target.KindNone }

// CookieFree says whether a cookie in a request is nobody's session.
func (r *Run) CookieFree() bool { return r.bench.env.Manifest.Session.Carrier.Cookie == "" }

// Carries says whether the header carries a request's session id.
func (r *Run) Carries(header string) bool {
	return strings.EqualFold(header, r.bench.env.Manifest.Session.Carrier.Header)
}

// SessionID makes an id that no other case uses.
func (r *Run) SessionID(i int) string { return fmt.Sprintf("s-%s-%d", r.prefix, i) }

// Key makes the next join key, for requests that are planned before they are sent.
func (r *Run) Key() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return fmt.Sprintf("%s-%d", r.prefix, r.n)
}

// Plan steers the request that will carry key, at whichever worker it reaches.
func (r *Run) Plan(key string, p Plan) *Handle {
	if p.Role == "" {
		p.Role = r.c.at
	}
	h, err := r.bench.fleet.Plan(key, p)
	if err != nil {
		r.Fail(err)
		h, _ = new(worker.Plans).Set(key, Plan{}) // steers nothing; the case is an error already
		return h
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned = append(r.planned, key)
	r.handles = append(r.handles, h)
	return h
}

// Direct sends a request straight to a worker: the control beside what goes
// through the target.
func (r *Run) Direct(ctx context.Context, worker string, q Req) history.Request {
	past := *r.client
	past.base = r.bench.fleet.Worker(worker).URL()
	return r.startOn(ctx, &past, q).Wait()
}

// Start sends a request and comes back at once.
func (r *Run) Start(ctx context.Context, q Req) *Pending { return r.startOn(ctx, r.client, q) }

func (r *Run) startOn(ctx context.Context, c *client, q Req) *Pending {
	if q.Key == "" {
		q.Key = r.Key()
	}
	if q.Endpoint == "" {
		q.Endpoint = history.Chat
	}
	if cr := r.bench.env.Manifest.Session.Carrier; cr == (target.Carrier{}) {
		q.Session, q.BlankID = "", false // this target knows no sessions
	}
	if q.Model == "" {
		q.Model = r.Model()
	}
	if q.Tokens == 0 {
		q.Tokens = 4
	}
	if q.Deadline == 0 {
		q.Deadline = RequestDeadline
	}
	p, err := c.start(ctx, q, r.tally)
	if err != nil {
		r.Fail(err)
		p = &Pending{cancel: func() {}, done: make(chan struct{}), changed: make(chan struct{})}
		p.req = history.Request{Key: q.Key, End: history.Failed, Err: err.Error()}
		close(p.done)
	}
	r.mu.Lock()
	r.pending = append(r.pending, p)
	r.mu.Unlock()
	return p
}

// hopeless is how many requests may be lost before a drive is ended that has not
// seen one whole answer; one that timed out, which costs most, weighs as much.
const hopeless = 20

// tally ends the drive when nothing is answered at all: the judge has seen enough,
// and the remaining requests would take all their deadlines.
func (r *Run) tally(end history.End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch end {
	case history.Complete, history.Truncated:
		r.answered++
	case history.Timeout:
		r.lost += hopeless
	case history.Failed, history.Malformed, history.Oversize:
		r.lost++
	}
	if r.answered == 0 && r.lost >= hopeless && r.giveUp != nil {
		r.giveUp()
	}
}

// alive says whether any request got a whole answer, or the beginning of one, or
// none was lost (clients that left on purpose cannot tell).
func (r *Run) alive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered > 0 || r.lost == 0
}

// Do sends a request and waits for its end.
func (r *Run) Do(ctx context.Context, q Req) history.Request { return r.Start(ctx, q).Wait() }

// Together sends all requests at once and waits for their ends.
func (r *Run) Together(ctx context.Context, qs []Req) []history.Request {
	all := make([]*Pending, len(qs))
	for i, q := range qs {
		all[i] = r.Start(ctx, q)
	}
	out := make([]history.Request, len(qs))
	for i, p := range all {
		out[i] = p.Wait()
	}
	return out
}

// Parallel runs f for 0..n-1, width at a time.
func (r *Run) Parallel(n, width int, f func(i int)) {
	var g errgroup.Group
	g.SetLimit(width)
	for i := range n {
		g.Go(func() error { f(i); return nil })
	}
	_ = g.Wait() // f returns nothing that could fail
}

// Fail keeps the harness's first own error.
func (r *Run) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Pause waits for a stretch of the clause's own time (an idle time, a spacing);
// it is no way to wait for the target.
func (r *Run) Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Finish ends what still runs and returns the history with the harness's own
// first error. No request outlives it.
func (r *Run) Finish() (*history.History, error) {
	r.mu.Lock()
	pending, handles, planned := slices.Clone(r.pending), r.handles, r.planned
	r.mu.Unlock()
	for _, p := range pending {
		select {
		case <-p.done:
		default:
			p.Cancel()
		}
	}
	h := &history.History{
		Stalls: r.stalls.stop(), Dropped: r.bench.env.dropped() - r.packets,
		Case: r.c.ID, Seed: r.seed, Workers: r.starters, Fleet: r.described(r.starters), Aliases: r.bench.env.Manifest.Aliases, Convergence: r.Convergence(), Marks: r.marks, Store: r.bench.storage(r.left),
		Session: history.Session{Kind: r.bench.session.Kind, IdleTTL: r.bench.session.IdleTTL,
			Capacity: r.bench.session.Capacity, AtCapacity: r.bench.session.AtCapacity, Final: r.bench.session.Final},
	}
	for _, p := range pending {
		h.Requests = append(h.Requests, p.Wait())
	}
	r.client.kept.CloseIdleConnections()
	for i, x := range handles {
		x.Finish()
		r.bench.fleet.Unplan(planned[i])
	}
	slices.SortStableFunc(h.Requests, func(a, b history.Request) int { return int(a.Sent - b.Sent) })
	r.quiesce()
	for _, a := range r.bench.fleet.Ledger().Snapshot(r.from) {
		if strings.HasPrefix(a.Key, r.prefix) {
			h.Attempts = append(h.Attempts, a)
		} else {
			h.Foreign++
		}
	}
	h.Handoffs, h.Forgotten = r.bench.fleet.Handoffs().Snapshot(r.handed)
	r.mu.Lock()
	defer r.mu.Unlock()
	return h, r.err
}

// quiesce gives the workers a moment to write down how the last attempts ended:
// a client may have its whole answer before its worker has made that note.
func (r *Run) quiesce() {
	ctx, cancel := context.WithTimeout(context.Background(), quiesceLimit)
	defer cancel()
	// An attempt that goes on in spite of its client is a finding, not a reason to wait longer.
	_ = r.bench.fleet.Ledger().Wait(ctx, func(v ledger.View) bool {
		quiet := true
		v.Each(r.from, func(a *ledger.Attempt) bool {
			quiet = a.End != ledger.Running || !strings.HasPrefix(a.Key, r.prefix)
			return quiet
		})
		return quiet
	})
}

const quiesceLimit = time.Second

// errNoLedger guards against a history that nobody wrote.
var errNoLedger = errors.New("the case sent no request")

func running(v ledger.View) (n int) {
	v.Each(0, func(a *ledger.Attempt) bool {
		if a.End == ledger.Running {
			n++
		}
		return true
	})
	return n
}
