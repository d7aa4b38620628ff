package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// breaks makes a case of a worker that lives, takes requests, and breaks their connections.
func breaks(name, how string, close bool) bench.Case {
	const sessions = 40
	return bench.Case{
		ID:          "AFF-005/" + name,
		Stimulus:    "40 bound sessions; the worker with most of them takes every request and " + how + " before headers; three more turns each",
		Requirement: "every turn is answered, its sessions move once, nobody else's move",
		Claims:      []string{"resilience.retry"},
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			return dead(ctx, r, sessions, func(id string) { r.Fault(id, bench.Fault{Kind: worker.ResetBeforeHeaders, Close: close}) }, nil)
		},
		Judge: deadJudge(sessions),
	}
}

// AFF005Reset: it resets them.
func (Cases) AFF005Reset() bench.Case { return breaks("reset", "resets its connection", false) }

// AFF005Closed: it closes them.
func (Cases) AFF005Closed() bench.Case { return breaks("closed", "closes its connection", true) }

// AFF005Silent: it takes requests and never answers them.
func (Cases) AFF005Silent() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "AFF-005/no-headers",
		Stimulus:    "24 bound sessions; the worker with most of them takes every request and answers none; three more turns each, of all sessions at once",
		Requirement: "every turn is answered once the router has given the worker up, its sessions move once, nobody else's move",
		Claims:      []string{"resilience.retry", "resilience.headerTimeout"},
		Variant:     shortHeaders, Alone: true, Limit: 40 * time.Second, Cost: 2 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			round := func(phase string, width int) {
				order := r.Rand().Perm(sessions)
				r.Parallel(sessions, width, func(i int) {
					r.Do(ctx, bench.Req{Session: r.SessionID(order[i]), Phase: phase}.In(bench.Shapes()[i%8]))
				})
			}
			round("before", 1)
			round("before", 1)
			victim := fullest(r, r.Workers())
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Fault(victim, bench.Fault{Kind: worker.HangRequests})
			// All at once: a router without a table meets the silence with every turn anew.
			round("after", sessions)
			round("settled", sessions)
			round("settled", sessions)
			return nil
		},
		Judge: deadJudge(sessions),
	}
}

// AFF023Once: no worker is of use.
func (Cases) AFF023Once() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "AFF-023/once",
		Stimulus:    "24 bound sessions, one turn of each of which finds its connection reset or closed before headers by every worker, in every shape",
		Requirement: "it reaches two workers at most, and its client sees an error",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions { // all before the first failure, after which a router may put workers aside
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "bound"}.In(bench.Shapes()[s%8]))
			}
			for s := range sessions {
				q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Turn: 1, Phase: "hopeless"}.In(bench.Shapes()[(s+3)%8])
				r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: s/8%2 == 1}})
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Dispatches(0, 2, "hopeless"), judge.Reached(1, "hopeless"), judge.ErrorSeen(sessions, "hopeless")),
	}
}

// atFullest binds the sessions, one turn each, and gives the worker with most of them
// and the sessions that are there; "" if nobody was served.
func atFullest(ctx context.Context, r *bench.Run, sessions int) (victim string, here []string) {
	at := map[string]string{}
	for _, s := range r.Rand().Perm(sessions) {
		q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Phase: "bound"}.In(bench.Shapes()[s%8])
		r.Do(ctx, q)
		at[q.Session] = r.Served(q.Key)
	}
	victim = fullest(r, r.Workers())
	for s := range sessions {
		if id := r.SessionID(s); victim != "" && at[id] == victim {
			here = append(here, id)
		}
	}
	return victim, here
}

