// Package affinity holds the cases of area AFF. Each method of Cases is one case.
package affinity

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Cases are the cases of area AFF.
type Cases struct{}

// AFF001Turns: conversations whose turns walk through every shape in different
// orders; a few of them are long.
func (Cases) AFF001Turns() bench.Case {
	const sessions, turns, long, longTurns = 64, 12, 4, 60
	return bench.Case{
		ID:          "AFF-001/turns",
		Stimulus:    "60 sessions of 12 turns and 4 of 60, every turn in another shape, eight sessions at a time; every fourth first turn answered 201 and every fourth 202; the header's name now and then in lower case, the body without a Content-Length, of 400 kB, or of 100 kB and sent when the router has said `100 Continue`",
		Requirement: "each session's turns are all at one worker, and not every session's at the same",
		Cost:        2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			large := strings.Repeat("tokens and ", 400_000/len("tokens and "))
			shapes := make([]func(int) bench.Shape, sessions)
			for s := range shapes {
				shapes[s] = bench.ShapeOf(r.Rand(), bench.Shapes())
			}
			r.Parallel(sessions, 8, func(s int) {
				n := turns
				if s < long {
					n = longTurns
				}
				for t := range n {
					q := bench.Req{Session: r.SessionID(s), Turn: t, Lower: t%4 == 1, Chunked: t%5 == 3}.In(shapes[s](t))
					if t == 20 || t == 41 {
						q.Prompt = large
					}
					if t == 0 && s%2 == 1 { // any 2xx is a success
						q.Key = r.Key()
						r.Plan(q.Key, bench.Plan{Status: 201 + s/2%2})
					}
					if t == 7 { // as curl sends what is large
						q.Prompt, q.Header = large[:100_000], http.Header{"Expect": {"100-continue"}}
					}
					r.Do(ctx, q)
					if t%3 == 2 { // keyless requests between turns must not disturb them
						r.Do(ctx, bench.Req{Phase: "keyless"}.In(shapes[s](t)))
					}
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions*turns), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}

// placed is the most sessions of n that one worker may hold: what a hash ring
// that gives its largest worker two fifths exceeds once in a million.
func placed(n int) int {
	return stats.Must(stats.MovedAtMost(n, 0.4, 1e-6/bench.DefaultWorkers))
}

// AFF001Many: more sessions than a careless table holds, in rounds.
func (Cases) AFF001Many() bench.Case {
	const sessions, rounds = 600, 4
	return bench.Case{
		ID:          "AFF-001/many-sessions",
		Stimulus:    "600 sessions, a turn of each in four rounds, eight at a time",
		Requirement: "each session's turns are all at one worker",
		Cost:        2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for t := range rounds {
				order := r.Rand().Perm(sessions)
				r.Parallel(sessions, 8, func(i int) {
					s := order[i]
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Tokens: 1}.In(bench.Shapes()[(s+t)%8]))
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions*rounds), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}

// AFF001Overlap: later turns of a session while an earlier one is still streaming.
func (Cases) AFF001Overlap() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "AFF-001/overlapping-turns",
		Stimulus:    "sessions with a stream under way that send eight more turns at once, in every shape",
		Requirement: "all turns of a session are at one worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 4, func(s int) {
				id := r.SessionID(s)
				r.Do(ctx, bench.Req{Session: id})
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Stream: true}
				h := r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				long := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				qs := make([]bench.Req, 0, 8)
				for _, shape := range bench.Shapes() {
					qs = append(qs, bench.Req{Session: id, Turn: 2}.In(shape))
				}
				r.Together(ctx, qs)
				h.Release()
				long.Wait()
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions*10), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}

// AFF003Together: first turns that arrive at once.
func (Cases) AFF003Together() bench.Case {
	const sessions, slow, width = 30, 2, 20
	return bench.Case{
		ID:          "AFF-003/together",
		Stimulus:    "20 first turns at once in each of 32 new sessions, two of which are answered only after a second, in every shape",
		Requirement: "all first turns of a session reach one worker",
		Cost:        1200 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions+slow, 1+slow, func(s int) {
				// Headers take a moment, so that all first turns are in flight together.
				wait := 20 * time.Millisecond
				if s < slow {
					wait = time.Second
				}
				qs, held := make([]bench.Req, width), make([]*bench.Handle, width)
				for i := range qs {
					key := r.Key()
					held[i] = r.Plan(key, bench.Plan{HoldHeaders: true})
					qs[i] = bench.Req{Key: key, Session: r.SessionID(s), Tokens: 1}.In(bench.Shapes()[i%8])
				}
				var all []*bench.Pending
				for _, q := range qs {
					all = append(all, r.Start(ctx, q))
				}
				r.Pause(ctx, wait)
				for _, h := range held {
					h.Release()
				}
				for _, p := range all {
					p.Wait()
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served((sessions+slow)*width), judge.Sticks(sessions+slow), judge.Placed(placed(sessions+slow))),
	}
}
