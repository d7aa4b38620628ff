package complexity

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/routeproof/routeproof/perf/record"
)

// MeasurePair measures two targets in turns, sample by sample: old, new, new, old, and
// so on. Both meet the same keys in the same order. What was measured before an error
// is returned with it.
func MeasurePair(ctx context.Context, plan []Climb, old, new Options) (a, b []record.Ladder, err error) {
	for _, c := range plan {
		if old.Progress != nil {
			old.Progress(c.Name, nil)
		}
		x, y := record.Ladder{Name: c.Name, Symbol: c.Symbol}, record.Ladder{Name: c.Name, Symbol: c.Symbol}
		err := pair(ctx, c, old, new, &x, &y)
		a, b = append(a, x), append(b, y)
		if err != nil {
			return a, b, fmt.Errorf("ladder %s: %w", c.Name, err)
		}
		if old.Progress != nil {
			old.Progress(c.Name, &y)
		}
	}
	return a, b, nil
}

func pair(ctx context.Context, c Climb, old, new Options, a, b *record.Ladder) (err error) {
	if old.Local || new.Local {
		defer quiet()()
	}
	for sitting := range max(1, c.Sittings) {
		if err := pairUp(ctx, c, sitting, old, new, a, b); err != nil || a.Declined+b.Declined != "" {
			return err
		}
	}
	return nil
}

// pairUp is one sitting: a conversation with each of the two.
func pairUp(ctx context.Context, c Climb, sitting int, old, new Options, a, b *record.Ladder) (err error) {
	var benches []*bench
	defer func() {
		farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		for _, b := range benches {
			if closed := b.Close(farewell); err == nil {
				err = closed
			}
		}
	}()
	for i, o := range []Options{old, new} {
		o.Seed = old.Seed
		b, err := o.bench(ctx, c.Name, sitting)
		if err != nil {
			return fmt.Errorf("%s: %w", []string{"the old one", "the new one"}[i], err)
		}
		benches = append(benches, b)
	}
	a.Declined, b.Declined = benches[0].lacks(c.Ladder), benches[1].lacks(c.Ladder)
	if a.Declined+b.Declined != "" {
		return nil
	}
	first, second := c.begin(benches[0]), c.begin(benches[1])
	for round := range c.Rounds + 1 { // the first warms up
		s, t, err := inTurns(ctx, c.Sizes, first, second, round%2 == 1)
		if err != nil {
			return err
		}
		if round == 0 && sitting > 0 {
			continue
		}
		for i := range s {
			if round > 0 {
				s[i].Round, t[i].Round = sitting*c.Rounds+round, sitting*c.Rounds+round
			}
		}
		a.Samples, b.Samples = append(a.Samples, s...), append(b.Samples, t...)
	}
	return nil
}

var errShort = errors.New("one of the two has measured less than the other")

// inTurns is one round of both; swapped begins with the second.
func inTurns(ctx context.Context, sizes []int, first, second rounds, swapped bool) (a, b []record.Sample, err error) {
	nextA, stopA := iter.Pull2(first(ctx, sizes))
	defer stopA()
	nextB, stopB := iter.Pull2(second(ctx, sizes))
	defer stopB()
	one := func(next func() (record.Sample, error, bool), into *[]record.Sample) error {
		s, err, ok := next()
		if !ok {
			return errShort
		}
		*into = append(*into, s)
		return err
	}
	for range sizes {
		if swapped {
			err = errors.Join(one(nextB, &b), one(nextA, &a))
		} else {
			err = errors.Join(one(nextA, &a), one(nextB, &b))
		}
		if err != nil {
			return a, b, err
		}
		swapped = !swapped
	}
	return a, b, nil
}
