package pinning

import (
	"context"
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// split is a fleet in two phases.
var split = bench.Split

// PDS001Handoff: each request is prefilled, then decoded.
func (Cases) PDS001Handoff() bench.Case {
	const n = 96
	return bench.Case{
		ID:          "PDS-001/hand-off",
		Stimulus:    "three prefill and three decode workers; 96 requests in every shape, eight at a time, keyless and in sessions; every second stream with stream_options",
		Requirement: "each is prefilled once and decoded once, with the blocks of its own prefill, and answered by its decode worker",
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(n, 8, func(i int) {
				q := bench.Req{Phase: "served"}.In(bench.Shapes()[i%8])
				if i%3 == 1 {
					q.Session = r.SessionID(i / 12)
				}
				if q.Stream && i/8%2 == 1 { // which an engine refuses without a stream, such as prefill's
					q.Extra = map[string]any{"stream_options": map[string]bool{"include_usage": true}}
				}
				r.Do(ctx, q)
			})
			return nil
		},
		Judge: judge.All(judge.Served(n, "served"), judge.Handed(n, "served")),
	}
}

// PDS002Sessions: a binding for each phase.
func (Cases) PDS002Sessions() bench.Case {
	const sessions, turns = 36, 5
	return bench.Case{
		ID:          "PDS-002/sessions",
		Stimulus:    "36 sessions of five turns in every shape, six at a time; then five more turns each, at once",
		Requirement: "a session's turns are prefilled at one worker and decoded at one, and sessions lie over the workers of both phases",
		Claims:      []string{"affinity.key"},
		Fleet:       split, Cost: 600 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 6, func(s int) {
				for t := range turns {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t}.In(bench.Shapes()[(s+3*t)%8]))
				}
				var qs []bench.Req
				for t := range turns {
					qs = append(qs, bench.Req{Session: r.SessionID(s), Turn: turns + t}.In(bench.Shapes()[(s+t)%8]))
				}
				r.Together(ctx, qs)
			})
			return nil
		},
		Judge: judge.All(judge.Served(2*turns*sessions), judge.Handed(2*turns*sessions),
			judge.Only(history.Prefill, judge.Sticks(sessions)), judge.Only(history.Prefill, judge.Placed(sessions-4)),
			judge.Only(history.Decode, judge.Sticks(sessions)), judge.Only(history.Decode, judge.Placed(sessions-4))),
	}
}

// PDS003Leak: a rank that was meant for decode.
func (Cases) PDS003Leak() bench.Case {
	const n = 48
	return bench.Case{
		ID:          "PDS-003/decode-rank",
		Stimulus:    "keyless requests pinned to rank 3 of a decode worker, in every shape",
		Requirement: "they are decoded there, and prefilled at other ranks, too",
		Claims:      []string{"pins.rank"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			decode := r.WorkersOf(bench.Decode)
			for i := range n {
				r.Do(ctx, bench.Req{Pin: on(decode[i%len(decode)], 3), Phase: "pinned", Tokens: 1}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "pinned"), judge.Handed(n, "pinned"), judge.AsPinned(n, "pinned"),
			judge.RankFree(history.Prefill, n, "pinned")),
	}
}

// PDS003Fields: each phase has fields of its own.
func (Cases) PDS003Fields() bench.Case {
	const n = 48
	return bench.Case{
		ID:          "PDS-003/prefill-pins",
		Stimulus:    "requests pinned to a decode worker's rank and to a prefill worker's rank 0 to 3 at once, in every shape",
		Requirement: "each phase is served where its own pin says",
		Claims:      []string{"pins.rank", "pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill, decode := r.WorkersOf(bench.Prefill), r.WorkersOf(bench.Decode)
			for _, i := range r.Rand().Perm(n) { // in order it would be a rotation's own
				w, rank := prefill[i%len(prefill)], i/len(prefill)%ranks
				r.Do(ctx, bench.Req{
					Pin:        on(decode[i/2%len(decode)], (rank+1+i%3)%ranks),
					PrefillPin: on(w, rank), Tokens: 1,
				}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(judge.Served(n), judge.Handed(n), judge.AsPinned(n)),
	}
}

// PDS004Error: a prefill that fails.
func (Cases) PDS004Error() bench.Case {
	codes := []int{400, 404, 422, 429, 500, 503}
	return bench.Case{
		ID:          "PDS-004/prefill-error",
		Stimulus:    "requests whose prefill is answered 400, 404, 422, 429, 500 or 503, in every shape, keyless and in sessions",
		Requirement: "each is passed on with its status, after one try, and no decode worker is asked",
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, code := range codes {
				for j, shape := range bench.Shapes() {
					q := bench.Req{Key: r.Key(), Phase: "failed"}.In(shape)
					if j%2 == 1 {
						q.Session = r.SessionID(8*i + j)
					}
					r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: code}})
					r.Do(ctx, q)
				}
			}
			for _, shape := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "after"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Only(history.Prefill, judge.PassedOn("failed")), judge.Untouched(history.Decode, 8*len(codes), "failed"), judge.Served(8, "after"), judge.Handed(8, "after")),
	}
}

