package affinity

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// mishap is a request of a bound session that does not go well, while its worker lives.
type mishap struct {
	name   string
	plan   bench.Plan
	leave  bool // the client leaves
	events int  // once it has seen so many
	begun  bool // or once it has seen headers
	upload bool // or in the middle of its upload
	rare   bool // sent fewer times
	pin    bool // the request is pinned to the worker that the session is bound to
}

// inARow is how often a mishap befalls one session, one time after another: a router may
// count what goes wrong, and let go of a worker at some number.
const inARow = 4

// stays makes a case of mishaps in bound sessions.
func stays(name, what string, mishaps ...mishap) bench.Case {
	const each, few = 16, 6 // of six sessions that are placed anew one stays once in 4^6 at most
	times := func(x mishap) int {
		if x.rare {
			return few
		}
		return each
	}
	n := 0
	for _, x := range mishaps {
		n += times(x)
	}
	return bench.Case{
		ID:          "AFF-010/" + name,
		Stimulus:    "bound sessions, each of four requests in a row of which " + what + ", in every shape; then two more turns",
		Requirement: "all turns are at one worker",
		Alone:       true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for m, x := range mishaps {
				from := r.Rand().IntN(8)
				r.Parallel(times(x), 4, func(i int) {
					id := r.SessionID(m*each + i)
					i += from
					first := bench.Req{Key: r.Key(), Session: id, Phase: "bound"}.In(bench.Shapes()[i%8])
					r.Do(ctx, first)
					for n := range inARow {
						q := bench.Req{Session: id, Turn: 1, Tokens: 32}.In(bench.Shapes()[(i+3+3*n)%8])
						if x.pin {
							q.Pin = homeOf(r, first.Key)
						}
						x.meet(ctx, r, q)
					}
					for t := 2; t < 4; t++ {
						r.Do(ctx, bench.Req{Session: id, Turn: t, Phase: "bound"}.In(bench.Shapes()[(i+t)%8]))
					}
				})
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*n, "bound"), judge.Sticks(n)),
	}
}

// AFF010Error: the worker blames the request.
func (Cases) AFF010Error() bench.Case {
	var mishaps []mishap
	// A redirect is no success either, and says as little against the worker.
	for _, code := range []int{301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425, 451} {
		common := slices.Contains([]int{400, 401, 403, 404, 409, 413, 422}, code)
		mishaps = append(mishaps, mishap{name: strconv.Itoa(code), plan: status(code).plan, rare: !common})
	}
	c := stays("client-error", "is answered 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425 or 451", mishaps...)
	c.Cost = time.Second
	return c
}

// AFF010Left: the client leaves.
func (Cases) AFF010Left() bench.Case {
	c := stays("client-left", "is left by its client in the middle of its upload, before headers, between events, or once its answer has begun",
		mishap{name: "left in its upload", upload: true},
		mishap{name: "left before headers", plan: bench.Plan{HoldHeaders: true}, leave: true},
		mishap{name: "left between events", plan: bench.Plan{Step: true, Events: 20}, leave: true, events: 2},
		mishap{name: "left once begun", plan: bench.Plan{HoldFinish: true}, leave: true, begun: true})
	c.Claims = []string{"streaming.cancel"}
	return c
}

// AFF010Broken: the answer breaks off in its middle, and the worker lives on.
func (Cases) AFF010Broken() bench.Case {
	return stays("broken-answer", "breaks off in the middle of its answer",
		mishap{name: "reset", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3}}},
		mishap{name: "closed", plan: bench.Plan{Fault: &bench.Fault{Kind: worker.ResetAfterEvents, Events: 3, Close: true}}})
}
