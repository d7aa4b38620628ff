package routing

import (
	"context"
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RTE002UnknownModel: names that no worker serves, by every way in.
func (Cases) RTE002UnknownModel() bench.Case {
	near := []func(string) string{
		func(string) string { return "no-such-model" },
		func(m string) string { return m + "-2" },
		func(m string) string { return m[:len(m)-1] },
		func(m string) string { return "/" + m },
		func(m string) string { return m + " " + m },
		strings.ToUpper,
		func(m string) string { return " " + m },
		func(m string) string { return m + "\t" },
		func(m string) string { return m + ":no-such-tag" },
	}
	return bench.Case{
		ID:          "RTE-002/unknown-model",
		Stimulus:    "requests for models that no worker serves, keyless, in new sessions and in a bound one",
		Requirement: "each is answered 4xx and reaches no worker; known models are served before and after",
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound := r.SessionID(0)
			for _, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "known", Session: bound}.In(s))
			}
			for i, s := range bench.Shapes() {
				for j, like := range near {
					for _, session := range []string{"", bound, r.SessionID(1 + i*len(near) + j)} {
						r.Do(ctx, bench.Req{Phase: "unknown", Model: like(r.Model()), Session: session}.In(s))
					}
				}
			}
			for _, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "known", Session: bound}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*len(bench.Shapes()), "known"), judge.Refused("unknown")),
	}
}

// RTE005Once: nothing fails, so nothing may be sent twice or handed to another client.
func (Cases) RTE005Once() bench.Case {
	const n = 100
	return bench.Case{
		ID:          "RTE-005/once",
		Stimulus:    "800 requests in every shape, 64 at a time, keyless and in sessions; then eight groups of four identical ones at once",
		Requirement: "one dispatch each, and each client gets the answer to its own request",
		Drive: func(ctx context.Context, r *bench.Run) error {
			shapes := bench.Shapes()
			r.Parallel(n*len(shapes), 64, func(i int) {
				q := bench.Req{Phase: "work"}.In(shapes[i%len(shapes)])
				if i%2 == 1 {
					q.Session = r.SessionID(i / 8)
				}
				r.Do(ctx, q)
			})
			for i, s := range shapes { // equal requests are still requests of their own
				q := bench.Req{Phase: "equal", Key: r.Key(), Tokens: 8}.In(s)
				if i%2 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Together(ctx, []bench.Req{q, q, q, q})
			}
			return nil
		},
		Judge: judge.All(judge.Served(n*len(bench.Shapes()), "work"), judge.Served(4*len(bench.Shapes()), "equal"),
			judge.Once("work", "equal"), judge.OwnAnswer("work", "equal")),
	}
}

func burstName(i int, s bench.Shape) string { return fmt.Sprintf("burst %d %s", i, s) }
