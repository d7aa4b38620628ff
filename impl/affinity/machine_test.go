package affinity

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stepClock is moved by hand; what it starts when its time has come runs at once.
type stepClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*stepTimer]bool
}

type stepTimer struct {
	at time.Time
	f  func()
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &stepTimer{c.now.Add(d), f}
	c.timers[t] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.timers[t]
		delete(c.timers, t)
		return was
	}
}

func (c *stepClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for t := range c.timers {
		if !t.at.After(c.now) {
			delete(c.timers, t)
			t.f()
		}
	}
}

// machine drives a table and the model side by side.
type machine struct {
	table *Table
	clock *stepClock
	model *model
	calls []*call
}

// call is one Acquire; want is the model's side of it.
type call struct {
	want   *modelLease
	cancel context.CancelFunc
	done   chan result
	got    bool // what came of it
	lease  Lease
}

const patience = 10 * time.Second

// settle waits until every call that the model does not see waiting has come
// back, and checks what it brought; and until those who wait are seen to.
func (m *machine) settle(t *rapid.T) {
	waiting := 0
	for _, c := range m.calls {
		if c.want.waiting {
			waiting++
			continue
		}
		if c.got {
			continue
		}
		select {
		case r := <-c.done:
			c.got, c.lease = true, r.lease
			if c.want.err != nil && !errors.Is(r.err, c.want.err) || c.want.err == nil && r.err != nil {
				t.Fatalf("Acquire(%+v) = %v, want %v", c.want.ask, r.err, c.want.err)
			}
			if r.err != nil && r.lease != (Lease{}) {
				t.Fatalf("Acquire(%+v) gave a lease with the error %v", c.want.ask, r.err)
			}
		case <-time.After(patience):
			t.Fatalf("Acquire(%+v) hangs", c.want.ask)
		}
	}
	for end := time.Now().Add(patience); m.table.Stats().Waiting != waiting; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d callers wait, want %d", m.table.Stats().Waiting, waiting)
		}
	}
}

// check compares everything that can be seen.
func (m *machine) check(t *rapid.T) {
	want := Stats{}
	for _, c := range m.calls {
		if c.want.waiting {
			want.Waiting++
			if len(c.done) != 0 {
				t.Fatalf("Acquire(%+v) came back, want it to wait", c.want.ask)
			}
			continue
		}
		at, bound := c.lease.Bound()
		if !c.want.over {
			want.Leases++
		}
		if bound != (!c.want.over && c.want.home.Worker != "") || bound && at != c.want.home {
			t.Fatalf("the lease of %+v is bound to %v (%v), want %v (over: %v)", c.want.ask, at, bound, c.want.home, c.want.over)
		}
	}
	live := 0
	for _, s := range m.model.sessions {
		if s.home.Worker == "" {
			want.Initializing++
		}
		if !m.model.expired(s) {
			live++
		}
	}
	got := m.table.Stats()
	if got.Sessions < live || got.Sessions > m.model.capacity || got.Sessions != m.table.Len() || got.Bound != got.Sessions-got.Initializing {
		t.Fatalf("%+v in %d slots of %d, want at least the %d sessions that live", got, m.table.Len(), m.model.capacity, live)
	}
	got.Sessions, got.Bound = 0, 0 // when the ended are reclaimed is the table's affair
	if got != want {
		t.Fatalf("the table holds %+v, want %+v", got, want)
	}
	for _, k := range machineKeys {
		m.query(t, Ask{Key: k})
	}
}

func (m *machine) query(t *rapid.T, a Ask) {
	want, wantErr := m.model.query(a)
	got, bound, err := m.table.Query(a)
	if got != want || bound != (want.Worker != "") || !errors.Is(err, wantErr) {
		t.Fatalf("Query(%+v) = %v, %v, %v, want %v, %v", a, got, bound, err, want, wantErr)
	}
}

var (
	machineKeys = []Key{{"m", "", "a"}, {"n", "", "a"}, {"m", "t", "a"}, {"m", "", "b"}, {"m", "", "c"}}
	machineAt   = []Target{{}, worker("v"), ranked("v", 0), ranked("v", 1), worker("w"), ranked("w", 0), {Rank: RankOf(0)}}
	anyKey      = rapid.SampledFrom(append(slices.Clone(machineKeys), Key{Session: strings.Repeat("x", 257)}))
	anyTarget   = rapid.SampledFrom(machineAt)
)

// anyCall is one of those that fit, the latest more often than others.
func anyCall(t *rapid.T, calls []*call, fits func(*call) bool) *call {
	var some []*call
	for _, c := range calls {
		if fits(c) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		t.Skip("there is none")
	}
	return some[len(some)-1-rapid.IntRange(0, len(some)-1).Draw(t, "which, from the end")]
}

