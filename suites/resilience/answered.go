package resilience

import (
	"context"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// answers sends requests that workers of a role answer as they are told to, each after a
// good one, for successes between errors keep circuits closed.
type answers struct {
	r    *bench.Run
	role bench.Role
	n    int
}

// ways are how a request may be held to its worker: not at all, not yet, or by a session
// that the good one before it binds.
var ways = []string{"keyless", "first", "bound"}

func (a *answers) send(ctx context.Context, way string, s bench.Shape, f bench.Fault) {
	a.sendIn(ctx, "answered", way, s, f)
}

func (a *answers) sendIn(ctx context.Context, phase, way string, s bench.Shape, f bench.Fault) {
	a.n++
	good := bench.Req{Phase: "between", Tokens: 1}.In(s)
	q := bench.Req{Key: a.r.Key(), Phase: phase, Tokens: 1}.In(s)
	if way != "keyless" {
		q.Session = a.r.SessionID(a.n)
	}
	if way == "bound" {
		good.Session, q.Turn = q.Session, 1
	}
	a.r.Do(ctx, good)
	a.r.Plan(q.Key, bench.Plan{Role: a.role, Fault: &f})
	a.r.Do(ctx, q)
}

// cuts are answers of status 200 that break off, streams before the first byte of their
// bodies, reset and closed in turn.
func (a *answers) cuts(ctx context.Context) {
	for i, s := range bench.Shapes() {
		for j, way := range ways {
			a.sendIn(ctx, "cut", way, s, bench.Fault{Kind: worker.ResetAfterEvents, Close: (i/2+j)%2 == 1})
		}
	}
}

// cutOnce requires one dispatch of each of them.
func cutOnce() judge.Judge {
	return judge.All(judge.Dispatches(1, 1, "cut"), judge.Reached(len(bench.Shapes())*len(ways), "cut"))
}

func (a *answers) shape() bench.Shape { return bench.Shapes()[a.r.Rand().IntN(8)] }

func status(code int) bench.Fault { return bench.Fault{Kind: worker.Status, Status: code} }

// redirects are sent to other workers, and now and then to the one that redirects.
func (a *answers) redirects(ctx context.Context, codes ...int) {
	workers := a.r.WorkersOf(a.role)
	for i, code := range codes {
		for j, way := range []string{"keyless", "bound"} {
			f, s := status(code), a.shape()
			f.Location = a.r.URLOf(workers[(i+j)%len(workers)]) + "/v1/chat/completions"
			if s.Endpoint == history.Completions {
				f.Location = a.r.URLOf(workers[(i+j)%len(workers)]) + "/v1/completions"
			}
			a.send(ctx, way, s, f)
		}
	}
}

// RES008Answered: answers that a router might hope to better elsewhere.
func (Cases) RES008Answered() bench.Case {
	least := len(bench.Usual())*len(bench.Shapes())*len(ways) + 80 + 12
	return bench.Case{
		ID: "RES-008/answered",
		Stimulus: "requests that whichever worker they reach answers 408, 429, 500, 502, 503 or 504, in every shape, with each other error status that is in use and some that are not, " +
			"or with a redirect to another worker, or whose connection breaks after the headers of a success; keyless, as first turns and in bound sessions; good ones between",
		Requirement: "each reaches one worker, and its client gets that worker's answer, as far as it goes",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			a := &answers{r: r, role: bench.Aggregated}
			for _, code := range bench.Usual() {
				for _, s := range bench.Shapes() {
					for _, way := range ways {
						a.send(ctx, way, s, status(code))
					}
				}
			}
			for i, code := range r.Others(4) {
				a.send(ctx, ways[i%2], a.shape(), status(code))
				a.send(ctx, "bound", a.shape(), status(code))
			}
			a.redirects(ctx, 302, 307, 308, 301, 303, 300)
			a.cuts(ctx)
			return nil
		},
		Judge: judge.All(judge.PassedOn("answered"), judge.Reached(least, "answered"), cutOnce()),
	}
}

// RES008Decode: the same of a decode worker.
func (Cases) RES008Decode() bench.Case {
	least := 2*len(bench.Usual()) + 6 + 6
	return bench.Case{
		ID: "RES-008/decode",
		Stimulus: "requests in two phases whose decode worker, whichever it is, answers 408, 429, 500, 502, 503 or 504, with some other error status, or with a redirect to another, or breaks the connection after the headers of a success; " +
			"keyless, as first turns and in bound sessions; good ones between",
		Requirement: "each is prefilled once and decoded by one worker, and its client gets that worker's answer",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			a := &answers{r: r, role: bench.Decode}
			for i, code := range bench.Usual() {
				a.send(ctx, ways[i%2], a.shape(), status(code))
				a.send(ctx, "bound", a.shape(), status(code))
			}
			others := r.Others(4)
			for i := range 6 {
				a.send(ctx, ways[i%len(ways)], a.shape(), status(others[r.Rand().IntN(len(others))]))
			}
			a.redirects(ctx, 302, 307, 308)
			a.cuts(ctx)
			return nil
		},
		Judge: judge.All(judge.Only(history.Prefill, judge.Dispatches(1, 1, "answered")), judge.Only(history.Decode, judge.PassedOn("answered")),
			judge.Reached(least, "answered"), judge.Only(history.Prefill, cutOnce()), judge.Only(history.Decode, cutOnce())),
	}
}
