package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Crowd is a concurrent conversation: callers that work on a few sessions at once, as
// a router's requests do, on an instance whose operations run beside each other.
type Crowd struct {
	Callers  int // at each session at a time
	Sessions int // at a time; each has callers of its own
	Turns    int // of each caller
	Workers  []string
	Deaths   bool // workers leave and come back meanwhile
}

// Ops is about how many operations a crowd makes.
func (c Crowd) Ops() int { return c.Callers * c.Sessions * c.Turns * 2 }

// crowd is a conversation under way.
type crowd struct {
	Crowd
	a    *component.Affinity
	from time.Time

	mu   sync.Mutex
	ops  []linear.Op
	err  error
	rnd  *rand.Rand // who dies
	dead bool       // one of the workers
	due  int        // operations at which that changes
}

func (Crowd) component() string { return component.AffinityComponent }

func (c Crowd) needs() []string { return []string{string(component.ClaimConcurrency)} }

// hold lets the crowd talk on an instance of its own. Its lines are too many to keep;
// the operations say it all.
func (c Crowd) hold(ctx context.Context, a *adapter, seed uint64, h *history.History) error {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	made, err := a.NewAffinity(limited, configOf(script.Config{IdleTTL: time.Hour}), true)
	cancel()
	if err != nil {
		return fmt.Errorf("make an instance: %w", err)
	}
	if h.Ops, err = c.Hold(ctx, made, seed); err != nil {
		return err
	}
	limited, cancel = context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return made.CloseInstance(limited)
}

// Hold lets the crowd talk and returns what its callers saw. The first error ends it.
func (c Crowd) Hold(ctx context.Context, a *component.Affinity, seed uint64) ([]linear.Op, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := &crowd{Crowd: c, a: a, from: time.Now(), rnd: rand.New(rand.NewPCG(seed, 1<<40)), due: c.Callers * c.Sessions}
	if err := all.live(ctx, -1, c.Workers); err != nil {
		return nil, err
	}
	var callers sync.WaitGroup
	for s := range c.Sessions {
		for i := range c.Callers {
			n := s*c.Callers + i
			callers.Go(func() {
				rnd := rand.New(rand.NewPCG(seed, uint64(n)))
				for t := 0; t < c.Turns && ctx.Err() == nil; t++ {
					err := all.turn(ctx, n, fmt.Sprintf("s%d", s), rnd)
					if err == nil && c.Deaths {
						err = all.deaths(ctx, n)
					}
					if err != nil {
						all.fail(err)
						cancel()
					}
				}
			})
		}
	}
	callers.Wait()
	return all.ops, all.err
}

func (c *crowd) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// voiceLimit is how long an operation of a crowd may take. Whom it waits for is a few
// operations from the end of his turn, so that one that takes longer was forgotten.
const voiceLimit = 20 * time.Second

