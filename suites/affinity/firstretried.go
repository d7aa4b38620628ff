package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF003FirstRetried: first turns that have to be tried at a second worker, while others
// wait for them. The others are held, too, where they come to a worker: what is at the one
// that dies dies with it, and a router which lets nobody wait has to place all turns of a
// session again.
func (Cases) AFF003FirstRetried() bench.Case {
	const sessions, width = 40, 4 // a quarter of them at least is where most are
	return bench.Case{
		ID:          "AFF-003/first-retried",
		Stimulus:    "first turns of 40 new sessions that are held at workers, four more turns of each, in every shape; the worker with most of the first crashes, and those are held at the next one until the four have had time to be sent elsewhere; then two turns more",
		Requirement: "all turns are served, those of a session by the worker that answered the first",
		Claims:      []string{"resilience.retry"},
		Alone:       true, Limit: 40 * time.Second, Cost: 700 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			var held []*bench.Handle
			var all []*bench.Pending
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "first", Tokens: 1}.In(bench.Shapes()[s%8])
				held = append(held, r.Plan(q.Key, bench.Plan{HoldHeaders: true}))
				all = append(all, r.Start(ctx, q))
				r.Arrived(ctx, q.Key, 2*time.Second)
			}
			at := map[string]string{}
			r.EachServed(func(key, worker string) { at[key] = worker })
			missing := map[string]bool{}
			for i := range width * sessions {
				s := i / width
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Turn: 1 + i%width, Tokens: 1, Phase: "waits"}.In(bench.Shapes()[(s+i%width)%8])
				missing[q.Key] = true
				held = append(held, r.Plan(q.Key, bench.Plan{HoldHeaders: true}))
				all = append(all, r.Start(ctx, q))
			}
			r.Await(ctx, 4*gather, func(each func(func(*ledger.Attempt))) bool {
				each(func(a *ledger.Attempt) { delete(missing, a.Key) })
				return len(missing) == 0
			})
			victim := fullest(r, r.Workers())
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			again := map[string]bool{} // first turns that must be tried at a second worker
			for key, w := range at {
				if w == victim {
					again[key] = true
				}
			}
			r.Crash(victim)
			r.Await(ctx, 2*time.Second, func(each func(func(*ledger.Attempt))) bool {
				each(func(a *ledger.Attempt) {
					if a.Worker != victim {
						delete(again, a.Key)
					}
				})
				return len(again) == 0
			})
			// Time for those who wait to be sent elsewhere, if somebody sends them.
			r.Pause(ctx, gather)
			for _, h := range held {
				h.Release()
			}
			for _, p := range all {
				p.Wait()
			}
			for t := range 2 {
				for _, s := range r.Rand().Perm(sessions) {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: width + 1 + t, Phase: "later", Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "first"), judge.Served(width*sessions, "waits"), judge.Served(2*sessions, "later"),
			judge.Settled(sessions)),
	}
}
