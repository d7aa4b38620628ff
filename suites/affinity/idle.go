package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// shortTTL is the manifest variant whose idle time a case can wait out.
const shortTTL = "shortTTL"

// AFF006Slides: turns within the idle time, for several of them: a router may also
// limit a session's whole life. Beside them sessions whose pauses are almost the idle
// time: a router may also count it too short.
func (Cases) AFF006Slides() bench.Case {
	const sessions, turns = 24, 13
	const pausing, pauses = 24, 5
	return bench.Case{
		ID:          "AFF-006/slides",
		Stimulus:    "24 sessions, or more where the machine stands still, with a turn every two fifths of the idle time, for almost five idle times; beside them 24 with five pauses of 0.81 to 0.87 idle times",
		Requirement: "every session stays on its worker",
		Variant:     shortTTL, Cost: 10 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			rest := rests(r, pausing, pauses)
			r.Parallel(1+pausing, 1+pausing, func(i int) {
				if i > 0 {
					pausingTurns(ctx, r, sessions+i, rest[i-1])
					return
				}
				// A machine that stops for longer than the idle time ends a session. What goes on
				// is another one, which can show as much.
				type life struct {
					id, turn int
					last     time.Time
				}
				lives := make([]life, sessions)
				for t := range turns {
					if t > 0 {
						r.Pause(ctx, r.IdleTTL()*2/5)
					}
					r.Parallel(sessions, 8, func(s int) {
						l := &lives[s]
						if t == 0 {
							l.id = s
						} else if time.Since(l.last) > r.IdleTTL()*4/5 {
							l.id, l.turn = 1000*t+s, 0
						}
						r.Do(ctx, bench.Req{Session: r.SessionID(l.id), Turn: l.turn, Phase: "steady"}.In(bench.Shapes()[(s+t)%8]))
						l.turn, l.last = l.turn+1, time.Now()
					})
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions*turns, "steady"), judge.Slides(sessions/4, "steady"),
			judge.Served(pausing*(1+pauses), pauseful), judge.Rested(pausing, pauseful)),
	}
}

// pauseful is the phase of sessions that pause for almost the idle time.
const pauseful = "pausing"

// rests are so many pauses for each of so many sessions, from 0.81 to 0.87 idle times:
// more than four fifths, and a machine that is late by a hundredth or two does not stretch
// them beyond what judge.Rested takes. No two sessions keep step, so that who is placed
// anew does not come back to its worker by mere rotation.
func rests(r *bench.Run, sessions, each int) [][]time.Duration {
	all := make([][]time.Duration, sessions)
	for s := range all {
		for range each {
			all[s] = append(all[s], time.Duration(float64(r.IdleTTL())*(0.81+0.06*r.Rand().Float64())))
		}
	}
	return all
}

// pausingTurns are a session's turns, with these pauses from each one's end to the next.
func pausingTurns(ctx context.Context, r *bench.Run, s int, rest []time.Duration) {
	for t := range 1 + len(rest) {
		if t > 0 {
			r.Pause(ctx, rest[t-1])
		}
		r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: t, Phase: pauseful, Tokens: 1}.In(bench.Shapes()[(s+t)%8]))
	}
}

const tooLong = "a session that was idle for too long to be placed like a new one"

// AFF006Lapses: sessions that were idle for longer than the idle time.
func (Cases) AFF006Lapses() bench.Case {
	plan, alpha := replan(2 + judge.Halves) // a cell for each endpoint of the first turn
	k, need := (2*plan.N+7)/8*8, always(alpha)
	return bench.Case{
		ID:          "AFF-006/lapses",
		Stimulus:    "sessions, in every shape, that pause for one and a quarter idle times and a quarter of a second",
		Requirement: "they are placed like new ones, and stay there for their next turn",
		Variant:     shortTTL, Cost: 4 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for _, s := range r.Rand().Perm(k) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "first"}.In(bench.Shapes()[s%8]))
			}
			r.Pause(ctx, r.IdleTTL()*5/4+250*time.Millisecond)
			// Another order, and keyless requests between, keep a rotation out of step.
			for _, s := range r.Rand().Perm(k) {
				between(ctx, r)
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: 1 + t, Phase: "lapsed"}.In(bench.Shapes()[(s+1+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(k, "first"), judge.Served(2*k, "lapsed"), judge.Kept(k/2, "lapsed"),
			judge.Replaced(judge.ByEndpoint, plan.N*3/4, alpha, "first", "lapsed", "between", tooLong),
			judge.ReplacedInHalves(need, alpha, "between", tooLong, judge.Turns{Before: "first", After: "lapsed"})),
	}
}

// AFF007InFlight: a stream that outlasts the idle time, with a turn beside it and one after it.
// Where it is the first, none is beside it: not every router has bound the session by then.
func (Cases) AFF007InFlight() bench.Case {
	const sessions, firsts = 24, 16
	return bench.Case{
		ID:          "AFF-007/in-flight",
		Stimulus:    "sessions with a request that runs for one and a half idle times, a short turn at its beginning, one just before its end and one just after; new sessions whose first request does, and one just after",
		Requirement: "all are at one worker",
		Variant:     shortTTL, Cost: 4 * time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions+firsts, sessions+firsts, func(s int) {
				id, later := r.SessionID(s), s < sessions
				if later {
					r.Do(ctx, bench.Req{Session: id}.In(bench.Shapes()[(s+3)%8]))
				}
				q := bench.Req{Key: r.Key(), Session: id, Turn: 1, Deadline: 2*r.IdleTTL() + bench.RequestDeadline}.In(bench.Shapes()[s%8])
				h := r.Plan(q.Key, bench.Plan{HoldFinish: true})
				long := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				if later { // A short turn beside it ends, and must not end the hold.
					r.Do(ctx, bench.Req{Session: id, Turn: 1, Tokens: 1}.In(bench.Shapes()[(s+5)%8]))
				}
				r.Pause(ctx, r.IdleTTL()*3/2)
				if later && s%2 == 0 {
					r.Do(ctx, bench.Req{Session: id, Turn: 2}.In(bench.Shapes()[(s+1)%8]))
				}
				h.Release()
				long.Wait()
				r.Do(ctx, bench.Req{Session: id, Turn: 3}.In(bench.Shapes()[(s+2)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions+2*firsts), judge.Sticks(sessions+firsts), judge.Placed(placed(sessions+firsts))),
	}
}
