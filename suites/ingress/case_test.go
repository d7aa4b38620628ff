package ingress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// deployment is one of the documented configurations.
type deployment struct {
	program string // that must be installed
	file    string // the manifest
	config  string // the ingress's own configuration, among the manifest's files
	reload  syscall.Signal
	status  string // path that tells how many frontends the ingress holds for alive; "" if it finds out by requests alone
}

const (
	sessions = 120
	width    = 4  // requests at a time
	keyless  = 60 // requests without a session in a round, at least
	doomed   = "f2"
)

var frontends = []string{"f1", "f2", "f3"}

// kinds are the ways in which clients name their sessions.
func kinds() []func(id string) http.Header {
	one := func(name string) func(string) http.Header {
		return func(id string) http.Header { return http.Header{name: {id}} }
	}
	return []func(string) http.Header{
		one("X-Dynamo-Session-ID"), one("x-claude-code-session-id"), one("thread-id"), one("session-id"), one("x-session-id"),
		func(id string) http.Header { // a sub-agent beside the session of its root, which many share
			return http.Header{"x-claude-code-session-id": {"root"}, "x-claude-code-agent-id": {id}, "x-session-id": {"other"}}
		},
	}
}

// round is one turn of every session, and keyless requests between them.
func round(ctx context.Context, r *bench.Run, phase string, turn int) {
	order, all, shapes := r.Rand().Perm(sessions), kinds(), bench.Shapes()
	r.Parallel(sessions, width, func(i int) {
		s := order[i]
		id := r.SessionID(s)
		r.Do(ctx, bench.Req{Counts: id, Header: all[s%len(all)](id), Turn: turn, Phase: phase, Tokens: 2}.In(shapes[(s+3*turn)%8]))
		if i%2 == 0 {
			r.Do(ctx, bench.Req{Phase: phase + ", keyless", Tokens: 2}.In(shapes[(i/2+turn)%8]))
		}
	})
}

// lossOf makes the case: sessions are placed, a frontend is killed, it comes back, and
// then it is taken out of the ingress's configuration.
func lossOf(d deployment) bench.Case {
	return bench.Case{
		ID:          "frontends/" + d.program,
		Stimulus:    "sessions of all kinds of clients over three frontends; one is killed, comes back, and is taken out of the configuration",
		Requirement: "every session sticks to one frontend and one worker, and only those of that frontend move",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			at, err := look(r.Target().PID())
			if err != nil {
				return err
			}
			round(ctx, r, "placed", 0)
			round(ctx, r, "placed", 1)
			if err := at.kill(ctx, doomed); err != nil {
				return err
			}
			r.Mark("lost", doomed, "killed")
			round(ctx, r, "moving", 2)
			d.notice(ctx, r)
			round(ctx, r, "settled", 3)
			round(ctx, r, "settled", 4)
			stop, err := at.restart(doomed)
			if err != nil {
				return err
			}
			defer stop()
			r.Mark("restart", doomed, "")
			rejoined(ctx, r)
			round(ctx, r, "back", 5)
			round(ctx, r, "back", 6)
			r.Change("taken out", doomed, func() error { return at.takeOut(ctx, doomed, d.config, d.reload) })
			round(ctx, r, "taken out", 7)
			return nil
		},
		Judge: verdict(),
	}
}

// notice waits until the ingress says that it has noticed the loss. If it does not,
// the sessions will show it.
func (d deployment) notice(ctx context.Context, r *bench.Run) {
	if d.status == "" {
		return
	}
	limited, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	err := until(limited, "the ingress to notice", func() bool {
		return strings.Contains(get(limited, r.Target().BaseURL()+d.status), "up=2;")
	})
	if err != nil {
		r.Mark("note", doomed, err.Error())
	}
}

// rejoined asks without a session until the frontend that came back serves; if it
// never does, the sessions will show it.
func rejoined(ctx context.Context, r *bench.Run) {
	ctx, cancel := context.WithTimeout(ctx, r.Convergence())
	defer cancel()
	for ctx.Err() == nil {
		if q := r.Do(ctx, bench.Req{Phase: "returning"}); frontend(&q, "") == doomed {
			return
		}
		r.Pause(ctx, 5*time.Millisecond) // a pace, so that the history stays short
	}
}

