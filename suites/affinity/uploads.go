package affinity

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// upload sends half of a request's body and leaves. Nothing tells whether a router has
// seen that when the next turn comes; where it has not, that turn may wait.
func upload(ctx context.Context, r *bench.Run, q bench.Req) {
	q.Key, q.Uploads, q.Prompt = r.Key(), true, strings.Repeat("tokens and ", 3000)
	q.Kept = false
	r.Do(ctx, q)
}

// uploading adds to a case of first turns that fail sessions whose client leaves in the
// middle of its first upload. Few of these requests reach a worker, so that nothing can
// be said of where the next one goes; but it is served, and binds.
func uploading(c bench.Case) bench.Case {
	const sessions = 16
	c.Stimulus += "; of 16 more the client leaves in the middle of its upload, then two turns"
	c.Requirement += "; so it is after an upload that was left"
	drive, judged := c.Drive, c.Judge
	c.Drive = func(ctx context.Context, r *bench.Run) error {
		r.Parallel(sessions, sessions, func(i int) {
			id := "upload-" + r.SessionID(i)
			upload(ctx, r, bench.Req{Session: id, Tokens: 1, Phase: "upload left"}.In(bench.FreshShapes()[i%4]))
			for t := range 2 {
				q := bench.Req{Session: id, Turn: 1 + t, Tokens: 1, Phase: "after upload", Deadline: 5 * time.Second}.In(bench.Shapes()[(i+3+3*t)%8])
				if got := r.Do(ctx, q); !got.OK() {
					return // another would wait as long
				}
			}
		})
		return drive(ctx, r)
	}
	c.Judge = func(h *history.History) judge.Finding {
		return judge.All(judged, judge.Unserved(sessions, "upload left"), judge.Served(2*sessions, "after upload"), judge.Settled(sessions, "after upload"))(h)
	}
	return c
}
