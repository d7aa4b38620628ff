package scaling

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
	"github.com/routeproof/routeproof/suites/target"
)

// SCL002Join: the newcomer is used, by keyless requests and by new sessions.
func (Cases) SCL002Join() bench.Case {
	plan := stats.Must(stats.PlanSpread(4, 1, 1e-6, 0.5, 0.05, 0.99))
	const sessions = 60
	return bench.Case{
		ID:          "SCL-002/join",
		Stimulus:    "a fourth worker joins three; keyless requests until it serves four of the last 32, then a counted sample, then 60 new sessions",
		Requirement: "it serves its share of the sample, and some of the sessions",
		Workers:     3, Alone: true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range 24 {
				r.Do(ctx, bench.Req{Phase: "before"}.In(bench.Shapes()[i%8]))
			}
			id := ""
			r.During(ctx, "during", func() { id = r.Join(ctx) })
			// A share may be given slowly, as long as it is given in time.
			recent := make([]bool, 32)
			n := 0
			r.Until(ctx, "converging", r.Convergence(), func(w string) bool {
				recent[n%len(recent)] = w == id
				n++
				served := 0
				for _, hit := range recent {
					if hit {
						served++
					}
				}
				return served >= 4
			})
			for i := range plan.N {
				r.Do(ctx, bench.Req{Phase: "sample"}.In(bench.Shapes()[i%8]))
			}
			for s := range sessions {
				r.Do(ctx, bench.Req{Phase: "sessions", Session: r.SessionID(s)}.In(bench.Shapes()[s%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			all := append([]string{judge.Marked("join")(h)}, h.Workers...)
			return judge.All(
				judge.Served(24, "before"), judge.Served(1, "during"), judge.Served(1, "converging"), judge.Served(plan.N, "sample"), judge.Served(sessions, "sessions"),
				judge.Share(judge.ByPhase, plan.N, plan.Min, plan.Max, all, "sample"),
				// 60 sessions miss one worker of four by chance once in 3e7.
				judge.Share(judge.ByPhase, sessions, 1, sessions, all, "sessions"))(h)
		},
	}
}

// SCL003Leave: the leaver gets nothing new and finishes what it has.
func (Cases) SCL003Leave() bench.Case {
	const sessions, sample, streams = 40, 160, 4
	return bench.Case{
		ID:          "SCL-003/leave",
		Stimulus:    "a worker with bound sessions and running requests, streamed and not, some answered in part and some not yet, leaves; keyless requests all the while, the answers, turns of all sessions, and the end of the running requests",
		Requirement: "nothing new reaches it, every request succeeds, the running ones end whole where they are, only its sessions move",
		Alone:       true, Cost: 1500e6, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			home := map[string]string{}
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "before"}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				home[q.Session] = r.Served(q.Key)
			}
			leaver := r.Workers()[1]
			var long []*bench.Pending
			var hold []*bench.Handle
			staying := 0
			for i := 0; i < sessions && len(long) < 2*streams; i++ {
				if home[r.SessionID(i)] != leaver {
					if staying++; staying > streams {
						continue // what runs on workers that stay must not be cut either
					}
				}
				q := bench.Req{Key: r.Key(), Session: r.SessionID(i), Phase: "running", Deadline: 40 * time.Second}.In(bench.Shapes()[2+len(long)*3%6])
				hold = append(hold, r.Plan(q.Key, bench.Plan{HoldFinish: true}))
				long = append(long, r.Start(ctx, q))
				if !r.Arrived(ctx, q.Key, 2*time.Second) {
					r.Mark("note", leaver, fmt.Sprintf("%s was not at the worker before it left", q.Key))
				}
			}
			var of []string
			for s := range sessions {
				if id := r.SessionID(s); home[id] == leaver {
					of = append(of, id)
				}
			}
			_, answer := unanswered(ctx, r, "", of...)
			defer answer()
			r.During(ctx, "during", func() { r.Leave(ctx, leaver) })
			r.AwayFrom(ctx, leaver, r.Convergence())
			r.Mark("note", leaver, "converged")
			answer()
			for i := range sample {
				r.Do(ctx, bench.Req{Phase: "after"}.In(bench.Shapes()[i%8]))
			}
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "after turns"}.In(bench.Shapes()[s%8]))
			}
			for i, h := range hold {
				h.Release()
				long[i].Wait()
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			left := judge.Marked("leave")
			return judge.All(
				judge.Served(sessions, "before"), judge.Served(1, "during"), judge.Served(1, "converging"), judge.Served(sample, "after"),
				judge.Served(sessions, "after turns"), judge.Served(1, "running"), judge.Dispatches(1, 1, "running"),
				judge.Served(held, "unanswered"), judge.Dispatches(1, 1, "unanswered"),
				judge.None(left, "after", "after turns"), sticking(h, judge.Moves("before", "after turns", sessions, func(h *history.History, home string) bool {
					return h.Session.Kind == "table" && home != left(h)
				})))(h)
		},
	}
}

// sticking is what must hold of sessions; a router without any has nothing to show.
func sticking(h *history.History, j judge.Judge) judge.Judge {
	if h.Session.Kind == target.KindNone {
		return func(*history.History) judge.Finding { return judge.Finding{} }
	}
	return j
}