// returned are leases, those that are over included.
func returned(c *call) bool { return c.got }

func (m *machine) step(f func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) {
		m.advance(1) // no two steps in one moment, or the longest idle would be a matter of luck
		m.settle(t)  // and no step while somebody is about to give up waiting
		f(t)
		m.settle(t)
	}
}

func (m *machine) advance(d time.Duration) {
	m.model.now += d
	for _, c := range m.calls {
		if c.want.waiting && m.model.now-c.want.since >= m.model.initWait {
			m.model.giveUp(c.want, ErrInitWait)
		}
	}
	m.clock.advance(d)
}

func TestTheTableDoesWhatTheModelSays(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 5} {
		for _, evict := range []bool{false, true} {
			for _, shards := range []int{1, shardCount} {
				t.Run(fmt.Sprintf("capacity %d, evicting %v, %d shards", capacity, evict, shards), func(t *testing.T) {
					rapid.Check(t, func(t *rapid.T) { follow(t, capacity, evict, shards) })
				})
			}
		}
	}
}

func follow(t *rapid.T, capacity int, evict bool, shards int) {
	dead := mortal{}
	m := &machine{clock: &stepClock{now: time.Unix(0, 0), timers: map[*stepTimer]bool{}}}
	m.model = &model{idleTTL: ttl, initWait: 3 * ttl, capacity: capacity, evict: evict, dead: dead, sessions: map[Key]*modelSession{}}
	var err error
	cfg := Config{IdleTTL: ttl, InitWait: m.model.initWait, Capacity: capacity, Evict: evict, Live: dead.live}
	if m.table, err = newSharded(cfg, m.clock, shards); err != nil {
		t.Fatal(err)
	}
	defer m.drain(t)
	ask := func(t *rapid.T) Ask { return Ask{anyKey.Draw(t, "key"), anyTarget.Draw(t, "pin")} }
	acquire := m.step(func(t *rapid.T) { m.acquire(ask(t)) })
	commit := m.step(m.commit)
	t.Repeat(map[string]func(*rapid.T){
		"":        m.check,
		"acquire": acquire, "acquire too": acquire, "acquire as well": acquire,
		"commit": commit, "commit too": commit,
		"end":    m.step(m.end),
		"query":  m.step(func(t *rapid.T) { m.query(t, ask(t)) }),
		"cancel": m.step(m.cancel),
		"advance": m.step(func(t *rapid.T) {
			m.advance(rapid.SampledFrom([]time.Duration{ttl / 3, ttl - 2, ttl, 3 * ttl}).Draw(t, "by"))
		}),
		"kill":   m.step(func(t *rapid.T) { dead[anyTarget.Draw(t, "who")] = true }),
		"revive": m.step(func(*rapid.T) { clear(dead) }),
	})
}

func (m *machine) acquire(a Ask) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{want: m.model.acquire(a), cancel: cancel, done: make(chan result, 1)}
	m.calls = append(m.calls, c)
	go func() {
		l, err := m.table.Acquire(ctx, a)
		c.done <- result{l, err}
	}()
}

func (m *machine) commit(t *rapid.T) {
	c := anyCall(t, m.calls, returned)
	at := anyTarget.Draw(t, "target")
	want := m.model.commit(c.want, at)
	if err := c.lease.Commit(at); !errors.Is(err, want) {
		t.Fatalf("Commit(%v) on %+v = %v, want %v", at, c.want.ask, err, want)
	}
}

func (m *machine) end(t *rapid.T) {
	c := anyCall(t, m.calls, returned)
	invalidate := rapid.Bool().Draw(t, "invalidate")
	m.model.end(c.want, invalidate)
	if invalidate {
		c.lease.Invalidate()
	} else {
		c.lease.Release()
	}
}

func (m *machine) cancel(t *rapid.T) {
	c := anyCall(t, m.calls, func(c *call) bool { return c.want.waiting })
	m.model.giveUp(c.want, context.Canceled)
	c.cancel()
}

// drain cancels those who still wait and ends every lease.
func (m *machine) drain(t *rapid.T) {
	for _, c := range m.calls {
		c.cancel()
	}
	for _, c := range m.calls {
		if !c.got {
			c.lease = (<-c.done).lease
		}
		c.lease.Release()
	}
	if got := m.table.Stats(); got.Leases != 0 || got.Initializing != 0 || got.Waiting != 0 {
		t.Fatalf("when all was over, the table held %+v", got)
	}
}
