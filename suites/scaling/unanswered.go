package scaling

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// held is how many requests wait for their headers while a worker leaves.
const held = 8

// patience is a wait for headers that any router has which does not declare its own.
const patience = 20 * time.Second

// unanswered sends requests of the sessions, keyless ones where there are none, whose
// workers of the role, of any for "", keep their headers until answer is called. They do
// not wait for longer than half of the time that the router gives them. at is the worker
// that has the first; all are at theirs when it returns.
func unanswered(ctx context.Context, r *bench.Run, role bench.Role, sessions ...string) (at string, answer func()) {
	handles, waiting := make([]*bench.Handle, held), make([]*bench.Pending, held)
	first := ""
	for i := range held {
		q := bench.Req{Key: r.Key(), Turn: 1, Phase: "unanswered", Deadline: 40 * time.Second, Tokens: 1}.In(bench.Shapes()[i%8])
		if len(sessions) > 0 {
			q.Session = sessions[i%len(sessions)]
		}
		if i == 0 {
			first = q.Key
		}
		handles[i] = r.Plan(q.Key, bench.Plan{Role: role, HoldHeaders: true})
		waiting[i] = r.Start(ctx, q)
		r.ArrivedAt(ctx, q.Key, role, 2*time.Second)
	}
	r.EachServed(func(key, worker string) {
		if key == first && (role == "" || r.RoleOf(worker) == role) {
			at = worker
		}
	})
	release := func() {
		for _, h := range handles {
			h.Release()
		}
	}
	most := r.HeaderTimeout()
	if most == 0 {
		most = patience
	}
	soon := time.AfterFunc(most/2, release)
	return at, func() {
		soon.Stop()
		release()
		for _, p := range waiting {
			p.Wait()
		}
	}
}

// SCL003Phases: a worker of each phase leaves that owes answers.
func (Cases) SCL003Phases() bench.Case {
	const sessions = 24
	roles := []bench.Role{bench.Prefill, bench.Decode}
	return bench.Case{
		ID:          "SCL-003/phases",
		Stimulus:    "24 sessions bound in two phases; of one, eight turns wait for their prefill worker, which leaves; of another, eight wait for their decode worker, which leaves; all are answered; a turn of every session",
		Requirement: "every request succeeds, and each that waited is dispatched once in each phase",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split, Alone: true, Cost: time.Second, Limit: time.Minute,
		Drive: func(ctx context.Context, r *bench.Run) error {
			turns := func(phase string, turn int) {
				for s := range sessions {
					r.Do(ctx, bench.Req{Session: r.SessionID(s), Turn: turn, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+turn)%8]))
				}
			}
			turns("before", 0)
			for i, role := range roles {
				leaver, answer := unanswered(ctx, r, role, r.SessionID(i))
				if leaver != "" { // else nobody is there to leave, which the judge holds against the target
					r.During(ctx, "during", func() { r.Leave(ctx, leaver) })
				}
				answer()
			}
			turns("after", 2)
			return nil
		},
		Judge: judge.All(judge.Served(sessions, "before"), judge.Served(held*len(roles), "unanswered"), judge.Served(sessions, "after"),
			judge.Only(history.Prefill, judge.Dispatches(1, 1, "unanswered")), judge.Only(history.Decode, judge.Dispatches(1, 1, "unanswered"))),
	}
}
