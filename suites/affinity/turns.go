// Package affinity holds the cases of area AFF. Each method of Cases is one case.
package affinity

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Cases are the cases of area AFF.
type Cases struct{}

// AFF001Turns: conversations whose turns walk through every shape in different orders.
func (Cases) AFF001Turns() bench.Case {
	const sessions, turns = 64, 12
	return bench.Case{
		ID:          "AFF-001/turns",
		Stimulus:    "64 sessions of 12 turns each, every turn in another shape, eight sessions at a time; the header's name now and then in lower case",
		Requirement: "each session's turns are all at one worker, and not every session's at the same",
		Drive: func(ctx context.Context, r *bench.Run) error {
			shapes := make([]func(int) bench.Shape, sessions)
			for s := range shapes {
				shapes[s] = bench.ShapeOf(r.Rand(), bench.Shapes())
			}
			r.Parallel(sessions, 8, func(s int) {
				for t := range turns {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Lower: t%4 == 1}.In(shapes[s](t)))
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
		Cost:        time.Second,
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

// AFF002Distinct: pairs of ids that a careless comparison takes for one. The
// pairs are sent in a seeded order, lest a strict rotation put partners together.
func (Cases) AFF002Distinct() bench.Case {
	kinds := map[string]func(id string) (string, string){
		"case": func(id string) (string, string) { return id + "-abc", id + "-ABC" },
		"last byte of 256": func(id string) (string, string) {
			long := id + strings.Repeat("x", 255-len(id))
			return long + "0", long + "1"
		},
		"first byte":    func(id string) (string, string) { return "0" + id, "1" + id },
		"byte 65":       func(id string) (string, string) { p := id + strings.Repeat("y", 64-len(id)); return p + "0", p + "1" },
		"a longer one":  func(id string) (string, string) { return id, id + "0" },
		"percent signs": func(id string) (string, string) { return id + "%41", id + "A" },
		"dots":          func(id string) (string, string) { return id + ".1", id + "_1" },
	}
	names := []string{"case", "last byte of 256", "first byte", "byte 65", "a longer one", "percent signs", "dots"}
	// All pairs of one kind on one worker each, for seven kinds, by chance.
	pairs := stats.Must(stats.AllSame(1e-6/float64(len(names)), bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-002/distinct-ids",
		Stimulus:    "pairs of session ids that differ in case, in one byte at either end or in the middle, in length, in punctuation",
		Requirement: "of each kind some pair lies on two workers, and the sessions lie over the fleet",
		Drive: func(ctx context.Context, r *bench.Run) error {
			type one struct {
				kind, id string
				pair     int
			}
			var all []one
			for k, name := range names {
				for p := range pairs {
					a, b := kinds[name](r.SessionID(k*pairs + p))
					all = append(all, one{name, a, p}, one{name, b, p})
				}
			}
			r.Rand().Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i, o := range all {
				r.Do(ctx, bench.Req{Session: o.id, Turn: o.pair, Phase: o.kind}.In(bench.Shapes()[i%8]))
			}
			return nil
		},
		Judge: judge.All(
			judge.Served(2*pairs*len(names)),
			judge.Placed(placed(2*pairs*len(names))),
			judge.Apart(pairs, names...)),
	}
}

// AFF003Together: first turns that arrive at once.
func (Cases) AFF003Together() bench.Case {
	const sessions, width = 30, 20
	return bench.Case{
		ID:          "AFF-003/together",
		Stimulus:    "20 first turns at once in each of 30 new sessions, in every shape",
		Requirement: "all first turns of a session reach one worker",
		Cost:        1500e6,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				qs := make([]bench.Req, width)
				for i := range qs {
					key := r.Key()
					// Answers take a moment, so that all first turns are in flight together.
					r.Plan(key, bench.Plan{TTFT: 20 * time.Millisecond})
					qs[i] = bench.Req{Key: key, Session: r.SessionID(s), Tokens: 1}.In(bench.Shapes()[i%8])
				}
				r.Together(ctx, qs)
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions*width), judge.Sticks(sessions), judge.Placed(placed(sessions))),
	}
}
