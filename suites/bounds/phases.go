package bounds

import (
	"context"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// BND002Phases: bodies of a mebibyte, which are sent twice.
func (Cases) BND002Phases() bench.Case {
	const size = 1 << 20
	return bench.Case{
		ID:          "BND-002/phases",
		Stimulus:    "prefill and decode workers; prompts of 1 MiB in every shape, with and without a Content-Length, keyless and in a session",
		Requirement: "each reaches a worker of both phases at its full length and is answered",
		Claims:      []string{"pds.split"},
		Fleet:       bench.Split,
		Cost:        1500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prompt := strings.Repeat("tokens and ", size/len("tokens and ")+1)
			for i, shape := range bench.Shapes() {
				q := bench.Req{Prompt: prompt, Phase: "large", Chunked: i%3 == 0}.In(shape)
				if i%3 == 1 {
					q.Session = r.SessionID(i)
				}
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.All(judge.Served(len(bench.Shapes()), "large"), judge.Handed(len(bench.Shapes()), "large"),
			judge.Only(history.Prefill, judge.BodyLong(size, "large")), judge.Only(history.Decode, judge.BodyLong(size, "large"))),
	}
}

// BND003Decode: many streams at decode workers.
func (c Cases) BND003Decode() bench.Case { return c.BND003Streams().In(bench.Decode, "decode") }
