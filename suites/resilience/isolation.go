package resilience

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// unaffected is how soon a request on a healthy worker must be answered (clause RES-002).
const unaffected = 2 * time.Second

// hung drives traffic while one worker answers nothing. Requests that may have
// gone to it are left pending; sessions bound to other workers go on.
func hung(kind worker.Kind) func(context.Context, *bench.Run) error {
	return func(ctx context.Context, r *bench.Run) error {
		const sessions, keyless, wave = 24, 240, 16
		home := map[string]string{}
		for s := range sessions {
			q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound"}.In(bench.Shapes()[s%8])
			r.Do(ctx, q)
			home[q.Session] = r.Served(q.Key)
		}
		victim := r.Workers()[2]
		r.Fault(victim, bench.Fault{Kind: kind})
		waiting := make([]*bench.Pending, keyless)
		for i := range waiting {
			if i%wave == 0 { // in waves: what waits adds up, what the machine must do at once does not
				r.Pause(ctx, 40*time.Millisecond)
				half(ctx, r, waiting[max(0, i-wave):i])
			}
			waiting[i] = r.Start(ctx, bench.Req{Phase: "keyless", Deadline: 2 * unaffected}.In(bench.Shapes()[i%8]))
		}
		for round := 0; round < 3 && r.Sessions(); round++ {
			r.Parallel(sessions, 8, func(s int) {
				if id := r.SessionID(s); home[id] != victim {
					r.Do(ctx, bench.Req{Session: id, Turn: 1 + round, Phase: "unaffected", Deadline: 2 * unaffected}.In(bench.Shapes()[(s+round)%8]))
				}
			})
		}
		for _, p := range waiting {
			p.Wait()
		}
		return nil
	}
}

// half waits until half of a wave is answered, so that a slow router is not given the
// next one too soon; one that lets everybody wait gets it all the same.
func half(ctx context.Context, r *bench.Run, wave []*bench.Pending) {
	for end := time.Now().Add(unaffected / 4); time.Now().Before(end) && ctx.Err() == nil; r.Pause(ctx, 5*time.Millisecond) {
		over := 0
		for _, p := range wave {
			select {
			case <-p.Ended():
				over++
			default:
			}
		}
		if over >= len(wave)/2 {
			return
		}
	}
}

func hungJudge() judge.Judge {
	bound := judge.All(
		judge.Served(24, "bound"),
		// Sessions of healthy workers: about three quarters of 24, in three rounds.
		judge.Served(24, "unaffected"), judge.Within(unaffected, "unaffected"))
	return judge.All(
		func(h *history.History) judge.Finding {
			if h.Session.Kind == "none" {
				return judge.Finding{}
			}
			return bound(h)
		},
		// Of 240 keyless requests, fewer than 144 at three healthy workers of four happen by chance once in 1e7.
		judge.Healthy(unaffected, 144, judge.Marked("fault"), "keyless"))
}

// RES002Silent: the worker accepts connections and never reads.
func (Cases) RES002Silent() bench.Case {
	return bench.Case{
		ID:          "RES-002/silent-worker",
		Stimulus:    "one worker accepts connections and says nothing, not even to health checks; keyless requests wait on it while sessions of the others go on",
		Requirement: "requests at the other workers are answered within 2 s",
		Alone:       true, Limit: 40 * time.Second, Cost: 4 * time.Second,
		Drive: hung(worker.Hang), Judge: hungJudge(),
	}
}

// RES002Stuck: the worker answers health checks and nothing else.
func (Cases) RES002Stuck() bench.Case {
	return bench.Case{
		ID:          "RES-002/stuck-worker",
		Stimulus:    "one worker answers health checks and no request; keyless requests wait on it while sessions of the others go on",
		Requirement: "requests at the other workers are answered within 2 s",
		Alone:       true, Limit: 40 * time.Second, Cost: 4 * time.Second,
		Drive: hung(worker.HangRequests), Judge: hungJudge(),
	}
}
