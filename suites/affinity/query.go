package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF014HTTP: questions to a router.
func (Cases) AFF014HTTP() bench.Case {
	return asking(24, bench.Case{
		ID:          "AFF-014/http",
		Stimulus:    "questions about sessions that are new, then bound, on both endpoints, some while a first turn is held; turns between",
		Requirement: "each is answered 200 with the binding if there is one, reaches no worker, waits for nobody, and the turns stick",
	}, func(_ *bench.Run, _ int, q bench.Req) bench.Req { return q })
}

// asking makes of c a case that asks about so many sessions before their first turn,
// during that of every second one, and between later turns. Dress gets the session's
// number and each question and turn before it is sent.
func asking(sessions int, c bench.Case, dress func(r *bench.Run, s int, q bench.Req) bench.Req) bench.Case {
	c.Drive = func(ctx context.Context, r *bench.Run) error {
		r.Parallel(sessions, 4, func(s int) {
			id := r.SessionID(s)
			ask := func(t int, phase string) {
				q := bench.Req{Session: id, Turn: t, Asks: true, Phase: phase, Deadline: 2 * time.Second}.In(bench.FreshShapes()[(s+t)%4])
				r.Do(ctx, dress(r, s, q))
			}
			ask(0, "not bound")
			q := dress(r, s, bench.Req{Key: r.Key(), Session: id, Turn: 1}.In(bench.Shapes()[s%8]))
			if s%2 == 0 {
				h := r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				p := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				ask(1, "not bound")
				h.Release()
				p.Wait()
			} else {
				r.Do(ctx, q)
			}
			for t := 2; t < 5; t++ {
				ask(t, "bound")
				r.Do(ctx, dress(r, s, bench.Req{Session: id, Turn: t, Phase: "turn"}.In(bench.Shapes()[(s+3*t)%8])))
			}
		})
		return nil
	}
	c.Judge = judge.All(judge.Served(3*sessions, "turn"), judge.Sticks(sessions), judge.Placed(placed(sessions), "turn"),
		judge.Asked(false, sessions, "not bound"), judge.Asked(true, 3*sessions, "bound"))
	return c
}

// AFF014Idle: questions do not keep a session alive.
func (Cases) AFF014Idle() bench.Case {
	const sessions, asks = 16, 10
	return bench.Case{
		ID:          "AFF-014/idle",
		Stimulus:    "bound sessions, asked about eight times an idle time until well after it has passed",
		Requirement: "the questions keep none alive: the last finds no binding",
		Claims:      []string{"affinity.idleTTL"},
		Variant:     shortTTL, Cost: 4 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "first"}.In(bench.Shapes()[s%8]))
			}
			for i := range asks {
				r.Pause(ctx, r.IdleTTL()/8)
				phase := "meanwhile"
				if i == asks-1 {
					r.Pause(ctx, r.IdleTTL()/8+250*time.Millisecond)
					phase = "not bound"
				}
				r.Parallel(sessions, 8, func(s int) { r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1 + i, Asks: true, Phase: phase}) })
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "first"), judge.Asked(false, sessions, "not bound")),
	}
}

// AFF003Streams: a first turn that goes on.
func (Cases) AFF003Streams() bench.Case {
	const sessions = 24
	const open = "every first turn is still streaming"
	return bench.Case{
		ID:          "AFF-003/during-stream",
		Stimulus:    "new sessions whose first turn is a stream that is held after its first event; eight more turns of each meanwhile, in every shape",
		Requirement: "the later turns are served before the first has ended, at its worker: a session is bound when the answer begins",
		Claims:      []string{"affinity.key"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			firsts, holds := make([]*bench.Pending, sessions), make([]*bench.Handle, sessions)
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Stream: true, Phase: "first", Endpoint: bench.FreshShapes()[s%4].Endpoint}
				holds[s] = r.Plan(q.Key, bench.Plan{HoldFinish: true})
				firsts[s] = r.Start(ctx, q)
			}
			for _, p := range firsts {
				p.AwaitEvents(ctx, 1, 5*time.Second)
			}
			r.Parallel(sessions, 4, func(s int) {
				var qs []bench.Req
				for t, shape := range bench.Shapes() {
					qs = append(qs, bench.Req{Session: r.SessionID(s), Turn: 1 + t, Phase: "meanwhile", Deadline: 5 * time.Second}.In(shape))
				}
				r.Together(ctx, qs)
			})
			r.Mark("note", "", open)
			for s := range sessions {
				holds[s].Release()
				firsts[s].Wait()
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "first"), judge.Served(8*sessions, "meanwhile"), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}
