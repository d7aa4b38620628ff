// Package bounds holds the cases of area BND. Each method of Cases is one case.
package bounds

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// Cases are the cases of area BND.
type Cases struct{}

// idLimit is the longest session id, in bytes (clause BND-001).
const idLimit = 256

// BND001IDs: ids at the limit and beyond it.
func (Cases) BND001IDs() bench.Case {
	lengths := []int{257, 258, 300, 512, 1024, 4096}
	return bench.Case{
		ID:          "BND-001/session-id",
		Stimulus:    "session ids of 255 and 256 bytes, three turns each; ids of 257 to 4,096 bytes, in every shape",
		Requirement: "the short ones stick, the long ones are refused with 4xx and reach no worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range 24 {
				id := pad(r.SessionID(i), idLimit-i%2)
				for t := range 3 {
					r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "allowed"}.In(bench.Shapes()[(i+t)%8]))
				}
			}
			for _, s := range bench.Shapes() {
				for j, n := range lengths {
					r.Do(ctx, bench.Req{Session: pad(r.SessionID(100+j), n), Phase: "too long"}.In(s))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(72, "allowed"), judge.Sticks(24, "allowed"), judge.Placed(21, "allowed"), judge.Refused("too long")),
	}
}

func pad(id string, n int) string { return id + strings.Repeat("z", n-len(id)) }

// BND002Prompts: bodies of a mebibyte.
func (Cases) BND002Prompts() bench.Case {
	const size = 1 << 20
	return bench.Case{
		ID:          "BND-002/large-prompt",
		Stimulus:    "prompts of 1 MiB in every shape, with and without a Content-Length, keyless and in a session",
		Requirement: "each reaches a worker whole and is answered",
		Cost:        1500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prompt := strings.Repeat("tokens and ", size/len("tokens and ")+1)
			shapes := bench.Shapes()
			for i := range 2 * len(shapes) {
				q := bench.Req{Prompt: prompt, Phase: "large", Chunked: i < len(shapes)}.In(shapes[i%len(shapes)])
				if i%3 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*len(bench.Shapes()), "large"), judge.BodyWhole(size, "large"), judge.Dispatches(1, 1, "large")),
	}
}

// BND003Streams: 64 streams, all open before any may go on; then as many at one worker.
func (Cases) BND003Streams() bench.Case {
	const n = 64
	const releasing, releasingOne = "releasing all streams", "releasing all streams of one session"
	return bench.Case{
		ID:          "BND-003/many-streams",
		Stimulus:    "64 streams, none of which ends before all have shown their first event; then 64 of one bound session, which are all at one worker where sessions stick",
		Requirement: "all show it, and all end whole",
		Drive: func(ctx context.Context, r *bench.Run) error {
			together(ctx, r, n, releasing, func(i int) bench.Req {
				q := bench.Req{Phase: "stream", Endpoint: bench.FreshShapes()[i%4].Endpoint}
				if i%2 == 1 {
					q.Session = r.SessionID(i / 4)
				}
				return q
			})
			one := r.SessionID(n)
			r.Do(ctx, bench.Req{Session: one, Phase: "binds", Tokens: 1})
			together(ctx, r, n, releasingOne, func(i int) bench.Req {
				return bench.Req{Session: one, Turn: 1, Phase: "one session", Endpoint: bench.FreshShapes()[i%4].Endpoint}
			})
			return nil
		},
		Judge: judge.All(judge.Served(n, "stream"), judge.BeforeMark(releasing, n, "stream"),
			judge.Served(n, "one session"), judge.BeforeMark(releasingOne, n, "one session")),
	}
}

// together starts n streams, waits until each has shown its first event, for five seconds
// at most, notes that in a mark, and lets them end.
func together(ctx context.Context, r *bench.Run, n int, mark string, stream func(i int) bench.Req) {
	ps, hs := make([]*bench.Pending, n), make([]*bench.Handle, n)
	for i := range n {
		q := stream(i)
		q.Key, q.Stream = r.Key(), true
		hs[i] = r.Plan(q.Key, bench.Plan{HoldFinish: true})
		ps[i] = r.Start(ctx, q)
	}
	deadline := time.Now().Add(5 * time.Second)
	for _, p := range ps {
		p.AwaitEvents(ctx, 1, time.Until(deadline))
	}
	r.Mark("note", "", mark)
	for i := range n {
		hs[i].Release()
		ps[i].Wait()
	}
}
