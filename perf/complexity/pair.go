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
// so on. Both meet the same keys in the same order; sittings go around as in Measure.
// What was measured before an error is returned with it.
func MeasurePair(ctx context.Context, plan []Climb, old, new Options) (a, b []record.Ladder, err error) {
	if old.Local || new.Local {
		defer quiet()()
	}
	a, b = blank(plan), blank(plan)
	err = around(plan, old.Progress, func(i, sitting int) (*record.Ladder, error) {
		err := pairUp(ctx, plan[i], sitting, old, new, &a[i], &b[i])
		if a[i].Declined != "" { // for one of the two it cannot be climbed, so for neither
			return &a[i], err
		}
		return &b[i], err
	})
	return reached(a), reached(b), err
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
		b.tidy = true
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
				s[i].Sitting, t[i].Sitting = sitting, sitting
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