// PDS004Down: a prefill worker that does not answer.
func (Cases) PDS004Down() bench.Case {
	const n = 48
	return bench.Case{
		ID:          "PDS-004/prefill-down",
		Stimulus:    "a prefill worker refuses connections, then breaks them before headers; keyless requests in every shape",
		Requirement: "each is prefilled at another worker, decoded and answered",
		Claims:      []string{"resilience.retry"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.WorkersOf(bench.Prefill)[0]
			for _, kind := range []worker.Kind{worker.Refuse, worker.ResetBeforeHeaders} {
				r.Fault(victim, bench.Fault{Kind: kind})
				for i := range n / 2 {
					r.Do(ctx, bench.Req{Phase: "down", Tokens: 1}.In(bench.Shapes()[i%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "down"), judge.Handed(n, "down")),
	}
}

// PDS005Left: a client that leaves during prefill.
func (Cases) PDS005Left() bench.Case {
	const n = 16
	return bench.Case{
		ID:          "PDS-005/client-left",
		Stimulus:    "requests whose prefill is held and whose clients leave meanwhile, in every shape, keyless and in sessions",
		Requirement: "the prefill worker sees it within two seconds, and no decode worker is asked",
		Claims:      []string{"streaming.cancel"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(n, 4, func(i int) {
				q := bench.Req{Key: r.Key(), Phase: "left"}.In(bench.Shapes()[i%8])
				if i >= n/2 {
					q.Session = r.SessionID(i)
				}
				r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				p := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				p.Cancel()
				r.AwaitAbort(ctx, q.Key, 2*time.Second)
				p.Wait()
			})
			for _, shape := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "after"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.AbortSeen(2*time.Second, n, "left"), judge.Untouched(history.Decode, n, "left"), judge.Served(8, "after")),
	}
}

// PDS006Dead: the death of one phase's worker.
func (Cases) PDS006Dead() bench.Case {
	return death("PDS-006/prefill-dies", bench.Prefill, history.Prefill, history.Decode)
}

// PDS006Decode: the death of the other phase's.
func (Cases) PDS006Decode() bench.Case {
	return death("PDS-006/decode-dies", bench.Decode, history.Decode, history.Prefill)
}

func death(id string, role bench.Role, dies, lives string) bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          id,
		Stimulus:    fmt.Sprintf("24 sessions of two turns; a %s worker leaves; two more turns each", dies),
		Requirement: fmt.Sprintf("all are served; its sessions move to another %s worker, nobody else's do, and every session's %s worker stays", dies, lives),
		Claims:      []string{"affinity.key", "affinity.rebind", "scaling.live"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(phase string) {
				for s := range sessions {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: phase}.In(bench.Shapes()[s%8]))
				}
			}
			round("before")
			round("before")
			r.Leave(ctx, r.WorkersOf(role)[0])
			round("after")
			round("after")
			return nil
		},
		Judge: judge.All(judge.Served(2*sessions, "before"), judge.Served(2*sessions, "after"), judge.Handed(2*sessions, "after"),
			judge.Only(lives, judge.Sticks(sessions)), judge.Only(dies, judge.Sticks(sessions, "before")), judge.Only(dies, judge.Sticks(sessions, "after")),
			judge.Only(dies, judge.Moves("before", "after", sessions, func(h *history.History, home string) bool { return home != judge.Marked("leave")(h) }))),
	}
}
