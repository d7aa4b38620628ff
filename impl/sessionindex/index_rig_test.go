package sessionindex

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stopped is a clock that stands still until it is moved.
type stopped struct {
	mu     sync.Mutex
	now    time.Time
	looked func() // called, without lock, by Now
}

func (c *stopped) Now() time.Time {
	if c.looked != nil {
		c.looked()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stopped) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

var errPhysical = errors.New("out of order")

// tiers is a physical index that holds what it is told.
type tiers struct {
	mu                          sync.Mutex
	held                        map[WorkerRank]map[Hash]bool
	barrier, lower, silent      bool // fails
	barriers, cleared, askedFor int
	asked                       func() // called, without lock, by Holds
}

func (p *tiers) holds(at WorkerRank, blocks ...Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[at] = map[Hash]bool{}
	for _, b := range blocks {
		p.held[at][b] = true
	}
}

func (p *tiers) fail(barrier, lower bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barrier, p.lower = barrier, lower
}

func (p *tiers) Holds(_ context.Context, at WorkerRank, block Hash) (bool, error) {
	p.mu.Lock()
	p.askedFor++
	asked, held, silent := p.asked, p.held[at][block], p.silent
	p.mu.Unlock()
	if asked != nil {
		asked()
	}
	if silent {
		return true, errPhysical
	}
	return held, nil
}

func (p *tiers) Barrier(ctx context.Context, _ ...Member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barriers++
	if p.barrier {
		return errPhysical
	}
	return ctx.Err()
}

func (p *tiers) ClearLowerTiers(ctx context.Context, _ Member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleared++
	if p.lower {
		return errPhysical
	}
	return ctx.Err()
}

// indexRig is an index with all that it needs.
type indexRig struct {
	*Index
	t        testing.TB
	clock    *stopped
	physical *tiers
}

func newRig(t testing.TB, c Config) *indexRig {
	t.Helper()
	r := &indexRig{t: t, clock: &stopped{now: time.Unix(1, 0)}, physical: &tiers{held: map[WorkerRank]map[Hash]bool{}}}
	var err error
	if r.Index, err = NewIndex(c, r.clock, r.physical); err != nil {
		t.Fatal(err)
	}
	return r
}

func whole(worker string) Member { return Member{Worker: worker} }

func part(at WorkerRank) Member { return Member{at.Worker, &at.Rank} }

func (r *indexRig) register(m Member, incarnation string) {
	r.t.Helper()
	if err := r.Register(r.t.Context(), m, incarnation); err != nil {
		r.t.Fatal(err)
	}
}

// admit takes a store of a chain from its root in.
func (r *indexRig) admit(session string, at WorkerRank, incarnation string, blocks ...Hash) Ticket {
	return r.AdmitStore(Store{Session: session, At: at, Incarnation: incarnation, Blocks: blocks})
}

func (r *indexRig) admitMatch(session string, at WorkerRank, incarnation string, block Hash) Ticket {
	return r.AdmitMatch(Match{Session: session, At: at, Incarnation: incarnation, Block: block})
}

var (
	counts  = Result{Changed: true}
	tooLate = Result{Discarded: true}
)

func (r *indexRig) apply(what string, t Ticket, want Result) {
	r.t.Helper()
	if got, err := t.Apply(r.t.Context()); got != want || err != nil {
		r.t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
	}
}

func (r *indexRig) remove(m Member, dropped int) {
	r.t.Helper()
	r.await(r.BeginRemoval(m), dropped)
}

func (r *indexRig) await(removal Removal, dropped int) {
	r.t.Helper()
	if got, err := removal.Await(r.t.Context()); got != dropped || err != nil {
		r.t.Errorf("the removal dropped %d, %v; want %d", got, err, dropped)
	}
}

func (r *indexRig) evict(at WorkerRank, hit int, blocks ...Hash) {
	r.t.Helper()
	if got, err := r.Remove(r.t.Context(), at, blocks); got != hit || err != nil {
		r.t.Errorf("the eviction hit %d, %v; want %d", got, err, hit)
	}
}

func (r *indexRig) clear(at WorkerRank, dropped int) {
	r.t.Helper()
	if got, err := r.Clear(r.t.Context(), at); got != dropped || err != nil {
		r.t.Errorf("the clear dropped %d, %v; want %d", got, err, dropped)
	}
}

func (r *indexRig) has(session string, want ...Frontier) {
	r.t.Helper()
	if got := r.Frontiers(session); !reflect.DeepEqual(got, want) {
		r.t.Errorf("the frontiers of %q are %v, want %v", session, got, want)
	}
}
