package affinity

import (
	"slices"
	"testing"
	"time"
)

// A request on a cold bound session is compared with what any sharded map costs,
// round by round, so that a noisy machine disturbs both alike. The bound is
// generous; the figure is logged.
func TestARequestCostsLittleMoreThanAShardedMap(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement")
	}
	const rounds, limit = 9, 4
	keys := randomKeys(cold)
	table, c, order := filled(t, keys), newControl(t, keys), shuffled(keys)
	ctx := t.Context()
	var ours, control []time.Duration
	for range rounds {
		begin := time.Now()
		for i := range order {
			c.use(&order[i])
		}
		middle := time.Now()
		for i := range order {
			l, err := table.Acquire(ctx, Ask{Key: order[i]})
			if err != nil {
				t.Fatal(err)
			}
			l.Release()
		}
		control, ours = append(control, middle.Sub(begin)/cold), append(ours, time.Since(middle)/cold)
	}
	slices.Sort(ours)
	slices.Sort(control)
	ratio := float64(ours[rounds/2]) / float64(control[rounds/2])
	t.Logf("acquire and release: %v, sharded map: %v, ratio %.2f (medians of %d rounds over %d sessions; best %v and %v)",
		ours[rounds/2], control[rounds/2], ratio, rounds, cold, ours[0], control[0])
	if ratio > limit {
		t.Errorf("a request costs %.2f times a sharded map, want at most %d", ratio, limit)
	}
}