// AFF005Left: a client that leaves while its turn is at the second worker.
func (Cases) AFF005Left() bench.Case {
	const sessions, least = 40, 40 / bench.DefaultWorkers
	return bench.Case{
		ID:          "AFF-005/left-while-retried",
		Stimulus:    "40 bound sessions; the worker with most of them refuses connections; a turn of each session there, whose client leaves while the second worker holds it; then two more",
		Requirement: "these are answered soon, and by one worker",
		Claims:      []string{"resilience.retry", "streaming.cancel"},
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim, here := atFullest(ctx, r, sessions)
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			r.Fault(victim, bench.Fault{Kind: worker.Refuse})
			r.Parallel(len(here), len(here), func(i int) {
				q := bench.Req{Key: r.Key(), Session: here[i], Turn: 1, Phase: "left"}.In(bench.Shapes()[(i+3)%8])
				r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				p := r.Start(ctx, q)
				r.Arrived(ctx, q.Key, 2*time.Second)
				p.Cancel()
				r.AwaitAbort(ctx, q.Key, 2*time.Second)
				p.Wait()
				for t := range 2 {
					r.Do(ctx, bench.Req{Session: here[i], Turn: 2 + t, Phase: "after", Deadline: 3 * time.Second}.In(bench.Shapes()[(i+5*t)%8]))
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Unserved(least, "left"), judge.Reached(least, "left"), judge.Served(2*least, "after"), judge.Settled(least, "after")),
	}
}

// AFF013Moved: siblings on the old worker, while the session is bound to a new one.
func (Cases) AFF013Moved() bench.Case {
	const sessions, least = 40, 40 / bench.DefaultWorkers
	return bench.Case{
		ID:          "AFF-013/moved",
		Stimulus:    "40 bound sessions; at the worker with most of them, two turns that are held and a stream under way of each session; it refuses new connections, and a turn of each is served elsewhere; then the held turn's connection is reset; more turns; another held turn is answered 200; one more; the stream ends; one more",
		Requirement: "the stream is whole and the held turns are answered; all later turns are where the first of them was",
		Claims:      []string{"affinity.rebind", "resilience.retry"},
		Alone:       true, Limit: 40 * time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim, here := atFullest(ctx, r, sessions)
			if victim == "" {
				return nil // nobody was served, which the judge holds against the target
			}
			n := len(here)
			breaks, lates, streams := make([]*bench.Handle, n), make([]*bench.Handle, n), make([]*bench.Handle, n)
			broken, late, open := make([]*bench.Pending, n), make([]*bench.Pending, n), make([]*bench.Pending, n)
			for i, id := range here {
				a := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "breaks"}.In(bench.Shapes()[i%8])
				breaks[i] = r.Plan(a.Key, bench.Plan{HoldHeaders: true, Fault: &bench.Fault{Kind: worker.ResetBeforeHeaders, Close: i%2 == 1, Count: 1}})
				broken[i] = r.Start(ctx, a)
				late[i], lates[i] = lateAnswer(ctx, r, bench.Req{Session: id, Turn: 1}.In(bench.Shapes()[(i+5)%8]))
				open[i], streams[i] = stream(ctx, r, id)
				r.Arrived(ctx, a.Key, 2*time.Second)
			}
			r.Fault(victim, bench.Fault{Kind: worker.Refuse})
			turn := func(i, t int) {
				r.Do(ctx, bench.Req{Session: here[i], Turn: 1 + t, Phase: "moved"}.In(bench.Shapes()[(i+3*t)%8]))
			}
			for _, i := range r.Rand().Perm(n) {
				turn(i, 1)
			}
			for _, i := range r.Rand().Perm(n) {
				breaks[i].Release()
				broken[i].Wait()
				turn(i, 2)
				turn(i, 3)
			}
			for _, i := range r.Rand().Perm(n) {
				lates[i].Release()
				late[i].Wait()
				turn(i, 4)
				streams[i].Release()
				open[i].Wait()
				turn(i, 5)
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Served(least, "streams"), judge.Served(least, "late answer"), judge.Dispatches(1, 1, "streams", "late answer"), judge.Served(least, "breaks"),
			judge.Served(5*least, "moved"), judge.Settled(least, "moved")),
	}
}

// stream starts a stream that is held after its first event.
func stream(ctx context.Context, r *bench.Run, session string) (*bench.Pending, *bench.Handle) {
	q := bench.Req{Key: r.Key(), Session: session, Turn: 1, Stream: true, Phase: "streams"}
	h := r.Plan(q.Key, bench.Plan{HoldFinish: true})
	p := r.Start(ctx, q)
	p.AwaitEvents(ctx, 1, 2*time.Second)
	return p, h
}

// lateAnswer starts a turn whose headers are held, and whose answer is a good one.
func lateAnswer(ctx context.Context, r *bench.Run, q bench.Req) (*bench.Pending, *bench.Handle) {
	q.Key, q.Phase = r.Key(), "late answer"
	h := r.Plan(q.Key, bench.Plan{HoldHeaders: true})
	p := r.Start(ctx, q)
	r.Arrived(ctx, q.Key, 2*time.Second)
	return p, h
}

// AFF013Error: the same where the worker answers with errors.
func (Cases) AFF013Error() bench.Case {
	const sessions = 32 // which all go back, where the late answer binds, and by chance not once in a billion
	return bench.Case{
		ID:          "AFF-013/server-error",
		Stimulus:    "bound sessions with three turns that are held and a stream under way; a turn that is answered 500; the first held one is answered 200; a turn that is placed anew; then the second is answered 500, too, and the third 200; more turns; the stream ends",
		Requirement: "the stream is whole; the session is placed like a new one; where it went to another worker, its later turns are there",
		Claims:      []string{"affinity.errorEnds"},
		Alone:       true, Cost: time.Second,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				id := r.SessionID(s)
				do := func(t int, phase string) {
					r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: phase}.In(bench.Shapes()[(s+3*t)%8]))
				}
				do(0, "bound")
				open, finish := stream(ctx, r, id)
				late := bench.Req{Key: r.Key(), Session: id, Turn: 1, Phase: "late error"}.In(bench.Shapes()[s%8])
				h := r.Plan(late.Key, status(500).held())
				held := r.Start(ctx, late)
				r.Arrived(ctx, late.Key, 2*time.Second)
				before, answerBefore := lateAnswer(ctx, r, bench.Req{Session: id, Turn: 1}.In(bench.Shapes()[(s+1)%8]))
				after, answerAfter := lateAnswer(ctx, r, bench.Req{Session: id, Turn: 1}.In(bench.Shapes()[(s+6)%8]))
				q := bench.Req{Key: r.Key(), Session: id, Turn: 2, Phase: "error"}.In(bench.Shapes()[(s+5)%8])
				r.Plan(q.Key, status(500).plan)
				r.Do(ctx, q)
				answerBefore.Release()
				before.Wait()
				newcomer(ctx, r, s)
				between(ctx, r)
				do(3, "anew")
				h.Release()
				held.Wait()
				do(4, "then")
				answerAfter.Release()
				after.Wait()
				do(5, "then")
				finish.Release()
				open.Wait()
				do(6, "then")
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "bound"), judge.Served(sessions, "streams"), judge.Served(2*sessions, "late answer"),
			judge.Dispatches(1, 1, "streams", "late answer"), judge.PassedOn("error", "late error"), judge.Served(sessions, "anew"), judge.Served(3*sessions, "then"),
			judge.Replaced(judge.ByPhase, sessions, 1e-6, "bound", "anew", "between", "a session whose worker answered with an error to be placed like a new one, whatever is answered late"),
			judge.Elsewhere("bound", "anew", sessions/4, judge.Settled(sessions/4, "anew", "then"))),
	}
}
