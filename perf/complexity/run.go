package complexity

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Options are how ladders are measured.
type Options struct {
	// Open begins a conversation with the target. Each ladder has one of its own.
	Open func(context.Context) (*component.Client, error)
	// Local says that the target is served in this process: memory is measured, and our
	// garbage collector is kept out of what is timed.
	Local bool
	Seed  uint64
	Looks stats.Looks
	// Progress, if there is one, is called before a ladder, with nil, and after it.
	Progress func(name string, done *record.Ladder)
	// Checked holds every request against the protocol's schema, which takes a third of the
	// time that a measurement has: for tests.
	Checked bool
	// KeepClimbing goes on where steps have failed already: to learn what time says.
	KeepClimbing bool
}

// sampleLimit is how long the first sample of a size may take; larger sizes are left
// out then.
const sampleLimit = 30 * time.Second

// Measure measures ladders. What was measured before an error is returned with it.
//
// Ladders that are measured for their speed have their first sittings, then their second
// ones, and so on: what a machine does for some seconds (another guest on the same core,
// memory that is moved) meets one sitting of each ladder and not all of one.
func Measure(ctx context.Context, plan []Climb, o Options) (all []record.Ladder, err error) {
	if o.Local {
		defer quiet()()
	}
	all = blank(plan)
	err = around(plan, o.Progress, func(i, sitting int) (*record.Ladder, error) {
		return &all[i], o.sit(ctx, plan[i], sitting, &all[i])
	})
	return reached(all), err
}

// blank are ladders without a sample yet.
func blank(plan []Climb) (all []record.Ladder) {
	for _, c := range plan {
		all = append(all, record.Ladder{Name: c.Name, Symbol: c.Symbol})
	}
	return all
}

// reached leaves out what an error kept from being measured: it says nothing.
func reached(all []record.Ladder) []record.Ladder {
	return slices.DeleteFunc(all, func(l record.Ladder) bool { return len(l.Samples) == 0 && l.Declined == "" })
}

// around has the first sitting of each ladder, then the second of each, and so on. A
// ladder that is declined has no more; progress may be nil.
func around(plan []Climb, progress func(string, *record.Ladder), sit func(i, sitting int) (*record.Ladder, error)) error {
	if progress == nil {
		progress = func(string, *record.Ladder) {}
	}
	over := make([]bool, len(plan))
	for sitting := 0; slices.Contains(over, false); sitting++ {
		for i, c := range plan {
			if over[i] {
				continue
			}
			if sitting == 0 {
				progress(c.Name, nil)
			}
			l, err := sit(i, sitting)
			if err != nil {
				return fmt.Errorf("ladder %s: %w", c.Name, err)
			}
			if over[i] = sitting+1 >= c.Sittings || l.Declined != ""; over[i] {
				progress(c.Name, l)
			}
		}
	}
	return nil
}

// Climb is a ladder and the sizes that are wanted of it.
type Climb struct {
	*Ladder
	Sizes []int
	// Sittings and Rounds measure speed: so many rounds in each of so many conversations,
	// without a judgement. 0 measures the class.
	Sittings, Rounds int
}

// bench begins a conversation for a ladder. Its keys hang on the seed and the name.
func (o Options) bench(ctx context.Context, name string, sitting int) (*bench, error) {
	c, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	hello, err := c.Hello(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	if !o.Checked {
		c.Trust()
	}
	h := fnv.New64a()
	fmt.Fprint(h, name, sitting)
	return &bench{Client: c, hello: hello, local: o.Local, rng: rand.New(rand.NewPCG(o.Seed, h.Sum64()))}, nil
}

// lacks says why a ladder cannot be climbed.
func (b *bench) lacks(l *Ladder) string {
	if !slices.Contains(b.hello.Components, component.SessionIndexComponent) {
		return "the adapter has no component " + component.SessionIndexComponent
	}
	for _, c := range l.Needs {
		if !b.hello.Has(c) {
			return fmt.Sprintf("the adapter does not claim %s", c)
		}
	}
	return ""
}

// sit is one conversation.
func (o Options) sit(ctx context.Context, c Climb, sitting int, l *record.Ladder) (err error) {
	b, err := o.bench(ctx, c.Name, sitting)
	if err != nil {
		return err
	}
	defer func() {
		farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if closed := b.Close(farewell); err == nil {
			err = closed
		}
	}()
	if l.Declined = b.lacks(c.Ladder); l.Declined != "" {
		return nil
	}
	measure := c.begin(b)
	b.tidy = c.Rounds > 0
	if b.tidy {
		return o.speed(ctx, c, sitting, b, measure, l)
	}
	sizes, err := o.first(ctx, c, measure, l)
	l.Judged = c.Judge(l.Samples, o.Looks)
	lost := l.Judged.Steps != nil && l.Judged.Steps.Verdict == record.Fail
	if err != nil || lost && !o.KeepClimbing || len(sizes) < stats.MinRungs {
		return err
	}
	for round := 1; round <= o.Looks.Last(); round++ {
		if err := turn(ctx, b, measure, sizes, round, l); err != nil {
			l.Judged = c.Judge(l.Samples, o.Looks)
			return err
		}
		if o.Looks.Due(round) {
			l.Judged = c.Judge(l.Samples, o.Looks)
			if l.Judged.Time.Verdict != record.Inconclusive {
				return nil
			}
		}
	}
	return nil
}

// first is the round that warms up: ascending, until the class is decided. It returns
// the sizes that were reached.
func (o Options) first(ctx context.Context, c Climb, measure rounds, l *record.Ladder) (sizes []int, err error) {
	began := time.Now()
	for s, err := range measure(ctx, c.Sizes) {
		if err != nil {
			return sizes, err
		}
		l.Samples, sizes = append(l.Samples, s), append(sizes, s.N)
		took := time.Since(began)
		began = time.Now()
		switch {
		case s.N == c.Sizes[len(c.Sizes)-1]:
		case c.hopeless(l.Samples):
			l.Stopped = fmt.Sprintf("after %s = %d: beyond its class already", c.Symbol, s.N)
		case took > sampleLimit:
			l.Stopped = fmt.Sprintf("after %s = %d, which took %v", c.Symbol, s.N, took.Round(time.Second))
		}
		if l.Stopped != "" {
			break
		}
	}
	return sizes, nil
}

// turn is one round, in random order.
func turn(ctx context.Context, b *bench, measure rounds, sizes []int, round int, l *record.Ladder) error {
	order := slices.Clone(sizes)
	b.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for s, err := range measure(ctx, order) {
		if err != nil {
			return err
		}
		s.Round = round
		l.Samples = append(l.Samples, s)
	}
	return nil
}

// speed measures a fixed number of rounds.
func (o Options) speed(ctx context.Context, c Climb, sitting int, b *bench, measure rounds, l *record.Ladder) error {
	for s, err := range measure(ctx, c.Sizes) {
		if err != nil {
			return err
		}
		if sitting == 0 {
			l.Samples = append(l.Samples, s)
		}
	}
	for round := range c.Rounds {
		before := len(l.Samples)
		err := turn(ctx, b, measure, c.Sizes, 1+sitting*c.Rounds+round, l)
		for i := range l.Samples[before:] {
			l.Samples[before+i].Sitting = sitting
		}
		if err != nil {
			return err
		}
	}
	return nil
}
