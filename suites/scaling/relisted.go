package scaling

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// SCL003Moved: a worker is listed under its id at another address.
func (Cases) SCL003Moved() bench.Case {
	const sessions, sample = 24, 96
	return bench.Case{
		ID:          "SCL-003/moved",
		Stimulus:    "24 bound sessions; a worker is listed again under its id at another address, while who is at the old one goes on; after the convergence time, keyless requests and turns of all sessions",
		Requirement: "nothing new reaches the old address, every request succeeds, and the new address serves some",
		Alone:       true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "before", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			old := r.Workers()[1]
			r.During(ctx, "during", func() { r.Move(ctx, old) })
			r.AwayFrom(ctx, old, r.Convergence())
			for i := range sample {
				r.Do(ctx, bench.Req{Phase: "after", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			for s := range sessions {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1, Phase: "after turns", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			return judge.All(
				judge.Served(sessions, "before"), judge.Served(1, "during"), judge.Served(1, "converging"), judge.Served(sample, "after"), judge.Served(sessions, "after turns"),
				judge.None(judge.Marked("leave"), "after", "after turns"),
				// 96 requests miss one worker of four by chance once in 1e12.
				judge.Share(judge.ByPhase, sample, 1, sample, []string{judge.Marked("join")(h)}, "after"))(h)
		},
	}
}

// RTE002Reassigned: a worker that stays serves another model.
func (Cases) RTE002Reassigned() bench.Case {
	const sessions, sample = 16, 64
	return bench.Case{
		ID:          "RTE-002/reassigned",
		Stimulus:    "two models, each served by two workers of its own; a worker of the first, with bound sessions, is listed for the second instead; after the convergence time, requests for each, keyless and in sessions",
		Requirement: "each is served by a worker of its model, the reassigned one included",
		Claims:      []string{"routing.byModel", "scaling.live"},
		Workers:     4, Fleet: bench.Fleet{Models: 2}, Alone: true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			models := r.ModelsServed()
			turns := func(phase string, turn int) {
				for s := range sessions {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Model: models[0], Turn: turn, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+turn)%8]))
				}
			}
			turns("before", 0)
			moved := r.Workers()[0]
			r.During(ctx, "during", func() { r.Reassign(ctx, moved, models[1]) })
			r.AwayFrom(ctx, moved, r.Convergence())
			turns("former", 1)
			for i := range sample {
				r.Do(ctx, bench.Req{Model: models[0], Phase: "former", Tokens: 1}.In(bench.Shapes()[i%8]))
				r.Do(ctx, bench.Req{Model: models[1], Phase: "present", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			moved := judge.Marked("reassign")
			return judge.All(
				judge.Served(sessions, "before"), judge.Served(1, "during"), judge.Served(1, "converging"), judge.Served(sessions+sample, "former"), judge.Served(sample, "present"),
				judge.None(moved, "former"),
				// 64 requests miss one worker of three by chance once in 1e11.
				judge.Share(judge.ByPhase, sample, 1, sample, []string{moved(h)}, "present"))(h)
		},
	}
}