// note runs an operation and records it with its times.
func (c *crowd) note(ctx context.Context, o linear.Op, run func(context.Context, *linear.Op) error) error {
	ctx, cancel := context.WithTimeout(ctx, voiceLimit)
	defer cancel()
	o.Call = int64(time.Since(c.from))
	err := run(ctx, &o)
	o.Return = int64(time.Since(c.from))
	var refused *component.Error
	if errors.As(err, &refused) {
		switch refused.Kind {
		case component.Cancelled:
			o.Result, err = linear.Cancelled, nil
		case component.Stale:
			o.Result, err = linear.Stale, nil
		case component.InvalidArgument:
			o.Result, err = linear.Refused, nil
		default:
			o.Result, err = linear.Result(refused.Kind), nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ops = append(c.ops, o)
	return nil
}

// live declares the living workers.
func (c *crowd) live(ctx context.Context, caller int, workers []string) error {
	return c.note(ctx, linear.Op{Caller: caller, Kind: linear.Workers, Live: workers}, func(ctx context.Context, o *linear.Op) error {
		all := make([]component.Worker, len(workers))
		for i, id := range workers {
			all[i] = component.Worker{ID: id, Ranks: 1}
		}
		o.Result = linear.OK
		return c.a.SetWorkers(ctx, all...)
	})
}

// perDeath is how many operations of each caller lie between two changes of the
// workers: only what begins and ends between them shows who was thought to live.
const perDeath = 4

// deaths takes one worker away, or brings it back, whenever so many operations were
// made: how many deaths there are depends on no clock.
func (c *crowd) deaths(ctx context.Context, caller int) error {
	c.mu.Lock()
	if len(c.ops) < c.due {
		c.mu.Unlock()
		return nil
	}
	c.due = len(c.ops) + perDeath*c.Callers*c.Sessions
	alive := c.Workers
	if c.dead = !c.dead; c.dead {
		gone := c.rnd.IntN(len(c.Workers))
		alive = append(append([]string{}, c.Workers[:gone]...), c.Workers[gone+1:]...)
	}
	c.mu.Unlock()
	return c.live(ctx, caller, alive)
}

// turn is one request's life: it acquires, maybe leaves while it waits, commits,
// fails or succeeds, and is now and then ended twice.
func (c *crowd) turn(ctx context.Context, caller int, session string, rnd *rand.Rand) error {
	if rnd.IntN(8) == 0 {
		return c.question(ctx, caller, session)
	}
	op := linear.Op{Caller: caller, Kind: linear.Acquire, Session: session}
	ask := component.Ask{Model: usualModel, Session: session}
	if rnd.IntN(8) == 0 {
		op.Pin = c.Workers[rnd.IntN(len(c.Workers))]
		ask.Pin = component.On(op.Pin)
	}
	op.Leaves = rnd.IntN(8) == 0
	var got component.Acquired
	err := c.note(ctx, op, func(ctx context.Context, o *linear.Op) error {
		id, err := c.a.StartAcquire(ctx, ask)
		if err != nil {
			return err
		}
		if o.Leaves {
			if err := c.a.Cancel(ctx, id); err != nil {
				return err
			}
		}
		got, err = c.a.AwaitAcquired(ctx, id)
		o.Lease, o.Result = got.Lease, linear.Result(got.State)
		if got.Target != nil {
			o.Target = got.Target.Worker
		}
		op = *o
		return err
	})
	if err != nil || got.Lease == "" {
		return err
	}
	lease := linear.Op{Caller: caller, Session: session, Lease: got.Lease, Result: linear.OK}
	if got.State == component.Initializer && rnd.IntN(4) > 0 {
		to := c.Workers[rnd.IntN(len(c.Workers))]
		if op.Pin != "" {
			to = op.Pin
		}
		lease.Kind, lease.Target = linear.Commit, to
		if err := c.note(ctx, lease, func(ctx context.Context, _ *linear.Op) error { return c.a.Commit(ctx, got.Lease, component.On(to)) }); err != nil {
			return err
		}
		lease.Target = ""
	}
	for range 1 + rnd.IntN(8)/7 {
		lease.Kind = linear.Release
		end := c.a.Release
		if rnd.IntN(4) == 0 {
			lease.Kind, end = linear.Invalidate, c.a.Invalidate
		}
		if err := c.note(ctx, lease, func(ctx context.Context, _ *linear.Op) error { return end(ctx, got.Lease) }); err != nil {
			return err
		}
	}
	if rnd.IntN(16) == 0 { // it may not bind any more
		lease.Kind, lease.Target = linear.Commit, c.Workers[0]
		return c.note(ctx, lease, func(ctx context.Context, _ *linear.Op) error {
			return c.a.Commit(ctx, got.Lease, component.On(lease.Target))
		})
	}
	return nil
}

func (c *crowd) question(ctx context.Context, caller int, session string) error {
	return c.note(ctx, linear.Op{Caller: caller, Kind: linear.Query, Session: session}, func(ctx context.Context, o *linear.Op) error {
		got, err := c.a.Query(ctx, component.Ask{Model: usualModel, Session: session})
		o.Result = linear.Unbound
		if got.Bound {
			o.Result, o.Target = linear.Bound, got.Target.Worker
		}
		return err
	})
}