// get is the body of an answer, or why there is none.
func get(ctx context.Context, url string) string {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	q.Close = true
	tr := &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: time.Second}
	defer tr.CloseIdleConnections()
	a, err := tr.RoundTrip(q)
	if err != nil {
		return err.Error()
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, 1<<10))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var (
	frontend = judge.Frontend("X-Frontend")
	both     = judge.Behind(frontend)
)

// verdict is what the deployment guarantees.
func verdict() judge.Judge {
	lost := judge.Marked("lost")
	others := func(h *history.History, home string) bool { return !strings.HasPrefix(home, lost(h)+"/") }
	everybody := func(*history.History, string) bool { return true }
	all := []judge.Judge{
		judge.Sticks(sessions, "placed"),
		judge.Placing(frontend, judge.Sticks(sessions, "placed")),
		// With a third each, one of three has fewer than a tenth of 120 once in 1e7.
		judge.Placing(frontend, judge.Share(judge.ByPhase, 2*sessions, 24, 2*sessions, frontends, "placed")),
		judge.Placing(frontend, judge.Share(judge.ByPhase, 2*keyless, 12, 2*keyless, frontends, "placed, keyless")),
		// Those of the living stay from the first moment on, those of the dead once they have settled.
		judge.Placing(both, judge.Moves("placed", "moving", sessions, others)),
		judge.Placing(both, judge.Moves("placed", "settled", sessions, others)),
		judge.Placing(both, judge.Sticks(sessions, "settled")),
		// Who comes back gets its own sessions back, and nobody else's; it has forgotten their workers.
		judge.Placing(both, judge.Moves("placed", "back", sessions, others)),
		judge.Placing(frontend, judge.Moves("placed", "back", sessions, everybody)),
		judge.Placing(both, judge.Sticks(sessions, "back")),
		judge.Placing(both, judge.Moves("back", "taken out", sessions, others)),
		// Those that it had lost before meet the bindings that they had left behind then.
		judge.Placing(both, judge.Moves("settled", "taken out", sessions, everybody)),
		judge.Placing(frontend, judge.Share(judge.ByPhase, 2*keyless, 12, 2*keyless, []string{"f1", "f3"}, "settled, keyless")),
	}
	for _, p := range []struct {
		phase string
		turns int
	}{{"placed", 2}, {"moving", 1}, {"settled", 2}, {"back", 2}, {"taken out", 1}} {
		all = append(all, judge.Served(p.turns*sessions, p.phase), judge.Served(p.turns*keyless, p.phase+", keyless"))
		if p.phase != "placed" && p.phase != "back" {
			all = append(all, judge.Placing(frontend, judge.None(lost, p.phase, p.phase+", keyless")))
		}
	}
	return judge.All(all...)
}

// moved counts the sessions whose place differs between two phases: of the lost
// frontend, and of the others.
func moved(h *history.History, place judge.Place, before, after string) (dead, living int) {
	worker := map[string]string{}
	for _, a := range h.Attempts {
		worker[a.Key] = a.Worker
	}
	was, of := map[string]string{}, map[string]string{}
	for _, r := range judge.In(h, before) {
		was[r.Session], of[r.Session] = place(r, worker[r.Key]), frontend(r, "")
	}
	is := map[string]string{}
	for _, r := range judge.In(h, after) {
		is[r.Session] = place(r, worker[r.Key])
	}
	for s, w := range was {
		switch {
		case s == "" || is[s] == w:
		case of[s] == doomed:
			dead++
		default:
			living++
		}
	}
	return dead, living
}

// account tells in a line how the sessions lay and how many moved.
func account(h *history.History) string {
	n := map[string]int{}
	for _, r := range judge.In(h, "placed") {
		if r.Turn == 0 {
			n[frontend(r, "")]++
		}
	}
	dead, living := moved(h, both, "placed", "settled")
	again, _ := moved(h, both, "moving", "settled")
	back, rest := moved(h, both, "placed", "back")
	own, stay := moved(h, both, "back", "taken out")
	return fmt.Sprintf("%d sessions at %v; with the loss of %s, %d of its own and %d others moved (%d of its own a second time); when it was back, %d of its own were at another worker than at first, and %d others; when it was taken out, %d of its own and %d others moved",
		sessions, n, doomed, dead, living, again, back, rest, own, stay)
}
